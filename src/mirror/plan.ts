/**
 * From what is wanted and what the target already holds to what must move.
 *
 * Pure: manifests were read before, bytes move after. The same images and the same target give the same plan, byte for
 * byte. The unit is the blob: each unique one is named once, with every repository that needs it, largest first, so that
 * the last to finish are the small ones. Manifests come level by level, children first; tags come last. A registry
 * would answer any other order with MANIFEST_BLOB_UNKNOWN, and a reader of a half-finished mirror would see a broken image.
 */
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { ResolvedImage, ResolvedManifest } from './closure.ts'
import { formatPlatform, parsePlatform } from './platform-choice.ts'
import type { ContentClass, SelectedImage } from './selection.ts'

export interface MirrorPlan {
  readonly version: 1
  /** `HOST/PATH` of the target. */
  readonly target: string
  readonly images: readonly PlannedImage[]
  /** Largest first. */
  readonly blobs: readonly PlannedBlob[]
  /** By level: nothing names a manifest of a later level. */
  readonly manifests: readonly PlannedManifest[]
  readonly totals: PlanTotals
}

export interface PlannedImage {
  readonly source: string
  readonly destination: string
  readonly digest: Digest
  readonly class: ContentClass
  readonly why: string
  /** True when the target already answers `destination` with `digest`. */
  readonly isPresent: boolean
  /** As in `SelectedImage`. */
  readonly isReleaseImage?: true
  /** As in `SelectedImage`. */
  readonly isCatalog?: true
  /** As in `SelectedImage`. */
  readonly alsoNamed?: readonly string[]
  /** As in `SelectedImage`, each as `linux/amd64`. */
  readonly platforms?: readonly string[]
  readonly attachedTo?: Digest
}

export interface PlannedBlob {
  readonly digest: Digest
  readonly size: number
  readonly mediaType: string
  /** `HOST/PATH` to read it from. */
  readonly source: string
  /** Every `HOST/PATH` that needs it: pushed to the first, mounted into the others. */
  readonly repositories: readonly [string, ...string[]]
}

export interface PlannedManifest {
  readonly digest: Digest
  readonly size: number
  readonly mediaType: string
  readonly source: string
  /** Where it goes: `HOST/PATH@DIGEST`, or `HOST/PATH:TAG` in the last level. */
  readonly destination: string
  readonly level: number
  /** The blobs and manifests that must be there first, by digest. */
  readonly needs: readonly Digest[]
  /** As in `ResolvedManifest`: the registry has to accept an index whose children are not all there. */
  readonly isSparse?: true
}

export interface PlanTotals {
  readonly images: number
  readonly present: number
  readonly blobs: number
  /** Bytes of unique blobs: what crosses, once. */
  readonly bytes: number
  /** Bytes that would cross if every image were copied by itself. */
  readonly logicalBytes: number
  readonly mounts: number
  readonly manifests: number
}

/** @param isPresent tells whether the target already holds an image under its destination */
export function planMirror(
  target: string,
  images: readonly ResolvedImage[],
  isPresent: (image: ResolvedImage) => boolean,
): MirrorPlan {
  const missing = images.filter((image) => !isPresent(image))
  const blobs = planBlobs(missing)
  const manifests = planManifests(missing)
  const planned = images.map((image) => plannedImage(image, isPresent(image)))
  return {
    version: 1,
    target,
    images: planned.toSorted((a, b) => compare(a.destination, b.destination) || compare(a.source, b.source)),
    blobs,
    manifests,
    totals: {
      images: images.length,
      present: images.length - missing.length,
      blobs: blobs.length,
      bytes: sum(blobs.map(({ size }) => size)),
      logicalBytes: sum(
        missing.flatMap(({ manifests: all }) => all.flatMap((one) => one.blobs.map(({ size }) => size))),
      ),
      mounts: sum(blobs.map(({ repositories }) => repositories.length - 1)),
      manifests: manifests.length,
    },
  }
}

