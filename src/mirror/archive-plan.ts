/** What of a plan an archive carries, and what of it arrives. Pure. */
import type { ArchiveDraft } from '../archive/format/compose-front.ts'
import type { ArchiveHole, ArchiveImage } from '../archive/format/records.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { relativeDestination } from './archive-target.ts'
import type { ResolvedImage } from './closure.ts'
import type { FailedImage } from './failures.ts'
import type { MirrorPlan } from './plan.ts'
import { parsePlan } from './plan-file.ts'
import { formatPlatform } from './platform-choice.ts'

/** What an archive carries and no image that arrived needs: what of it is not at the target after a load. */
export function notArrived(
  carried: Iterable<Digest>,
  { manifests }: Pick<MirrorPlan, 'manifests'>,
  arrived: readonly Digest[],
): Digest[] {
  const needs = new Map(manifests.map((manifest) => [manifest.digest, manifest.needs]))
  const reached = new Set<Digest>()
  const open = [...arrived]
  for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
    if (reached.has(digest)) continue
    reached.add(digest)
    open.push(...(needs.get(digest) ?? []))
  }
  return [...carried].filter((digest) => !reached.has(digest))
}

/**
 * What an archive carries for its holes alone: an image that is not whole stays in the archive with all that it has, so that
 * the next archive has to carry that again.
 *
 * @param archive with a plan that tells of each manifest what it needs
 */
export function carriedInVain(
  { carried, images, plan }: Pick<ArchiveDraft, 'carried' | 'images' | 'plan'>,
  holes: readonly ArchiveHole[],
): Digest[] {
  if (holes.length === 0) return []
  const failed = new Set(holes.map(({ destination }) => destination))
  let isWhole = false
  const whole = images.filter(({ destination, attachedTo }) => {
    // What is attached follows its image.
    if (attachedTo === undefined) isWhole = !failed.has(destination)
    return isWhole && !failed.has(destination)
  })
  const text = [...plan()].join('')
  const digests = carried.map(({ digest }) => digest)
  return notArrived(
    digests,
    parsePlan(text, 'plan'),
    whole.map(({ digest }) => digest),
  )
}

/** The plan without the content that the target holds already. */
export function onlyCarried(plan: MirrorPlan, holds: (digest: Digest) => boolean): MirrorPlan {
  const blobs = plan.blobs.filter(({ digest }) => !holds(digest))
  const manifests = plan.manifests.filter(({ digest }) => !holds(digest))
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0)
  return { ...plan, blobs, manifests, totals: { ...plan.totals, blobs: blobs.length, bytes, mounts: 0 } }
}

/** What is carried, and what of the same images is not, each content once. */
export function contentOf(
  plan: MirrorPlan,
  holds: (digest: Digest) => boolean,
): Pick<ArchiveDraft, 'carried' | 'held'> {
  const content = new Map<Digest, ArchiveDraft['carried'][number]>()
  for (const { digest, size } of plan.blobs) content.set(digest, { digest, size })
  for (const { digest, size, mediaType } of plan.manifests) content.set(digest, { digest, size, mediaType })
  const all = [...content.values()]
  return { carried: all.filter(({ digest }) => !holds(digest)), held: all.filter(({ digest }) => holds(digest)) }
}

export function archiveImage({ selected, digest, attachedTo }: ResolvedImage): ArchiveImage {
  return {
    source: formatReference(selected.source),
    destination: relativeDestination(selected.destination),
    digest,
    class: selected.class,
    why: selected.why,
    ...(selected.isReleaseImage && { isReleaseImage: true }),
    ...(selected.isCatalog && { isCatalog: true }),
    ...(selected.platforms && { platforms: selected.platforms.map(formatPlatform) }),
    ...(attachedTo !== undefined && { attachedTo }),
  }
}

export function archiveHole({ image, error }: FailedImage): ArchiveHole {
  return {
    source: formatReference(image.source),
    destination: relativeDestination(image.destination),
    class: image.class,
    code: error.code,
    message: error.message,
  }
}
