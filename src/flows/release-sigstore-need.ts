/**
 * Whether nodes will take a release: from 4.21 on the ClusterImagePolicy `openshift` makes them ask for a sigstore
 * signature of it (openshift/cluster-update-keys; OCPBUGS-70297).
 */
import { KnownError } from '../errors/known-error.ts'
import type { ImageGroup } from '../mirror/resolve-images.ts'
import { formatReference } from '../oci/reference.ts'

/** The scope of that policy. */
const scope = { registry: 'quay.io', repository: 'openshift-release-dev/ocp-release' }
const firstMinor = 21

/** Why nodes would refuse this release, where its signature is not attached to it; undefined where they take it. */
export function missingSigstore({ image: { selected, digest }, attached }: ImageGroup): KnownError | undefined {
  const { source, destination, isReleaseImage } = selected
  if (!isReleaseImage || source.registry !== scope.registry || source.repository !== scope.repository) return undefined
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(destination.tag ?? '') ?? []
  if (major === undefined || (Number(major) === 4 && Number(minor) < firstMinor)) return undefined
  if (attached.some(({ attachedTo }) => attachedTo === digest)) return undefined
  const name = formatReference(source)
  return new KnownError('SIGNATURE_MISSING', `${name} (${destination.tag}) has no sigstore signature beside it`, {
    details: { image: name, digest },
    hint: 'Nodes from 4.21 on refuse such a release. Look for the tag sha256-HEX.sig at its source, and read from a mirror that has it; with --ignore-release-signature it is mirrored all the same.',
  })
}
