/**
 * CredentialsRequests: what the parts of a cluster ask of a cloud, for ccoctl or a person to grant before the installation.
 *
 * Source: openshift/oc `pkg/cli/admin/release/extract.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import { isRecord } from '../openshift/plain-record.ts'
import { type Inclusion, whyExcluded } from './extract-inclusion.ts'
import type { Manifest } from './extract-manifests.ts'

/** By platform of install-config; platforms that are not here have no credentials. */
const providerKinds: Readonly<Record<string, string>> = {
  alibabacloud: 'AlibabaCloudProviderSpec',
  aws: 'AWSProviderSpec',
  azure: 'AzureProviderSpec',
  gcp: 'GCPProviderSpec',
  ibmcloud: 'IBMCloudProviderSpec',
  nutanix: 'NutanixProviderSpec',
  openstack: 'OpenStackProviderSpec',
  ovirt: 'OvirtProviderSpec',
  powervs: 'IBMCloudPowerVSProviderSpec',
  vsphere: 'VSphereProviderSpec',
}

/** @throws KnownError USAGE for a cloud that no CredentialsRequest is for */
export function checkCloud(cloud: string): void {
  if (Object.hasOwn(providerKinds, cloud)) return
  throw new KnownError('USAGE', `"${cloud}" is no cloud that needs credentials`, {
    hint: `Say one of ${Object.keys(providerKinds).join(', ')} with --cloud.`,
  })
}

export function isCredentialsRequest({ apiVersion, kind }: Manifest): boolean {
  return apiVersion === 'cloudcredential.openshift.io/v1' && kind === 'CredentialsRequest'
}

export interface CredentialsFilter {
  /** Platform of install-config. Absent: of every cloud. */
  readonly platform?: string
  /** Absent: also those that a cluster would not get. */
  readonly inclusion?: Inclusion
}

export interface LeftOut {
  readonly manifest: Manifest
  readonly why: string
}

export interface ChosenRequests {
  readonly chosen: readonly Manifest[]
  /** Requests for this cloud that the cluster does not get. */
  readonly leftOut: readonly LeftOut[]
}

export function chooseCredentialsRequests(
  manifests: readonly Manifest[],
  { platform, inclusion }: CredentialsFilter,
): ChosenRequests {
  const chosen: Manifest[] = []
  const leftOut: LeftOut[] = []
  const kind = platform === undefined ? undefined : providerKinds[platform]
  if (platform !== undefined && kind === undefined) return { chosen, leftOut }
  for (const manifest of manifests) {
    if (!isCredentialsRequest(manifest)) continue
    if (kind !== undefined && providerKindOf(manifest) !== kind) continue
    // Those that people put beside the payload's own by hand have no annotations.
    const isAnnotated = Object.keys(manifest.annotations ?? {}).length > 0
    const why = inclusion && isAnnotated ? whyExcluded(manifest, inclusion) : undefined
    if (why === undefined) chosen.push(manifest)
    else leftOut.push({ manifest, why })
  }
  return { chosen, leftOut }
}

function providerKindOf({ object }: Manifest): unknown {
  const { spec } = object()
  const providerSpec = isRecord(spec) ? spec['providerSpec'] : undefined
  return isRecord(providerSpec) ? providerSpec['kind'] : undefined
}
