/** What changed from one plan to another. Pure. */
import type { Digest } from '../oci/digest.ts'
import type { MirrorPlan, PlannedImage } from './plan.ts'
import type { ContentClass } from './selection.ts'

export interface DiffImage {
  /** Below the target, so that plans for different targets can be compared: `REPOSITORY:TAG` or `REPOSITORY@DIGEST`. */
  readonly destination: string
  readonly source: string
  readonly digest: Digest
  readonly class: ContentClass
  readonly why: string
}

export interface ChangedImage extends DiffImage {
  /** What the first plan, or the target, has under this name. */
  readonly before: Digest
}

export interface DiffBlob {
  readonly digest: Digest
  readonly size: number
}

export interface PlanDiff {
  readonly images: {
    readonly added: readonly DiffImage[]
    readonly removed: readonly DiffImage[]
    readonly changed: readonly ChangedImage[]
    readonly same: number
  }
  /** What is to be moved; a plan does not name the blobs of images that its target held. */
  readonly blobs: {
    readonly added: readonly DiffBlob[]
    readonly removed: readonly DiffBlob[]
    readonly same: number
    /** Bytes. */
    readonly sameBytes: number
  }
}

/** `name` without the `HOST/PATH` of the target that it is below. */
export function belowTarget(target: string, name: string): string {
  return name.startsWith(`${target}/`) ? name.slice(target.length + 1) : name
}

export function diffPlans(before: MirrorPlan, after: MirrorPlan): PlanDiff {
  const [first, second] = [imagesOf(before), imagesOf(after)]
  const kept = [...second.values()].filter(({ destination }) => first.has(destination))
  const changed = kept.flatMap((image): ChangedImage[] => {
    const digest = first.get(image.destination)?.digest
    return digest === undefined || digest === image.digest ? [] : [{ ...image, before: digest }]
  })
  return {
    images: {
      added: [...second.values()].filter(({ destination }) => !first.has(destination)),
      removed: [...first.values()].filter(({ destination }) => !second.has(destination)),
      changed,
      same: kept.length - changed.length,
    },
    blobs: diffBlobs(before, after),
  }
}

export function diffImage(target: string, { destination, source, digest, class: of, why }: PlannedImage): DiffImage {
  return { destination: belowTarget(target, destination), source, digest, class: of, why }
}

function imagesOf({ target, images }: MirrorPlan): ReadonlyMap<string, DiffImage> {
  return new Map(images.map((image) => diffImage(target, image)).map((image) => [image.destination, image]))
}

function diffBlobs(before: MirrorPlan, after: MirrorPlan): PlanDiff['blobs'] {
  const first = new Set(before.blobs.map(({ digest }) => digest))
  const second = new Set(after.blobs.map(({ digest }) => digest))
  const same = after.blobs.filter(({ digest }) => first.has(digest))
  return {
    added: after.blobs.filter(({ digest }) => !first.has(digest)).map(diffBlob),
    removed: before.blobs.filter(({ digest }) => !second.has(digest)).map(diffBlob),
    same: same.length,
    sameBytes: same.reduce((sum, { size }) => sum + size, 0),
  }
}

export function diffBlob({ digest, size }: DiffBlob): DiffBlob {
  return { digest, size }
}
