/** Archives as the source of a transfer: images by the names they had on the other side, content by digest. */
import { KnownError } from '../../errors/known-error.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import { maxManifestBytes, parseManifest } from '../../oci/manifest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../../oci/reference.ts'
import { referrerDescriptor } from '../../oci/referrer.ts'
import type { ArchiveHole, ArchiveImage } from '../format/records.ts'
import type { Archive } from './archive.ts'
import { type BeyondArchive, blobBeyond, manifestBeyond } from './beyond-archive.ts'

/**
 * @param archives where two carry or name the same, the later one counts: a repair comes after what it repairs. They stay
 * open as long as this is used
 */
export function archiveSource(
  archives: readonly Archive[],
  { beyond }: { readonly beyond?: BeyondArchive | undefined } = {},
): ContentSource {
  return new ArchiveSource(archives, beyond)
}

class ArchiveSource implements ContentSource {
  /** Later ones first. */
  readonly #archives: readonly Archive[]
  readonly #beyond: BeyondArchive | undefined
  /** By `HOST/PATH:TAG`, or as the source was written. */
  readonly #images = new Map<string, ArchiveImage>()
  /** By source: what could not be had when an archive was made. */
  readonly #holes = new Map<string, ArchiveHole>()
  readonly #attached = new Map<Digest, ArchiveImage[]>()
  /** Repositories at the target, by `HOST/PATH` of the source. */
  readonly #destinations = new Map<string, Set<string>>()

  constructor(archives: readonly Archive[], beyond: BeyondArchive | undefined) {
    this.#archives = archives.toReversed()
    this.#beyond = beyond
    for (const image of archives.flatMap(({ record }) => record.images)) this.#enter(image)
    for (const hole of archives.flatMap(({ record, holes }) => holes?.images ?? record.failed ?? [])) {
      this.#holes.set(hole.source, hole)
    }
  }

  async resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined> {
    const digest = this.#digestOf(reference)
    const known = digest && this.#descriptor(digest)
    if (known) return known
    this.#refuseHole(reference)
    if (digest === undefined) return undefined
    for (const repository of this.#placesBeyond(reference)) {
      const place = this.#beyond?.locate(repository)
      const found = place && (await this.#beyond?.source.resolve({ ...place, digest }, signal))
      if (found) return found
    }
    return undefined
  }

  async resolveBeside(subject: Reference, tag: string, signal?: AbortSignal): Promise<Descriptor | undefined> {
    const { registry, repository, digest } = subject
    const name = formatReference({ registry, repository, tag })
    const image = this.#images.get(name)
    if (!image?.attachedTo || (digest !== undefined && image.attachedTo !== digest)) return undefined
    return this.resolve({ registry, repository, digest: image.digest }, signal)
  }

  async fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    const digest = this.#digestOf(reference)
    const archive = digest && this.#carrierOf(digest)
    if (archive) return readManifest(archive, digest, signal)
    this.#refuseHole(reference)
    if (digest === undefined) return undefined
    return this.#beyond && manifestBeyond(this.#beyond, this.#placesBeyond(reference), digest, signal)
  }

  fetchBlob(repository: Reference, { digest, ...rest }: Descriptor, options: FetchBlobOptions = {}) {
    const archive = this.#carrierOf(digest)
    if (archive) return archive.open(digest, options)
    return this.#fetchBeyond(repository, { digest, ...rest }, options)
  }

