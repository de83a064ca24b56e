/**
 * Archives, workspaces and caches that oc-mirror v2 wrote, read as they lie: nothing is unpacked, nothing is written.
 *
 * Source of the layout: openshift/oc-mirror `internal/pkg/archive/{archive,unarchive,permissive_adder}.go`.
 */
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import type { Digest } from '../../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../../oci/reference.ts'
import { type BeyondArchive, blobBeyond, manifestBeyond } from '../read/beyond-archive.ts'
import { type FileSlice, readSlice, streamSlice } from '../tar/file-slice.ts'
import { type ArchiveFlaw, scanTar } from '../tar/tar-scan.ts'
import { findOcMirrorFiles, indexStorage, missingArchives, type OcMirrorFiles, remedyFor } from './oc-mirror-files.ts'
import { OcMirrorIndex } from './oc-mirror-index.ts'
import { OcMirrorManifests } from './oc-mirror-manifests.ts'

/** The name of an image within the storage, where there are no hosts. */
export interface StoredName {
  readonly repository: string
  readonly tag: string
}

export interface OcMirrorView {
  /** The names under which oc-mirror may have stored an image. Default: its own repository and tag. */
  readonly names?: (reference: Reference) => readonly StoredName[]
  /** The target: it holds what was in earlier archives and is left out of these. */
  readonly beyond?: BeyondArchive
}

export interface OcMirrorOptions extends OcMirrorView {
  readonly signal?: AbortSignal
}

export interface OcMirrorImage extends StoredName {
  readonly digest: Digest
  /** False where the manifest is not here: an archive carries only what no earlier one did, but every link. */
  readonly isCarried: boolean
}

export interface OcMirrorDocument {
  /** As the archive names it: `isc_2026-01-16T12:30:04Z`. */
  readonly name: string
  /** Path of the archive that holds it. */
  readonly file: string
  readonly bytes: Buffer
}

/** A document larger than this is not read. */
const maxDocumentBytes = 16 * 1024 * 1024

/**
 * What oc-mirror v2 left in `directory`: archives, or a cache; undefined where there is neither.
 *
 * @throws KnownError ARCHIVE_INVALID for archives of oc-mirror v1, those that are hostile, and those without anything that can be
 *   read; FILE_UNREADABLE
 */
export async function openOcMirrorArchive(
  directory: string,
  options: OcMirrorOptions = {},
): Promise<OcMirrorArchive | undefined> {
  const files = await findOcMirrorFiles(directory)
  if (!files) return undefined
  if (files.archives.length + files.roots.length === 0) throw writtenByV1(files)
  const index = new OcMirrorIndex()
  for (const file of files.fromV1) index.passOver({ file, offset: 0, why: 'oc-mirror v1 wrote this archive' })
  for (const file of missingArchives(files.archives))
    index.passOver({ file, offset: 0, why: 'there is no such file, although later archives are here' })
  for (const root of files.roots) await indexStorage(root, index)
  for (const file of files.archives) {
    const visit = (entry: Parameters<OcMirrorIndex['addTarEntry']>[1]) => index.addTarEntry(file, entry)
    const flaw = await scanTar(file, { visit, signal: options.signal })
    if (flaw !== undefined) index.addDamage(flaw)
  }
  if (index.isEmpty) throw withoutImages(directory, index)
  return new OcMirrorArchive(directory, files, { ...options, index })
}

export class OcMirrorArchive implements ContentSource {
  readonly directory: string
  /** Paths of the archives and of the storages on disk that are read. */
  readonly files: readonly string[]
  readonly #found: OcMirrorFiles
  readonly #index: OcMirrorIndex
  readonly #manifests: OcMirrorManifests
  readonly #names: NonNullable<OcMirrorView['names']>
  readonly #beyond: BeyondArchive | undefined

