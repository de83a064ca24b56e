/**
 * Images that are made on this machine and mirrored like any other: the graph image, files as OCI artifacts.
 *
 * They live at a name that no registry can have (RFC 2606, `.invalid`), so that nothing is ever asked for them over the
 * network, and no mirror set is written for them.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'

/** The registry of made images. */
export const madeRegistry = 'sallyport.invalid'

export type OpenMadeBlob = (options: FetchBlobOptions) => AsyncIterable<Uint8Array>

export interface MadeImage {
  /** At `madeRegistry`, with a tag. */
  readonly reference: Reference
  /** Every manifest, the image itself last. */
  readonly manifests: readonly RawManifest[]
  /** The blobs that were made. They are hashed by whoever reads them. */
  readonly blobs: ReadonlyMap<Digest, OpenMadeBlob>
  /** Where all other blobs are: the image that this one is built on. */
  readonly base?: Reference
}

export function isMade({ registry }: Reference): boolean {
  return registry === madeRegistry
}

/** `source`, with the made images beside what it has. */
export function withMadeContent(source: ContentSource, images: readonly MadeImage[]): ContentSource {
  const content = new MadeContent(source, images)
  return images.length === 0 ? source : content
}

class MadeContent implements ContentSource {
  readonly #source: ContentSource
  readonly #images: ReadonlyMap<string, readonly MadeImage[]>

  constructor(source: ContentSource, images: readonly MadeImage[]) {
    this.#source = source
    this.#images = Map.groupBy(images, ({ reference }) => repositoryName(reference))
  }

  async resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined> {
    if (!isMade(reference)) return this.#source.resolve(reference, signal)
    return this.#manifest(reference)?.descriptor
  }

  async resolveBeside(subject: Reference, tag: string, signal?: AbortSignal): Promise<Descriptor | undefined> {
    return isMade(subject) ? undefined : this.#source.resolveBeside(subject, tag, signal)
  }

  async fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    return isMade(reference) ? this.#manifest(reference) : this.#source.fetchManifest(reference, signal)
  }

  fetchBlob(repository: Reference, descriptor: Descriptor, options: FetchBlobOptions = {}): AsyncIterable<Uint8Array> {
    if (!isMade(repository)) return this.#source.fetchBlob(repository, descriptor, options)
    const images = this.#imagesOf(repository)
    const open = images.map(({ blobs }) => blobs.get(descriptor.digest)).find((one) => one !== undefined)
    if (open) return open(options)
    const base = images.find((image) => image.base !== undefined && names(image, descriptor.digest))?.base
    if (base) return this.#source.fetchBlob(base, descriptor, options)
    throw new KnownError('BLOB_UNKNOWN', `${repositoryName(repository)} has no blob ${descriptor.digest}`, {
      details: { repository: repositoryName(repository), digest: descriptor.digest },
      hint: 'Another run with this workspace made this image anew. Make the plan anew; an archive that was begun before goes without it, and the next one brings it.',
    })
  }

  async referrers(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]> {
    return isMade(repository) ? [] : this.#source.referrers(repository, subject, signal)
  }

  async locate(subject: Reference, signal?: AbortSignal): Promise<Reference | undefined> {
    return isMade(subject) || !this.#source.locate ? subject : this.#source.locate(subject, signal)
  }

  #imagesOf(repository: Reference): readonly MadeImage[] {
    return this.#images.get(repositoryName(repository)) ?? []
  }

  #manifest({ registry, repository, tag, digest }: Reference): RawManifest | undefined {
    const images = this.#imagesOf({ registry, repository })
    if (digest !== undefined)
      return images.flatMap(({ manifests }) => manifests).find(({ descriptor }) => descriptor.digest === digest)
    return images.find(({ reference }) => reference.tag === (tag ?? 'latest'))?.manifests.at(-1)
  }
}

/** What was made is replaced when it is made anew: then nothing here knows a blob that a plan names. */
function names({ manifests }: MadeImage, digest: Digest): boolean {
  return manifests.some(({ bytes }) => Buffer.from(bytes).includes(digest))
}

/** The image itself. @throws KnownError MANIFEST_UNKNOWN where it has no manifest */
export function rootOf({ reference, manifests }: MadeImage): RawManifest {
  const root = manifests.at(-1)
  if (!root) throw unknownManifest(formatReference(reference))
  return root
}