  async referrers(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]> {
    const name = repositoryName(repository)
    const attached = (this.#attached.get(subject) ?? []).filter(({ source }) =>
      isByDigestIn(parseReference(source), name),
    )
    const found = await Promise.all(
      attached.map(async ({ digest }): Promise<Descriptor[]> => {
        const { registry, repository: path } = repository
        const raw = await this.fetchManifest({ registry, repository: path, digest }, signal)
        if (!raw) return []
        const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, `${name}@${digest}`)
        return [referrerDescriptor(manifest, raw.descriptor)]
      }),
    )
    return found.flat()
  }

  #enter(image: ArchiveImage): void {
    const source = parseReference(image.source)
    const { registry, repository, tag } = source
    const isTagged = tag !== undefined || source.digest === undefined
    if (isTagged) this.#images.set(formatReference({ registry, repository, ...(tag !== undefined && { tag }) }), image)
    const name = repositoryName(source)
    const destinations = this.#destinations.get(name) ?? new Set()
    this.#destinations.set(name, destinations.add(repositoryOf(image.destination)))
    if (!image.attachedTo) return
    const others = (this.#attached.get(image.attachedTo) ?? []).filter(({ source: other }) => other !== image.source)
    this.#attached.set(image.attachedTo, [...others, image])
  }

  #digestOf(reference: Reference): Digest | undefined {
    return reference.digest ?? this.#images.get(formatReference(reference))?.digest
  }

  /** @throws KnownError ARCHIVE_INCOMPLETE */
  #refuseHole(reference: Reference): void {
    const hole = this.#holes.get(formatReference(reference))
    if (!hole) return
    throw new KnownError(
      'ARCHIVE_INCOMPLETE',
      `${hole.source} is not in the archive: it was not to be had when the archive was made (${hole.code}: ${hole.message})`,
      {
        details: { image: hole.source, code: hole.code },
        hint: 'On the connected side mend what is said above and run mirror again: the next archive brings it.',
      },
    )
  }

  #descriptor(digest: Digest): Descriptor | undefined {
    for (const { blobs } of this.#archives) {
      const blob = blobs.get(digest)
      if (blob?.mediaType !== undefined) return { mediaType: blob.mediaType, digest, size: blob.size }
    }
    return undefined
  }

  /** The archive to read from; where none has it whole, one that says what is missing. */
  #carrierOf(digest: Digest): Archive | undefined {
    const carriers = this.#archives.filter(({ blobs }) => blobs.get(digest)?.place !== undefined)
    return carriers.find((archive) => archive.has(digest)) ?? carriers[0]
  }

  async *#fetchBeyond(
    repository: Reference,
    descriptor: Descriptor,
    options: FetchBlobOptions,
  ): AsyncGenerator<Uint8Array> {
    const found = this.#beyond && (await blobBeyond(this.#beyond, this.#placesBeyond(repository), descriptor, options))
    if (!found) throw notCarried(repositoryName(repository), descriptor.digest)
    yield* found
  }

  /** The repositories that images of this one go to, as the archives name them. */
  #placesBeyond(reference: Reference): readonly string[] {
    return [...(this.#destinations.get(repositoryName(reference)) ?? [])]
  }
}

/** Proven, and no larger than a manifest may be. */
async function readManifest(archive: Archive, digest: Digest, signal?: AbortSignal): Promise<RawManifest> {
  const { size = 0, mediaType = '' } = archive.blobs.get(digest) ?? {}
  const [segment] = archive.segmentsOf({ digest, size, ...archive.blobs.get(digest) })
  const file = archive.pathOf(segment?.volume ?? 1)
  if (size > maxManifestBytes) {
    throw new KnownError('ARCHIVE_INVALID', `${file}: the manifest ${digest} has ${size} bytes`, {
      details: { file, digest },
    })
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of archive.open(digest, { signal })) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (digestOf(bytes, algorithmOf(digest)) === digest) return { descriptor: { mediaType, digest, size }, bytes }
  const offset = segment?.offset ?? 0
  throw new KnownError('ARCHIVE_DAMAGED', `${file}: the manifest ${digest} at byte ${offset} is damaged`, {
    details: { file, digest, offset, size },
  })
}

function isByDigestIn(source: Reference, name: string): boolean {
  return source.tag === undefined && repositoryName(source) === name
}

/** Of `REPOSITORY:TAG` or `REPOSITORY@DIGEST`. */
function repositoryOf(destination: string): string {
  return destination.replace(/[:@].*$/, '')
}

function notCarried(repository: string, digest: Digest): KnownError {
  return new KnownError('BLOB_UNKNOWN', `${digest} of ${repository} is neither in the archives nor at the target`, {
    details: { repository, digest },
    hint: 'The target held it when the archive was made. Make an archive with a receipt of what the target holds now.',
  })
}
