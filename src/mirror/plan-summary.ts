/** What a plan comes to, for a person who has to approve it. Pure. */
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import type { MirrorPlan, PlannedImage, PlanTotals } from './plan.ts'
import { belowTarget } from './plan-diff.ts'
import { resolvedImagesOf } from './planned-images.ts'
import type { ContentClass } from './selection.ts'

export interface PlanSummary {
  readonly target: string
  readonly totals: PlanTotals
  /** How many images of each class there are, and how many of them are at the target. */
  readonly classes: { readonly [Class in ContentClass]?: { readonly images: number; readonly present: number } }
  readonly largest: readonly LargeBlob[]
}

export interface LargeBlob {
  readonly digest: Digest
  /** Bytes. */
  readonly size: number
  readonly source: string
  /** The images that need it, below the target, and why the first of them is wanted. */
  readonly images: readonly string[]
  readonly why: string
}

/** @param largest how many of the largest blobs to name */
export function summarisePlan(plan: MirrorPlan, largest: number): PlanSummary {
  const { target, totals, images } = plan
  const groups = Map.groupBy(images, (image) => image.class)
  const classes = (['release', 'operator', 'additional', 'helm'] as const).flatMap((name) => {
    const members = groups.get(name)
    return members ? [[name, { images: members.length, present: countPresent(members) }] as const] : []
  })
  return { target, totals, classes: Object.fromEntries(classes), largest: largestBlobs(plan, largest) }
}

function countPresent(images: readonly PlannedImage[]): number {
  return images.filter(({ isPresent }) => isPresent).length
}

function largestBlobs(plan: MirrorPlan, count: number): LargeBlob[] {
  const chosen = plan.blobs.toSorted((a, b) => b.size - a.size).slice(0, count)
  const users = new Map(chosen.map(({ digest }) => [digest, new Map<string, string>()]))
  for (const { selected, manifests } of resolvedImagesOf(plan)) {
    for (const { digest } of manifests.flatMap(({ blobs }) => blobs)) {
      users.get(digest)?.set(belowTarget(plan.target, formatReference(selected.destination)), selected.why)
    }
  }
  return chosen.map(({ digest, size, source }) => {
    const needing = users.get(digest) ?? new Map<string, string>()
    const [why = ''] = needing.values()
    return { digest, size, source, images: [...needing.keys()], why }
  })
}
