/** What a release is made of: the release image, its components, and what they weigh. Pure. */
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import { type ComponentVersion, componentVersions } from '../openshift/component-versions.ts'
import type { ReleaseComponent, ReleaseMetadata } from '../openshift/release-payload.ts'
import type { ReleaseImage } from './payload-image.ts'

/** An image as it was found: of an index, everything below it. */
export interface StoredImage {
  readonly digest: Digest
  /** `HOST/PATH` that it was read from, by the name that was asked for. */
  readonly place: string
  /** Layers and configs, each once. */
  readonly blobs: readonly Descriptor[]
  /** How many of them are layers. */
  readonly layers: number
  readonly bytes: number
}

export interface ContentsComponent {
  readonly name: string
  /** As the payload names it. */
  readonly reference: Reference
  readonly source?: ComponentSource
  /** Absent where it was not looked for, and where it was not found. */
  readonly image?: StoredImage
  /** Why it could not be looked into. */
  readonly problem?: ContentsProblem
}

export interface ComponentSource {
  /** URL of the repository. */
  readonly repository: string
  readonly commit?: string
}

export interface ContentsProblem {
  readonly code: string
  readonly message: string
  readonly hint: string
}

export interface ReleaseContents {
  /** What was asked for. */
  readonly reference: Reference
  readonly digest: Digest
  /** True for a multi payload: an index with a release image for each architecture. */
  readonly isIndex: boolean
  /** As Go names them. */
  readonly architectures: readonly string[]
  readonly version: string
  /** RFC 3339. */
  readonly created?: string
  readonly metadata?: ReleaseMetadata
  /** Kubernetes, CoreOS and others. */
  readonly versions: readonly ComponentVersion[]
  /** The release image itself. */
  readonly image: StoredImage
  /** By name. */
  readonly components: readonly ContentsComponent[]
}

/** Everything but the images of the components, which have to be asked for. */
export function contentsOf(
  reference: Reference,
  { digest, isIndex, images }: ReleaseImage,
  components: readonly ContentsComponent[],
): ReleaseContents {
  const [{ payload, created }] = images
  const own = images.flatMap(({ manifest }) => [...manifest.layers, manifest.config])
  const layers = new Set(images.flatMap(({ manifest }) => manifest.layers.map((layer) => layer.digest)))
  const place = `${reference.registry}/${reference.repository}`
  return {
    ...{ reference, digest, isIndex, version: payload.version },
    architectures: images.map(({ architecture }) => architecture),
    ...(created !== undefined && { created }),
    ...(payload.metadata && { metadata: payload.metadata }),
    versions: componentVersions(images.flatMap((image) => image.payload.components)),
    image: storedImage({ digest, place, blobs: own, layers: layers.size }),
    components: components.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

export function storedImage(parts: Omit<StoredImage, 'bytes'>): StoredImage {
  const blobs = distinct(parts.blobs)
  return { ...parts, blobs, bytes: sum(blobs) }
}

/** Where a component was built from, as far as its annotations say (`io.openshift.build.…`). */
export function sourceOf({ annotations }: Pick<ReleaseComponent, 'annotations'>): ComponentSource | undefined {
  const repository = annotations['io.openshift.build.source-location']
  const commit = annotations['io.openshift.build.commit.id']
  return repository ? { repository, ...(commit && { commit }) } : undefined
}

export interface ReleaseSizes {
  /** Of every blob once, the release image included: what a registry holds. */
  readonly uniqueBytes: number
  /** Of those that more than one image has. */
  readonly sharedBytes: number
  /** Of all images, as if none shared anything. */
  readonly imageBytes: number
  /** By component: bytes that no other image of the release has. */
  readonly own: ReadonlyMap<string, number>
  /** Components whose size is not known. */
  readonly unknown: number
}

export function sizesOf({ image, components }: Pick<ReleaseContents, 'image' | 'components'>): ReleaseSizes {
  const images = [image, ...components.flatMap((component) => component.image ?? [])]
  const uses = new Map<Digest, number>()
  // Two components may be one image.
  for (const { blobs } of new Map(images.map((one) => [one.digest, one])).values()) {
    for (const { digest } of blobs) uses.set(digest, (uses.get(digest) ?? 0) + 1)
  }
  const all = distinct(images.flatMap(({ blobs }) => blobs))
  const isShared = ({ digest }: Descriptor) => (uses.get(digest) ?? 0) > 1
  const own = components.flatMap(({ name, image: stored }) =>
    stored ? [[name, sum(stored.blobs.filter((blob) => !isShared(blob)))] as const] : [],
  )
  return {
    uniqueBytes: sum(all),
    sharedBytes: sum(all.filter(isShared)),
    imageBytes: images.reduce((total, { bytes }) => total + bytes, 0),
    own: new Map(own),
    unknown: components.filter((component) => component.image === undefined).length,
  }
}

function distinct(blobs: readonly Descriptor[]): readonly Descriptor[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()]
}

function sum(blobs: readonly Descriptor[]): number {
  return blobs.reduce((total, { size }) => total + size, 0)
}
