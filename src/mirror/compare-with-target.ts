/** What of a plan a target holds. */
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { ResolvedImage } from './closure.ts'
import { formatMirrorTarget, type MirrorTarget } from './destination.ts'
import type { MirrorPlan, PlannedBlob, PlannedImage } from './plan.ts'
import { belowTarget, type ChangedImage, type DiffBlob, type DiffImage, diffBlob, diffImage } from './plan-diff.ts'
import { resolvedImagesOf } from './planned-images.ts'

export interface TargetComparison {
  readonly target: string
  readonly images: {
    readonly there: number
    readonly missing: readonly DiffImage[]
    /** Under the name is another image; `before` is its digest. */
    readonly differing: readonly ChangedImage[]
    /** Those of the two above that the plan counts as there, so that it does not say what to move for them. */
    readonly unplanned: readonly string[]
  }
  readonly blobs: {
    readonly there: number
    readonly thereBytes: number
    readonly missing: readonly DiffBlob[]
    readonly missingBytes: number
  }
}

export interface CompareOptions {
  /** May be another than the plan was made for: names are compared below it. */
  readonly target: MirrorTarget
  readonly registry: Pick<ContentTarget, 'resolve' | 'hasBlob'>
  readonly signal: AbortSignal
}

/** @throws KnownError where the target cannot be asked */
export async function compareWithTarget(plan: MirrorPlan, options: CompareOptions): Promise<TargetComparison> {
  const target = formatMirrorTarget(options.target)
  const at = (name: string) => parseReference(`${target}/${belowTarget(plan.target, name)}`)
  const states = await mapConcurrently(plan.images, 32, async (image) => {
    const found = await options.registry.resolve(at(image.destination), options.signal)
    return { image, digest: found?.digest }
  })
  const absent = states.filter(({ image, digest }) => digest !== image.digest)
  const toMove = new Set(absent.map(({ image }) => image.destination))
  const images = resolvedImagesOf(plan).filter(({ selected }) => toMove.has(formatReference(selected.destination)))
  return {
    target,
    images: {
      there: states.length - absent.length,
      missing: absent.filter(({ digest }) => digest === undefined).map(({ image }) => diffImage(plan.target, image)),
      differing: absent.flatMap(({ image, digest }) => differing(plan, image, digest)),
      unplanned: absent
        .filter(({ image }) => image.isPresent)
        .map(({ image }) => belowTarget(plan.target, image.destination)),
    },
    blobs: await compareBlobs(plan, images, { ...options, at }),
  }
}

function differing(plan: MirrorPlan, image: PlannedImage, before: Digest | undefined): ChangedImage[] {
  return before === undefined ? [] : [{ ...diffImage(plan.target, image), before }]
}

/** Asks for the blobs that `images` need; those of the other images are there, since a registry keeps images whole. */
async function compareBlobs(
  plan: MirrorPlan,
  images: readonly ResolvedImage[],
  { registry, signal, at }: CompareOptions & { at: (name: string) => Reference },
): Promise<TargetComparison['blobs']> {
  const needed = new Map<Digest, Set<string>>()
  for (const { selected, manifests } of images) {
    const repository = repositoryName(selected.destination)
    for (const { digest } of manifests.flatMap(({ blobs }) => blobs)) {
      needed.set(digest, (needed.get(digest) ?? new Set()).add(repository))
    }
  }
  const isMissing = await mapConcurrently(plan.blobs, 32, async (blob) => {
    const repositories = needed.get(blob.digest)
    // One that another image of the target holds can be mounted.
    if (!repositories || repositories.size < blob.repositories.length) return false
    return !(await isAnywhere(blob, (repository) => registry.hasBlob(at(repository), blob, signal)))
  })
  const missing = plan.blobs.filter((_, index) => isMissing[index])
  const missingBytes = missing.reduce((sum, { size }) => sum + size, 0)
  return {
    there: plan.blobs.length - missing.length,
    thereBytes: plan.totals.bytes - missingBytes,
    missing: missing.map(diffBlob),
    missingBytes,
  }
}

async function isAnywhere(
  { repositories }: PlannedBlob,
  has: (repository: string) => Promise<boolean>,
): Promise<boolean> {
  for (const repository of repositories) if (await has(repository)) return true
  return false
}
