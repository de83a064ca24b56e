/** From what is wanted, and what the other side holds, to an archive that can be written. Pure. */
import type { ArchiveDraft } from '../archive/format/compose-front.ts'
import type { ArchiveHole, ArchiveImage } from '../archive/format/records.ts'
import type { ArchiveBase } from '../archive/history/archive-base.ts'
import { archiveHole, archiveImage, contentOf, onlyCarried } from '../mirror/archive-plan.ts'
import { archiveTarget } from '../mirror/archive-target.ts'
import type { ResolvedImage } from '../mirror/closure.ts'
import type { FailedImage } from '../mirror/failures.ts'
import { type MirrorPlan, planMirror } from '../mirror/plan.ts'
import { planLines } from '../mirror/plan-file.ts'
import { groupAttached } from '../mirror/resolve-images.ts'
import type { SelectedImage } from '../mirror/selection.ts'
import { formatReference } from '../oci/reference.ts'
import { type Documents, packDocuments } from './archive-documents.ts'

export interface WantedContent {
  readonly images: readonly SelectedImage[]
  /** Those of them that the other side holds, with their records. */
  readonly whole: ReadonlyMap<SelectedImage, readonly ArchiveImage[]>
  /** All others that could be resolved. */
  readonly resolved: readonly ResolvedImage[]
}

/** An archive on the way: its plan, and what goes into its index. */
export interface PreparedArchive {
  readonly draft: ArchiveDraft
  /** What is carried. */
  readonly plan: MirrorPlan
  readonly resolved: readonly ResolvedImage[]
}

interface ArchiveContents extends Pick<ArchiveDraft, 'configuration' | 'volumeBytes'> {
  readonly documents: Documents
  /** Images that could not be planned: holes from the beginning. */
  readonly failures: readonly FailedImage[]
}

export function prepareArchive(wanted: WantedContent, base: ArchiveBase, about: ArchiveContents): PreparedArchive {
  const { resolved } = wanted
  const plan = planMirror(archiveTarget.registry, resolved, () => false)
  const failed = about.failures.map(archiveHole)
  const draft: ArchiveDraft = {
    kind: base.parent === undefined ? 'full' : 'increment',
    sequence: base.sequence + 1,
    ...(base.parent !== undefined && { parent: base.parent, parentSequence: base.parentSequence }),
    ...(base.target !== undefined && { target: base.target }),
    volumeBytes: about.volumeBytes,
    configuration: about.configuration,
    ...contentOf(plan, base.holds),
    images: recordsOf(wanted),
    ...packDocuments(about.documents),
    ...(failed.length > 0 && { failed }),
    plan: () => planLines(plan),
  }
  return { draft, plan: onlyCarried(plan, base.holds), resolved }
}

function recordsOf({ images, whole, resolved }: WantedContent): ArchiveImage[] {
  const groups = new Map(
    groupAttached(resolved).map((group) => [formatReference(group.image.selected.destination), group]),
  )
  return images.flatMap((image) => {
    const group = groups.get(formatReference(image.destination))
    return group ? [group.image, ...group.attached].map(archiveImage) : (whole.get(image) ?? [])
  })
}

/** What could not be brought by this run; of a run that began this archive, what it could not plan. */
export function holesOf({ failed = [] }: ArchiveDraft, failures: readonly FailedImage[]): ArchiveHole[] {
  const holes = new Map(failed.map((hole) => [hole.destination, hole]))
  for (const hole of failures.map(archiveHole)) holes.set(hole.destination, hole)
  return [...holes.values()]
}
