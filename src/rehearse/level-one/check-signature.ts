/**
 * The sigstore signature beside the release image.
 *
 * Nodes of 4.21 and later want it: ClusterImagePolicy `openshift`, whose scope is the repository of releases (openshift/api
 * `config/v1/types_cluster_image_policy.go`, openshift/cluster-update-keys).
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { repositoryName } from '../../oci/reference.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import type { PulledImage } from '../pull/image-puller.ts'
import { evidenceText } from './config-places.ts'
import type { LevelOneReport } from './level-one-report.ts'

const policyScope = 'quay.io/openshift-release-dev/ocp-release'

/** Before 4.21 only a policy of one's own wants it. */
export async function checkSignature(
  bootstrap: BootstrapConfig,
  { puller }: BootstrapAccess,
  { release, version }: { readonly release: PulledImage; readonly version: string },
): Promise<Pick<LevelOneReport, 'signature'> & { readonly findings: readonly Finding[] }> {
  const named = bootstrap.releaseImage?.reference
  const tag = `${release.digest.replace(':', '-')}.sig`
  if (named === undefined || bootstrap.distribution !== 'ocp') return { findings: [] }
  let isThere: boolean
  try {
    isThere = (await puller.resolveBeside(release, tag)) !== undefined
  } catch (error) {
    if (error instanceof KnownError && error.code !== 'INTERRUPTED') return { findings: [] }
    throw error
  }
  const isRequired = isSince421(version) && repositoryName(named) === policyScope && !isPolicyOff(bootstrap)
  const signature = { tag, isThere, isRequired }
  return { signature, findings: isThere ? [] : [signatureFinding(bootstrap, release, signature)] }
}

function signatureFinding(
  bootstrap: BootstrapConfig,
  { endpoint }: PulledImage,
  { tag, isRequired }: NonNullable<LevelOneReport['signature']>,
): Finding {
  const place = repositoryName(endpoint)
  const source = bootstrap.releaseImage?.reference
  const at = bootstrap.releaseImage?.evidence[0]
  const wants = isRequired
    ? 'nodes of 4.21 and later refuse the release without it (ClusterImagePolicy openshift)'
    : 'nothing of this version asks for it; 4.21 and later do'
  return finding({
    id: 'rehearse.signature-missing',
    severity: isRequired ? 'error' : 'info',
    summary: `${place} does not have the signature of the release image, ${tag.slice(0, 19)}….sig: ${wants}`,
    evidence: evidenceText(at, `HEAD of ${place}:${tag} answered 404`),
    remedy: `Mirror it too: oc image mirror ${source === undefined ? policyScope : repositoryName(source)}:${tag} ${place}:${tag}. sallyport mirror and oc-mirror v2 bring it; oc adm release mirror does not.`,
    ...(at && { where: at }),
  })
}

function isSince421(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 4 || (major === 4 && minor >= 21)
}

/** OPENSHIFT_INSTALL_EXPERIMENTAL_DISABLE_IMAGE_POLICY leaves an override for it. */
function isPolicyOff({ manifests }: BootstrapConfig): boolean {
  return manifests.some(({ kind, text }) => kind === 'ClusterVersion' && text.includes('ClusterImagePolicy'))
}