function plannedImage(image: ResolvedImage, isPresent: boolean): PlannedImage {
  const { selected, digest, attachedTo } = image
  return {
    source: formatReference(selected.source),
    destination: formatReference(selected.destination),
    digest,
    class: selected.class,
    why: selected.why,
    isPresent,
    ...(selected.isReleaseImage && { isReleaseImage: true as const }),
    ...(selected.isCatalog && { isCatalog: true as const }),
    ...(selected.alsoNamed && { alsoNamed: selected.alsoNamed.map(formatReference) }),
    ...(selected.platforms && { platforms: selected.platforms.map(formatPlatform) }),
    ...(attachedTo !== undefined && { attachedTo }),
  }
}

/** What a plan says of an image, as its selection said it. */
export function selectedOf(image: PlannedImage): SelectedImage {
  const { source, destination, class: contentClass, why, isReleaseImage, isCatalog, alsoNamed, platforms } = image
  return {
    source: parseReference(source),
    destination: parseReference(destination),
    class: contentClass,
    why,
    ...(isReleaseImage && { isReleaseImage }),
    ...(isCatalog && { isCatalog }),
    ...(alsoNamed && { alsoNamed: alsoNamed.map(parseReference) }),
    ...(platforms && { platforms: platforms.map(parsePlatform) }),
  }
}

function planBlobs(images: readonly ResolvedImage[]): PlannedBlob[] {
  const wanted = new Map<Digest, { descriptor: Descriptor; sources: Set<string>; repositories: Set<string> }>()
  for (const { selected, manifests } of images) {
    for (const descriptor of manifests.flatMap((manifest) => manifest.blobs)) {
      const entry = wanted.get(descriptor.digest) ?? { descriptor, sources: new Set(), repositories: new Set() }
      entry.sources.add(repositoryName(selected.source))
      entry.repositories.add(repositoryName(selected.destination))
      wanted.set(descriptor.digest, entry)
    }
  }
  return [...wanted.values()]
    .map(({ descriptor: { digest, size, mediaType }, sources, repositories }): PlannedBlob => {
      const [source = ''] = [...sources].sort(compare)
      return { digest, size, mediaType, source, repositories: [...repositories].sort(compare) as [string, ...string[]] }
    })
    .sort((a, b) => b.size - a.size || compare(a.digest, b.digest))
}

function planManifests(images: readonly ResolvedImage[]): PlannedManifest[] {
  const planned = new Map<string, PlannedManifest>()
  for (const image of images) {
    const levels = levelsOf(image.manifests)
    for (const manifest of image.manifests) {
      const isRoot = manifest.descriptor.digest === image.digest
      const destination = isRoot ? image.selected.destination : childOf(image.selected.destination, manifest)
      const entry = plannedManifest(image, manifest, {
        destination,
        level: levels.get(manifest.descriptor.digest) ?? 0,
      })
      planned.set(entry.destination, entry)
    }
  }
  // An image under a tag comes after everything without one, so that a tag never names what is not whole.
  const last = [...planned.values()].reduce((deepest, { level }) => Math.max(deepest, level), 0) + 1
  return [...planned.values()]
    .map((entry) => (parseReference(entry.destination).tag === undefined ? entry : { ...entry, level: last }))
    .sort((a, b) => a.level - b.level || compare(a.destination, b.destination))
}

function plannedManifest(
  image: ResolvedImage,
  manifest: ResolvedManifest,
  place: { destination: Reference; level: number },
): PlannedManifest {
  const { digest, size, mediaType } = manifest.descriptor
  return {
    digest,
    size,
    mediaType,
    source: repositoryName(image.selected.source),
    destination: formatReference(place.destination),
    level: place.level,
    needs: [...manifest.blobs.map((blob) => blob.digest), ...manifest.children],
    ...(manifest.isSparse && { isSparse: true as const }),
  }
}

function childOf({ registry, repository }: Reference, manifest: ResolvedManifest): Reference {
  return { registry, repository, digest: manifest.descriptor.digest }
}

/** 0 for a manifest without children, else one more than its deepest child. `manifests` has children first. */
function levelsOf(manifests: readonly ResolvedManifest[]): Map<Digest, number> {
  const levels = new Map<Digest, number>()
  for (const { descriptor, children } of manifests) {
    levels.set(descriptor.digest, Math.max(-1, ...children.map((child) => levels.get(child) ?? 0)) + 1)
  }
  return levels
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** By code unit, so that the order does not depend on the locale of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
