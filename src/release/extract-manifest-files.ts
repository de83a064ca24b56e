/** Manifests of a release, or its CredentialsRequests alone, to files: from what was asked for to a report. */
import { join } from 'node:path'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Reference } from '../oci/reference.ts'
import { capabilitiesOf } from './capabilities.ts'
import { chooseCredentialsRequests, type LeftOut } from './credentials-requests.ts'
import { enabledFeatureGates, type Inclusion, usualProfile, whyExcluded } from './extract-inclusion.ts'
import { type ClusterRequest, parseInstallConfig } from './extract-install-config.ts'
import { type Manifest, parseManifests } from './extract-manifests.ts'
import { readPayloadFolder } from './extract-payload.ts'
import { type Placed, placeFiles } from './extract-place.ts'
import type { ReadOptions } from './payload-image.ts'

export interface ManifestsRequest extends ReadOptions {
  readonly release: Reference
  readonly what: 'credentials-requests' | 'manifests'
  /** Leave out what the cluster would not get. */
  readonly isIncluded: boolean
  readonly installConfig?: { readonly file: string; readonly text: string } | undefined
  /** A platform of install-config. */
  readonly cloud?: string | undefined
  readonly directory: string
  readonly isForced: boolean
}

export interface ManifestsReport {
  readonly version: string
  readonly what: ManifestsRequest['what']
  readonly directory: string
  /** Absent where no platform was said. */
  readonly platform?: string
  readonly files: readonly { readonly file: string; readonly placed: Placed }[]
  /** How many objects the files hold. */
  readonly manifests: number
  readonly leftOut: readonly {
    readonly file: string
    readonly kind: string
    readonly name: string
    readonly why: string
  }[]
  readonly findings: readonly Finding[]
}

/** @throws KnownError CONFIG_INVALID, USAGE, FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL, and what reading the payload throws */
export async function extractManifests(request: ManifestsRequest): Promise<ManifestsReport> {
  const { installConfig, directory, isForced, what } = request
  const cluster = installConfig && parseInstallConfig(installConfig.text, installConfig.file)
  const platform = platformOf(request, cluster)
  const { payload, files } = await readPayloadFolder(request.release, request)
  const { manifests, unreadable } = parseManifests(files)
  const inclusion = request.isIncluded ? inclusionOf(payload.version, manifests, cluster) : undefined
  const { chosen, leftOut } = choose(manifests, { what, platform, inclusion })
  const isWhole = what === 'manifests' && !inclusion
  const texts = isWhole ? files : new Map([...textsOf(chosen), ...(what === 'manifests' ? plainFiles(files) : [])])
  const inPlace = new Map([...texts].map(([file, bytes]) => [join(directory, file), bytes]))
  const placed = await placeFiles(inPlace, { isForced })
  return {
    version: payload.version,
    what,
    directory,
    ...(platform !== undefined && { platform }),
    files: [...placed].map(([file, outcome]) => ({ file, placed: outcome })),
    manifests: chosen.length,
    leftOut: leftOut.map(({ manifest: { file, kind, name }, why }) => ({ file, kind, name, why })),
    findings: findingsOf(request, { cluster, platform, unreadable, chosen }),
  }
}

function platformOf(
  { cloud, installConfig }: ManifestsRequest,
  cluster: ClusterRequest | undefined,
): string | undefined {
  if (cloud === undefined || cluster === undefined || cloud === cluster.platform) return cloud ?? cluster?.platform
  throw new KnownError('USAGE', `--cloud says ${cloud}, and ${installConfig?.file} is for ${cluster.platform}`, {
    hint: 'Leave --cloud away: the install-config tells the platform.',
  })
}

function inclusionOf(version: string, manifests: readonly Manifest[], cluster: ClusterRequest | undefined): Inclusion {
  const majorVersion = Number.parseInt(version, 10)
  const base = { profile: usualProfile, featureSet: cluster?.featureSet ?? '', majorVersion }
  const featureGates = enabledFeatureGates(manifests, base)
  return {
    ...base,
    // Releases before 4.18 do not say in their payload which gates they enable.
    ...(featureGates.size > 0 && { featureGates }),
    ...(cluster?.capabilities && { capabilities: capabilitiesOf(version, cluster.capabilities) }),
  }
}

interface Choice {
  readonly what: ManifestsRequest['what']
  readonly platform: string | undefined
  readonly inclusion: Inclusion | undefined
}

function choose(manifests: readonly Manifest[], { what, platform, inclusion }: Choice) {
  if (what === 'credentials-requests') {
    return chooseCredentialsRequests(manifests, {
      ...(platform !== undefined && { platform }),
      ...(inclusion && { inclusion }),
    })
  }
  const chosen: Manifest[] = []
  const leftOut: LeftOut[] = []
  for (const manifest of manifests) {
    const why = inclusion && whyExcluded(manifest, inclusion)
    if (why === undefined) chosen.push(manifest)
    else leftOut.push({ manifest, why })
  }
  return { chosen, leftOut }
}

/** The objects as the payload has them, below the names of its files. */
function textsOf(manifests: readonly Manifest[]): Map<string, Buffer> {
  const byFile = Map.groupBy(manifests, ({ file }) => file)
  return new Map(
    [...byFile].map(([file, those]) => {
      const texts = those.map(({ text }) => `---\n${text.endsWith('\n') ? text : `${text}\n`}`)
      return [file, Buffer.from(texts.join(''))]
    }),
  )
}

/** What is no manifest and belongs to every cluster. */
function plainFiles(files: ReadonlyMap<string, Buffer>): [string, Buffer][] {
  return [...files].filter(([file]) => file === 'image-references' || file === 'release-metadata')
}

interface Seen {
  readonly cluster: ClusterRequest | undefined
  readonly platform: string | undefined
  readonly unreadable: readonly { readonly file: string; readonly why: string }[]
  readonly chosen: readonly Manifest[]
}

function findingsOf(request: ManifestsRequest, { cluster, platform, unreadable, chosen }: Seen): Finding[] {
  const findings: Finding[] = unreadable.map(({ file, why }) => ({
    id: 'release.manifest-unreadable',
    severity: 'warning',
    summary: `${file} of the payload cannot be read as manifests and was left out`,
    evidence: why,
  }))
  const isCredentials = request.what === 'credentials-requests'
  if (isCredentials && !request.isIncluded) {
    findings.push({
      id: 'release.not-filtered',
      severity: 'info',
      summary: 'these are all CredentialsRequests, also those that your cluster does not need',
      remedy: 'For ccoctl say --included --install-config FILE.',
    })
  }
  if (request.isIncluded && !cluster) {
    findings.push({
      id: 'release.cluster-assumed',
      severity: 'info',
      summary: 'the usual feature set and every capability are assumed, since no install-config was named',
      remedy: 'Name it: --install-config FILE.',
    })
  }
  if (isCredentials && platform !== undefined && chosen.length === 0) {
    findings.push({
      id: 'release.no-credentials',
      severity: 'info',
      summary: `nothing in this release asks for credentials on the platform ${platform}`,
    })
  }
  if (isCredentials && cluster && cluster.credentialsMode !== 'Manual' && chosen.length > 0) {
    findings.push({
      id: 'release.credentials-mode',
      severity: 'info',
      summary: `${request.installConfig?.file} does not say credentialsMode: Manual, without which the cluster makes credentials by itself`,
      remedy: 'Add credentialsMode: Manual to it where the credentials are made by ccoctl or by hand.',
    })
  }
  return findings.map(finding)
}
