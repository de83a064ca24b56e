/** Back from a plan to the images that it was made of: how a plan that was written is carried out. Pure. */
import { KnownError } from '../errors/known-error.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { parseReference, repositoryName } from '../oci/reference.ts'
import type { ResolvedImage, ResolvedManifest } from './closure.ts'
import { formatMirrorTarget, type MirrorTarget } from './destination.ts'
import { type MirrorPlan, type PlannedImage, type PlannedManifest, selectedOf } from './plan.ts'
import type { SelectedImage } from './selection.ts'

/** @throws KnownError USAGE where the plan was made for another target */
export function checkPlanFits(plan: MirrorPlan, target: MirrorTarget): void {
  const name = formatMirrorTarget(target)
  if (plan.target === name) return
  throw new KnownError('USAGE', `The plan is for ${plan.target}, not for ${name}`, {
    details: { planned: plan.target, target: name },
    hint: `Mirror to docker://${plan.target}, or make a plan for this target with --plan-only.`,
  })
}

/**
 * What a plan for this target was asked for; what is attached to that comes with it.
 *
 * @throws KnownError USAGE where the plan was made for another target
 */
export function selectedImagesOf(plan: MirrorPlan, target: MirrorTarget): SelectedImage[] {
  checkPlanFits(plan, target)
  return plan.images.filter(({ attachedTo }) => attachedTo === undefined).map(selectedOf)
}

/**
 * The images of a plan as `resolveImages` gave them, each before what is attached to it: planned again for the same target,
 * they make the same plan.
 *
 * Images that the target held are there with their digests and without manifests, since a plan does not name those.
 */
export function resolvedImagesOf(plan: MirrorPlan): readonly ResolvedImage[] {
  const content = contentOf(plan)
  const images = plan.images.map((image) => resolvedImage(image, content))
  const groups = new Groups(images)
  for (const image of images) {
    if (image.attachedTo !== undefined) groups.of(image)?.push(image)
  }
  return groups.all()
}

interface Content {
  readonly blobs: ReadonlyMap<Digest, Descriptor>
  /** By `HOST/PATH DIGEST`. */
  readonly manifests: ReadonlyMap<string, PlannedManifest>
}

function contentOf({ blobs, manifests }: MirrorPlan): Content {
  return {
    blobs: new Map(blobs.map(({ digest, size, mediaType }) => [digest, { digest, size, mediaType }])),
    manifests: new Map(
      manifests.map((one) => [`${repositoryName(parseReference(one.destination))} ${one.digest}`, one]),
    ),
  }
}

function resolvedImage(image: PlannedImage, content: Content): ResolvedImage {
  const selected = selectedOf(image)
  const manifests = image.isPresent ? [] : manifestsOf(image.digest, repositoryName(selected.destination), content)
  const { digest, attachedTo } = image
  return { selected, digest, manifests, ...(attachedTo !== undefined && { attachedTo }) }
}

/** Children before parents, each once. */
function manifestsOf(root: Digest, repository: string, { blobs, manifests }: Content): ResolvedManifest[] {
  const ordered = new Map<Digest, ResolvedManifest>()
  const visit = (digest: Digest) => {
    const planned = manifests.get(`${repository} ${digest}`)
    if (!planned || ordered.has(digest)) return
    const children = planned.needs.filter((need) => manifests.has(`${repository} ${need}`))
    for (const child of children) visit(child)
    const { size, mediaType, needs, isSparse } = planned
    const own = needs.filter((need) => !children.includes(need)).map((need) => blobs.get(need))
    const resolved = {
      descriptor: { digest, size, mediaType },
      blobs: own.filter((blob) => blob !== undefined),
      children,
      ...(isSparse && { isSparse }),
    }
    ordered.set(digest, resolved)
  }
  visit(root)
  return [...ordered.values()]
}

/** Images that were asked for, each with room for what is attached to it. */
class Groups {
  readonly #groups: ResolvedImage[][] = []
  /** By `HOST/PATH DIGEST` of each manifest, and by `HOST/PATH` for the first image of a repository. */
  readonly #holders = new Map<string, ResolvedImage[]>()
  readonly #attachments = new Map<string, ResolvedImage>()

  constructor(images: readonly ResolvedImage[]) {
    for (const image of images) {
      if (image.attachedTo === undefined) this.#add(image)
      else this.#attachments.set(keyOf(image, image.digest), image)
    }
  }

  #add(image: ResolvedImage): void {
    const group = [image]
    this.#groups.push(group)
    const digests = [image.digest, ...image.manifests.map(({ descriptor }) => descriptor.digest)]
    for (const key of [...digests.map((digest) => keyOf(image, digest)), keyOf(image)]) {
      if (!this.#holders.has(key)) this.#holders.set(key, group)
    }
  }

  /** The group of what `attachment` is attached to, directly or through other attachments. */
  of(attachment: ResolvedImage): ResolvedImage[] | undefined {
    const seen = new Set<ResolvedImage>()
    let subject: ResolvedImage | undefined = attachment
    while (subject?.attachedTo !== undefined && !seen.has(subject)) {
      seen.add(subject)
      const key = keyOf(subject, subject.attachedTo)
      const holder = this.#holders.get(key)
      if (holder) return holder
      subject = this.#attachments.get(key)
    }
    // Of an image that is at the target only the root is known: what hangs on a platform of it goes with the repository.
    return this.#holders.get(keyOf(attachment))
  }

  all(): readonly ResolvedImage[] {
    return this.#groups.flat()
  }
}

function keyOf({ selected }: ResolvedImage, digest?: Digest): string {
  const repository = repositoryName(selected.destination)
  return digest === undefined ? repository : `${repository} ${digest}`
}
