/** What of a plan an archive carries. Pure. */
import type { ArchiveDraft } from '../archive/format/compose-front.ts'
import type { ArchiveHole, ArchiveImage } from '../archive/format/records.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { relativeDestination } from './archive-target.ts'
import type { ResolvedImage } from './closure.ts'
import { describeSelected } from './described-image.ts'
import type { FailedImage } from './failures.ts'
import type { MirrorPlan } from './plan.ts'

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
    ...describeSelected(selected),
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
