/**
 * Writes an archive straight from a source: every blob to its place, whichever order they come in, and each volume gets
 * its final name as soon as everything in it is there.
 *
 * Safe to repeat: what is written and proven is not asked for again, after a kill or a full disk neither.
 */
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { freeSpaceAt } from '../../host/free-space.ts'
import { acquireLock } from '../../host/lock.ts'
import type { ContentTarget, OpenBlob, PushBlobOptions, RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import type { Digest } from '../../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../../oci/reference.ts'
import type { ArchiveBlob } from '../format/archive-index.ts'
import { type ArchiveDraft, type ArchiveFront, composeFront } from '../format/compose-front.ts'
import type { ArchiveHole } from '../format/records.ts'
import type { ArchiveSigner } from '../format/signature.ts'
import { beginOrResume, type OpenArchive } from './begin-archive.ts'
import { EntryArrival, type EntrySource } from './bring-entry.ts'
import { closeArchive, removeProgress } from './close-archive.ts'
import type { WrittenEntry } from './written-entries.ts'

export interface ArchiveWriteOptions {
  /** Made if it is not there. */
  readonly directory: string
  /** From `archiveStem`. */
  readonly stem: string
  readonly draft: ArchiveDraft
  readonly signal: AbortSignal
  readonly signer?: ArchiveSigner
  /** How much of a blob may have to be fetched again after a kill. Default: 4 MiB. */
  readonly noteEveryBytes?: number
  /** How much may have to be hashed again. Default: 256 MiB. */
  readonly flushEveryBytes?: number
}

export interface SealedArchive {
  /** Paths of the volumes, in their order. */
  readonly files: readonly string[]
  /** Sum of their sizes. */
  readonly bytes: number
  /** Of the last volume; it stands for all. */
  readonly checksum: string
  /** Blobs and manifests that are not there, in the order of their places. */
  readonly holes: readonly Digest[]
}

/** For headers and the progress file. */
const roomBytes = 64 * 1024
const defaultNoteEveryBytes = 4 * 1024 * 1024
const defaultFlushEveryBytes = 256 * 1024 * 1024

export class ArchiveWriter implements ContentTarget {
  readonly front: ArchiveFront
  /** What earlier runs had written; the bytes count what is there of unfinished blobs too. */
  readonly resumed: { readonly blobs: number; readonly bytes: number }
  readonly #options: ArchiveWriteOptions
  readonly #open: OpenArchive
  readonly #release: () => Promise<void>
  /** What the archive knows and does not carry. */
  readonly #held: ReadonlySet<Digest>
  readonly #manifests: ReadonlyMap<Digest, ArchiveBlob>
  /** By `REPOSITORY:TAG`. */
  readonly #tagged: ReadonlyMap<string, Digest>
  readonly #arriving = new Map<Digest, Promise<void>>()
  #isClosing = false
  /** What the disk refused last, and how that was said. */
  #refusal: KnownError | undefined

  private constructor(options: ArchiveWriteOptions, open: OpenArchive, release: () => Promise<void>) {
    this.#options = options
    this.#open = open
    this.#release = release
    this.front = open.front
    this.resumed = open.resumed
    const { blobs, record } = open.front
    this.#manifests = new Map(blobs.filter(({ mediaType }) => mediaType).map((manifest) => [manifest.digest, manifest]))
    this.#tagged = new Map(record.images.map(({ destination, digest }) => [destination, digest]))
    this.#held = new Set(blobs.filter(({ place }) => !place).map(({ digest }) => digest))
  }

  /**
   * Begins an archive, or goes on with it where one of the same content was begun.
   *
   * @throws KnownError ARCHIVE_UNFINISHED, ARCHIVE_EXISTS where another archive has this name; STORE_LOCKED where it is
   * being written; DISK_FULL before anything is written where it would not fit
   */
  static async open(options: ArchiveWriteOptions): Promise<ArchiveWriter> {
    const { directory, stem, draft, flushEveryBytes = defaultFlushEveryBytes } = options
    const front = composeFront(draft)
    const lock = () => acquireLock(join(directory, `${stem}.lock`))
    const place = { directory, stem, front, plan: draft.plan, flushEveryBytes }
    const { open, release } = await beginOrResume(place, lock)
    return new ArchiveWriter(options, open, release)
  }

  async resolve(reference: Reference): Promise<Descriptor | undefined> {
    const { repository, tag } = reference
    const digest = reference.digest ?? this.#tagged.get(`${repository}:${tag}`)
    const manifest = digest && this.#has(digest) ? this.#manifests.get(digest) : undefined
    if (manifest?.mediaType === undefined) return undefined
    return { mediaType: manifest.mediaType, digest: manifest.digest, size: manifest.size }
  }

  async tags({ repository }: Reference): Promise<readonly string[] | undefined> {
    const prefix = `${repository}:`
    const tags = this.front.record.images.flatMap(({ destination, digest }) =>
      destination.startsWith(prefix) && this.#has(digest) ? [destination.slice(prefix.length)] : [],
    )
    return tags.length > 0 ? tags : undefined
  }

  async hasBlob(_: Reference, { digest }: Descriptor): Promise<boolean> {
    return this.#has(digest)
  }

  /** A blob lies in an archive once, whichever repositories need it. */
  async mountBlob(_: Reference, { digest }: Descriptor): Promise<boolean> {
    return this.#has(digest)
  }

  async pushBlob(
    repository: Reference,
    { digest }: Descriptor,
    open: OpenBlob,
    options: PushBlobOptions = {},
  ): Promise<void> {
    const { signal = this.#options.signal, origin = repositoryName(repository), onBytes } = options
    await this.#bring(digest, { open, signal, origin, ...(onBytes && { onBytes }) })
  }

  async pushManifest(reference: Reference, { descriptor, bytes }: RawManifest, signal?: AbortSignal): Promise<void> {
    const origin = formatReference(reference)
    const open: OpenBlob = async function* (offset) {
      yield bytes.subarray(offset)
    }
    await this.#bring(descriptor.digest, { open, signal: signal ?? this.#options.signal, origin })
  }

  /**
   * Finishes the archive. What did not arrive becomes a hole: zeros in its place, named in the archive.
   *
   * Nothing can be pushed any more; where this fails, the archive can be opened again and the rest be brought.
   *
   * @param holes images that should be here and are not whole
   * @param onWritten called once all is on the disk. Until it is done the archive counts as unfinished, so that whoever keeps
   * a record of archives never misses one
   * @throws KnownError DISK_FULL, ARCHIVE_VOLUME_TOO_LARGE, also where that was why something did not arrive; may then be
   * called again
   */
  async seal(
    holes: readonly ArchiveHole[],
    onWritten?: (sealed: SealedArchive) => Promise<void>,
  ): Promise<SealedArchive> {
    if (this.#refusal) throw this.#refusal
    this.#isClosing = true
    await this.#settle()
    const sealed = await closeArchive(this.#open, holes, this.#options.signer)
    await onWritten?.(sealed)
    await removeProgress(this.#open)
    return sealed
  }

  /** Lets go of the directory; an archive that is not sealed can be gone on with. */
  async close(): Promise<void> {
    await this.#settle()
    // On a full disk the last lines are lost, and what they stand for is fetched again; it was said when it became full.
    await this.#open.progress.close().catch(() => undefined)
    this.#open.volumes.close()
    await this.#release()
  }

  #has(digest: Digest): boolean {
    return this.#held.has(digest) || this.#open.entries.blobs.get(digest)?.state === 'written'
  }

  /** Once, however many ask for it at a time. */
  async #bring(digest: Digest, source: EntrySource): Promise<void> {
    if (this.#has(digest)) return
    const entry = this.#open.entries.blobs.get(digest)
    if (!isBlobEntry(entry)) throw new RangeError(`${digest} has no place in ${this.#options.stem}`)
    if (this.#isClosing) throw new Error(`${this.#options.stem} is being closed`)
    const arriving = this.#arriving.get(digest) ?? this.#arrive(entry, source)
    this.#arriving.set(digest, arriving)
    await arriving
  }

  async #arrive(entry: BlobEntry, source: EntrySource): Promise<void> {
    const { volumes, claims, sealer } = this.#open
    const noteEveryBytes = this.#options.noteEveryBytes ?? defaultNoteEveryBytes
    try {
      await this.#checkRoom(entry)
      const onProven = () => sealer.settled(entry)
      await new EntryArrival(entry, { volumes, claims, noteEveryBytes, onProven }, source).run()
      // What fails here fails again in `seal`, where there is somebody to tell.
      sealer.sealReady().catch(() => undefined)
    } catch (error) {
      if (error instanceof KnownError && isRefusal(error)) this.#refusal = error
      throw error
    } finally {
      this.#arriving.delete(entry.digest)
    }
  }

  /** On a full disk nothing is asked of the source before there is room again. */
  async #checkRoom({ size, reached }: BlobEntry): Promise<void> {
    if (!this.#refusal) return
    if (this.#refusal.code !== 'DISK_FULL') throw this.#refusal
    const { availableBytes } = await freeSpaceAt(this.#options.directory)
    if (availableBytes !== undefined && availableBytes < size - reached + roomBytes) throw this.#refusal
    this.#refusal = undefined
  }

  /** Waits for what goes on by itself. */
  async #settle(): Promise<void> {
    await Promise.allSettled([...this.#arriving.values(), this.#open.sealer.sealReady(), this.#open.claims.settle()])
  }
}

/** The disk is to blame, not the source: that makes no hole. */
function isRefusal({ code }: KnownError): boolean {
  return code === 'DISK_FULL' || code === 'ARCHIVE_VOLUME_TOO_LARGE'
}

type BlobEntry = WrittenEntry & { readonly digest: Digest }

function isBlobEntry(entry: WrittenEntry | undefined): entry is BlobEntry {
  return entry?.digest !== undefined
}