  constructor(directory: string, files: OcMirrorFiles, options: OcMirrorView & { readonly index: OcMirrorIndex }) {
    this.directory = directory
    this.files = [...files.archives, ...files.roots]
    this.#found = files
    this.#index = options.index
    this.#manifests = new OcMirrorManifests(options.index, directory)
    this.#names = options.names ?? ownName
    this.#beyond = options.beyond
  }

  /** The same files, looked at in another way; they are not read again. */
  viewedWith(view: OcMirrorView): OcMirrorArchive {
    return new OcMirrorArchive(this.directory, this.#found, { ...view, index: this.#index })
  }

  /** What is damaged or passed over. What is asked for and missing because of it fails when it is asked for. */
  get flaws(): readonly ArchiveFlaw[] {
    return [...this.#index.damage, ...this.#index.passedOver]
  }

  /**
   * Where only the link is here and not the manifest, because an earlier archive carried it, the size is 0 and the media
   * type empty: the digest is what is known.
   */
  async resolve(reference: Reference): Promise<Descriptor | undefined> {
    const digest = reference.digest ?? this.#tagged(reference)
    if (digest === undefined) return undefined
    const manifest = await this.#manifests.read(digest)
    if (manifest) return manifest.descriptor
    return this.#index.revisions.has(digest) ? { mediaType: '', digest, size: 0 } : undefined
  }

  async resolveBeside(subject: Reference, tag: string, signal?: AbortSignal): Promise<Descriptor | undefined> {
    for (const repository of this.#repositoriesOf(subject)) {
      const digest = this.#manifests.tagged({ repository, tag })
      if (digest !== undefined) return (await this.#fetch({ ...subject, repository, tag, digest }, signal)).descriptor
    }
    if (this.#index.isMissingLinks) throw this.#manifests.missing(`${repositoryName(subject)}:${tag}`, 'tag')
    return undefined
  }

  /** @throws KnownError BLOB_UNKNOWN where the manifest should be here and is not, BLOB_DIGEST_MISMATCH, FILE_UNREADABLE */
  async fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    const digest = reference.digest ?? this.#tagged(reference)
    if (digest === undefined) {
      if (this.#index.isMissingLinks) throw this.#manifests.missing(formatReference(reference), 'tag')
      return undefined
    }
    const isExpected = this.#index.revisions.has(digest) || this.#index.damage.length > 0
    return isExpected ? this.#fetch({ ...reference, digest }, signal) : this.#manifests.read(digest)
  }

  /** @throws KnownError BLOB_UNKNOWN, BLOB_SIZE_MISMATCH, FILE_UNREADABLE */
  async *fetchBlob(
    repository: Reference,
    descriptor: Descriptor,
    options: FetchBlobOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const subject = `${repositoryName(repository)}@${descriptor.digest}`
    const places = await this.#index.placesOf(descriptor.digest)
    const place = places.find(({ size }) => size === descriptor.size)
    if (place !== undefined) return yield* streamSlice(place, options.offset ?? 0, options.signal)
    if (places[0]) throw wrongSize(subject, descriptor, places[0])
    const repositories = this.#repositoriesOf(repository)
    const beyond = this.#beyond && (await blobBeyond(this.#beyond, repositories, descriptor, options))
    if (beyond === undefined) throw this.#manifests.missing(subject, 'blob')
    yield* beyond
  }

  /** Found by reading every manifest here, when this is first asked. */
  async referrers(repository: Reference, subject: Digest): Promise<readonly Descriptor[]> {
    return this.#manifests.referrers(this.#repositoriesOf({ ...repository, digest: subject }), subject)
  }

  /** Every tag, by repository and then by tag. */
  async images(): Promise<readonly OcMirrorImage[]> {
    const names = [...this.#index.tags].flatMap(([repository, tags]) =>
      [...tags].map(([tag, digest]) => ({ repository, tag, digest })),
    )
    const images = await mapConcurrently(names, 64, async (name) => {
      return { ...name, isCarried: (await this.#index.placesOf(name.digest)).length > 0 }
    })
    return images.sort((a, b) => (`${a.repository}:${a.tag}` < `${b.repository}:${b.tag}` ? -1 : 1))
  }

  /** The configurations that the archives were made from, the oldest first. */
  async configurations(): Promise<readonly OcMirrorDocument[]> {
    const names = [...this.#index.documents.keys()].filter((name) => name.startsWith('isc_')).sort()
    const documents = await Promise.all(names.map((name) => this.readDocument(name)))
    return documents.filter((document) => document !== undefined)
  }

  /** Names of what `readDocument` reads: `isc_<time>`, `working-dir/signatures/…` and `working-dir/hold-release/…`. */
  get documentNames(): readonly string[] {
    return [...this.#index.documents.keys()].sort()
  }

  /** @throws KnownError ARCHIVE_INVALID where it is too large to be what its name says */
  async readDocument(name: string): Promise<OcMirrorDocument | undefined> {
    const slice = this.#index.documents.get(name)
    if (slice === undefined) return undefined
    const { file, offset, size } = slice
    if (size > maxDocumentBytes) {
      throw new KnownError('ARCHIVE_INVALID', `${file}: "${name}" at byte ${offset} has ${size} bytes`, {
        details: { file, offset, size },
      })
    }
    return { name, file, bytes: await readSlice(slice) }
  }

  #tagged(reference: Reference): Digest | undefined {
    for (const name of this.#names(reference)) {
      const digest = this.#manifests.tagged(name)
      if (digest !== undefined) return digest
    }
    return undefined
  }

  async #fetch(reference: Reference & { readonly digest: Digest }, signal?: AbortSignal): Promise<RawManifest> {
    const { digest } = reference
    const manifest = await this.#manifests.read(digest)
    if (manifest !== undefined) return manifest
    const repositories = this.#repositoriesOf(reference)
    const beyond = this.#beyond && (await manifestBeyond(this.#beyond, repositories, digest, signal))
    if (beyond !== undefined) return beyond
    throw this.#manifests.missing(formatReference(reference), 'manifest')
  }

  /** The repositories that hold an image: where its names lead to, or else every one. Without a digest: the former. */
  #repositoriesOf(reference: Reference): readonly string[] {
    const named = this.#names(reference).map(({ repository }) => repository)
    if (reference.digest === undefined) return [...new Set(named)]
    const holders = this.#index.revisions.get(reference.digest) ?? []
    const own = named.filter((repository) => holders.includes(repository))
    return own.length > 0 ? [...new Set(own)] : holders.toSorted()
  }
}

function ownName({ repository, tag = 'latest' }: Reference): readonly StoredName[] {
  return [{ repository, tag }]
}

function wrongSize(subject: string, descriptor: Descriptor, { file, offset, size }: FileSlice): KnownError {
  return new KnownError(
    'BLOB_SIZE_MISMATCH',
    `${subject}: ${file} holds ${size} bytes at byte ${offset}; the blob has ${descriptor.size}`,
    {
      details: { file, offset, digest: descriptor.digest, expected: descriptor.size, received: size },
      hint: remedyFor(file),
      retryable: false,
    },
  )
}

function writtenByV1({ fromV1: [file = ''] }: OcMirrorFiles): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file}: this archive was written by oc-mirror v1`, {
    details: { file },
    hint: 'Load it with oc-mirror --v1, or make the archive again with sallyport mirror -c FILE file://DIR or oc-mirror --v2.',
  })
}

function withoutImages(directory: string, { damage: [flaw] }: OcMirrorIndex): KnownError {
  const why = flaw ? `${flaw.file}: at byte ${flaw.offset}: ${flaw.why}` : 'there are no images in it'
  return new KnownError('ARCHIVE_INVALID', `${directory}: nothing of oc-mirror can be read here: ${why}`, {
    details: flaw ? { file: flaw.file, offset: flaw.offset } : { directory },
    hint: 'Copy the archives again from where oc-mirror wrote them, or let oc-mirror write them again.',
  })
}
