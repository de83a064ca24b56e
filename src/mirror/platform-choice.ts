/**
 * Single platforms of images that are made for several. Their index is mirrored as it is, byte for byte, because its digest
 * is what clusters and signatures name; of its children only the wanted ones come with it. The registry has to accept that.
 *
 * Source: openshift/oc-mirror `internal/pkg/mirror/mirror.go:determinePlatformSelection`.
 */
import type { Descriptor } from '../oci/descriptor.ts'
import { childrenOf, type Manifest } from '../oci/manifest.ts'
import { isMade } from './made-content.ts'
import type { PlatformChoice, SelectedImage } from './selection.ts'

/** `linux/amd64`, the form in plans and records. */
export function formatPlatform({ os, architecture }: PlatformChoice): string {
  return `${os}/${architecture}`
}

export function parsePlatform(text: string): PlatformChoice {
  const [os = '', architecture = ''] = text.split('/')
  return { os, architecture }
}

/** The images with a choice of platforms; one that was made here has only those that it is to have. */
export function withPlatforms(
  images: readonly SelectedImage[],
  platforms: readonly PlatformChoice[] | undefined,
): readonly SelectedImage[] {
  if (!platforms || platforms.length === 0) return images
  return images.map((image) => (isMade(image.source) ? image : { ...image, platforms }))
}

/**
 * The children of an index that come with it. All, where none is for a wanted platform, as with oc-mirror: an operator that
 * is made for amd64 alone is needed whatever the nodes are. What says of no platform that it is for it, comes always.
 */
export function chosenChildren(
  manifest: Manifest,
  platforms: readonly PlatformChoice[] | undefined,
): readonly Descriptor[] {
  const children = childrenOf(manifest)
  if (!platforms) return children
  const isWanted = ({ platform }: Descriptor) =>
    platforms.some(({ os, architecture }) => platform?.os === os && platform.architecture === architecture)
  const wanted = new Set(children.filter(isWanted).map(({ digest }) => String(digest)))
  if (wanted.size === 0) return children
  // BuildKit hangs its attestations into the index, for the platform unknown/unknown.
  const isAbout = ({ annotations }: Descriptor) => wanted.has(annotations?.['vnd.docker.reference.digest'] ?? '')
  return children.filter((child) => wanted.has(child.digest) || child.platform === undefined || isAbout(child))
}

/** True where what was brought for `brought` has everything that `wanted` asks for; absent means all platforms. */
export function coversPlatforms(
  brought: readonly string[] | undefined,
  wanted: readonly PlatformChoice[] | undefined,
): boolean {
  if (brought === undefined) return true
  return wanted?.every((platform) => brought.includes(formatPlatform(platform))) ?? false
}
