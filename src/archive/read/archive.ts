/** What an opened archive gives: its index, and content by digest. */
import { KnownError } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import { type ArchiveBlob, segmentsOfBlob } from '../format/archive-index.ts'
import { entryNames } from '../format/format.ts'
import type { Segment } from '../format/layout.ts'
import type { ArchiveHoles, ArchiveRecord, EndRecord } from '../format/records.ts'
import type { ArchiveClose } from './archive-close.ts'
import type { ArchiveFrontPage } from './archive-front.ts'
import type { FoundArchive } from './find-archives.ts'
import { readFromRepair } from './read-repair.ts'
import type { ReadVolumes } from './read-volumes.ts'
import { streamSegments } from './segment-stream.ts'
import { readEntry, type StoredEntry } from './stored-entry.ts'

interface Parts {
  readonly found: FoundArchive
  readonly files: ReadVolumes
  readonly front: ArchiveFrontPage
  readonly close: ArchiveClose
  readonly end: EndRecord | undefined
  readonly volumes: number
  readonly problems: readonly KnownError[]
  readonly repairs: readonly Archive[]
}

export class Archive {
  readonly found: FoundArchive
  /** Digest of `archive.json`. */
  readonly id: Digest
  readonly record: ArchiveRecord
  /** What it carries, in the order of their places, and then what the target holds. */
  readonly blobs: ReadonlyMap<Digest, ArchiveBlob>
  /** Undefined where the volume with them is missing. */
  readonly holes: ArchiveHoles | undefined
  /** Undefined where the last volume is missing. */
  readonly end: EndRecord | undefined
  /** How many volumes it has; where the last is missing: at least. */
  readonly volumes: number
  readonly missingVolumes: readonly number[]
  /** What is wrong with it as a whole; always empty unless damage was allowed. */
  readonly problems: readonly KnownError[]
  /** Repairs of it: what they carry is read from there. Closed with this archive. */
  readonly repairs: readonly Archive[]
  /** Entries that are not content; those behind the last blob as far as they could be found. */
  readonly entries: readonly StoredEntry[]
  readonly #files: ReadVolumes
  readonly #lastVolumeSize: number | undefined
  readonly #holes: ReadonlySet<Digest>

  constructor({ found, files, front, close, end, volumes, problems, repairs }: Parts) {
    this.found = found
    this.id = front.id
    this.record = front.record
    this.blobs = front.blobs
    this.holes = close.holes
    this.end = end
    this.volumes = volumes
    this.problems = problems
    this.repairs = repairs
    this.entries = [...front.entries, ...close.entries]
    this.#files = files
    this.#lastVolumeSize = close.lastVolumeSize
    this.#holes = new Set(close.holes?.blobs)
    const numbers = Array.from({ length: volumes }, (_, index) => index + 1)
    this.missingVolumes = numbers.filter((volume) => files.sizeOf(volume) === undefined)
  }

  /** What its end record says, or where that is lost, what a repair says of it; undefined where neither is there. */
  get ending(): Pick<EndRecord, 'volumes' | 'checksum'> | undefined {
    return this.end ?? this.repairs.find(({ record }) => record.repaired)?.record.repaired
  }

  /** In bytes; undefined for the last volume where only its end could tell. */
  expectedSize(volume: number): number | undefined {
    return volume < this.volumes ? this.record.volumeBytes : this.#lastVolumeSize
  }

  /** Path of a volume, also of one that is missing. */
  pathOf(volume: number): string {
    return this.#files.pathOf(volume)
  }

  /** Where the pieces of a blob are; none for one that is not carried. */
  segmentsOf(blob: ArchiveBlob): readonly Segment[] {
    return segmentsOfBlob(blob, this.record.volumeBytes)
  }

  /** True where the content is carried, is no hole, and every volume of it is here; or where a repair has it. */
  has(digest: Digest): boolean {
    if (this.repairs.some((repair) => repair.has(digest))) return true
    const blob = this.blobs.get(digest)
    if (!blob?.place || this.#holes.has(digest)) return false
    return this.segmentsOf(blob).every(({ volume }) => this.#files.sizeOf(volume) !== undefined)
  }

  /**
   * The bytes of a blob or manifest from `offset` on. NOT proven: the consumer hashes them, once.
   *
   * @throws KnownError BLOB_UNKNOWN where it is not carried, ARCHIVE_INCOMPLETE where it is a hole or a volume of it is
   * missing, ARCHIVE_DAMAGED where a volume is too short, FILE_UNREADABLE
   */
  async *open(
    digest: Digest,
    { offset = 0, signal }: { offset?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Uint8Array> {
    const repair = this.repairs.find((one) => one.has(digest))
    if (repair) return yield* repair.open(digest, { offset, signal })
    const blob = this.blobs.get(digest)
    if (!blob?.place) throw notCarried(this.pathOf(1), digest)
    if (this.#holes.has(digest)) throw hole(this.pathOf(1), digest)
    const segments = this.segmentsOf(blob)
    const gone = segments.find(({ volume }) => this.#files.sizeOf(volume) === undefined)
    if (gone) throw missingFor(this.pathOf(gone.volume), gone.volume, digest)
    yield* streamSegments(this.#files, segments, { start: offset, signal })
  }

  /** The text of the plan, proven. */
  async readPlan(): Promise<string> {
    return (await this.readPlanBytes()).toString('utf8')
  }

  readPlanBytes(): Promise<Buffer> {
    return this.#readProven(entryNames.plan, this.record.files.plan.digest)
  }

  /** `archive.json` and `blobs.txt` as they were written, proven. */
  async readIndex(): Promise<{ recordBytes: Uint8Array; blobsBytes: Uint8Array }> {
    return {
      recordBytes: await this.#readProven(entryNames.archive, this.id),
      blobsBytes: await this.#readProven(entryNames.blobs, this.record.files.blobs.digest),
    }
  }

  async #readProven(name: string, digest: Digest): Promise<Buffer> {
    const repaired = await readFromRepair(this.repairs, digest)
    if (repaired) return repaired
    const entry = this.entries.find((one) => one.name === name)
    const bytes = entry ? await readEntry(this.#files, entry) : Buffer.alloc(0)
    const actual = digestOf(bytes, algorithmOf(digest))
    if (actual === digest) return bytes
    const file = this.pathOf(entry?.segments[0]?.volume ?? 1)
    throw new KnownError('ARCHIVE_DAMAGED', `${file}: ${name} is damaged: expected ${digest}, found ${actual}`, {
      details: { file, entry: name, expected: digest, actual },
    })
  }

  async close(): Promise<void> {
    await this.#files.close()
    for (const repair of this.repairs) await repair.close()
  }
}

function notCarried(file: string, digest: Digest): KnownError {
  return new KnownError('BLOB_UNKNOWN', `The archive of ${file} does not carry ${digest}`, {
    details: { file, digest },
    hint: 'The target held it when the archive was made. Make an archive with a receipt of what the target holds now.',
  })
}

function hole(file: string, digest: Digest): KnownError {
  return new KnownError('ARCHIVE_INCOMPLETE', `${digest} could not be had when the archive of ${file} was made`, {
    details: { file, digest },
    hint: 'On the connected side run mirror again: what is missing now comes with the next archive.',
  })
}

function missingFor(file: string, volume: number, digest: Digest): KnownError {
  return new KnownError('ARCHIVE_INCOMPLETE', `${file}, volume ${volume}, is not there, and ${digest} lies in it`, {
    details: { file, volume, digest },
  })
}
