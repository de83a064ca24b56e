/**
 * What has to be carried again of an archive whose index cannot be read.
 *
 * The tar headers still name every blob by its digest: so all that is there can be proven, and only what is not has to be
 * asked for, in the same list as the index.
 */
import type { Hash } from 'node:crypto'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, digestOf, hasherFor, hexOf, isDigest } from '../../oci/digest.ts'
import { parseRecord } from '../format/archive-index.ts'
import { entryNames, sizes } from '../format/format.ts'
import type { ArchiveRecord } from '../format/records.ts'
import { readEndRecord, readVolumeRecord } from '../read/archive-close.ts'
import type { FoundArchive } from '../read/find-archives.ts'
import { ReadVolumes, type VolumeFile } from '../read/read-volumes.ts'
import { streamSegments } from '../read/segment-stream.ts'
import type { RepairWishes, WantedBlob } from '../repair/repair-list.ts'
import { scanTar, type TarScanEntry } from '../tar/tar-scan.ts'

interface ScanOptions {
  readonly signal: AbortSignal
  /** Called with the bytes that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

/** @throws KnownError ARCHIVE_DAMAGED where no volume says which archive it is of, ARCHIVE_INVALID, FILE_UNREADABLE */
export async function findDamageWithoutIndex(found: FoundArchive, options: ScanOptions): Promise<RepairWishes> {
  const files = new ReadVolumes(found)
  try {
    return await new IndexlessScan(found, files, options).run()
  } finally {
    await files.close()
  }
}

type IndexName = RepairWishes['records'][number]

const indexNames: readonly IndexName[] = [entryNames.archive, entryNames.blobs, entryNames.plan]

/** A blob, as far as it was seen. */
interface Seen {
  readonly digest: Digest
  readonly hash: Hash
  size: number
  /** Number of the last part; 0 for one that is not cut; NaN where one before it is missing. */
  part: number
  /** That the last part is in. */
  volume: number
  /** True where that part fills its volume: then there may be another in the next one. */
  isOpen: boolean
  /** Those with a pax header before a part: no checksum protects the name in it. */
  readonly unsure: Set<number>
}

/** Every other name is a damaged one. */
const knownNames = /^(?:parts\/|holes\/){0,2}blobs\/(?:sha256\/[0-9a-f]{64}|sha512\/[0-9a-f]{128})(?:\/\d{6})?$/

class IndexlessScan {
  readonly #found: FoundArchive
  readonly #files: ReadVolumes
  readonly #options: ScanOptions
  /** Volumes in which not everything can be found. */
  readonly #faulty = new Set<number>()
  /** Blobs that are cut, as far as they were seen. */
  readonly #cut = new Map<string, Seen>()
  readonly #damaged: WantedBlob[] = []
  /** Content of the documents of the index. */
  readonly #documents = new Map<string, Uint8Array[]>()

  constructor(found: FoundArchive, files: ReadVolumes, options: ScanOptions) {
    this.#found = found
    this.#files = files
    this.#options = options
  }

  async run(): Promise<RepairWishes> {
    const { volumes, missing, sequence } = this.#found
    const { id, isEnded } = await this.#identify()
    for (const volume of volumes) await this.#scan(volume)
    const record = this.#readRecord(id)
    const last = volumes.at(-1)?.volume ?? 0
    for (const seen of this.#cut.values()) if (this.#isComplete(seen, last)) this.#judge(seen)
    return {
      archive: { id, sequence, ...(record?.target !== undefined && { target: record.target }) },
      records: this.#damagedRecords(record),
      volumes: [...missing, ...this.#faulty],
      ...(!isEnded && { volumesFrom: last + 1 }),
      blobs: this.#damaged,
    }
  }

  /** What most volumes say. */
  async #identify(): Promise<{ id: Digest; isEnded: boolean }> {
    const claims: Digest[] = []
    let isEnded = false
    for (const { volume } of this.#found.volumes) {
      try {
        claims.push((await readVolumeRecord(this.#files, volume)).id)
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
      }
      const end = await readEndRecord(this.#files, volume)
      if (end) claims.push(end.id)
      isEnded ||= end !== undefined
    }
    const [most] = [...Map.groupBy(claims, (id) => id)].sort(([, a], [, b]) => b.length - a.length)
    if (most) return { id: most[0], isEnded }
    const { directory, stem } = this.#found
    throw new KnownError('ARCHIVE_DAMAGED', `No volume of ${stem} in ${directory} says which archive it is of`, {
      details: { directory, archive: stem },
      hint: 'Ask for this archive as a whole again: nothing of it can be told apart.',
    })
  }

  async #scan({ volume, file, size }: VolumeFile): Promise<void> {
    const { signal } = this.#options
    const entries: TarScanEntry[] = []
    const visit = (entry: TarScanEntry) => void entries.push(entry)
    const fault = await scanTar(join(this.#found.directory, file), { visit, signal })
    if (fault) this.#faulty.add(volume)
    for (const entry of entries) {
      const [, path = entry.name, part = '0'] = /^parts\/(.+)\/(\d{6})$/.exec(entry.name) ?? []
      const content = this.#read(volume, entry)
      if (isIndexName(path)) await this.#keep(path, content)
      const isOpen = entry.offset + entry.size === size - sizes.tarEnd
      const isUnsure = entry.offset - entry.headerOffset > sizes.tarBlock
      if (path.startsWith('blobs/')) await this.#hash({ path, part: Number(part), volume, isOpen, isUnsure }, content)
      if (!isKnownName(entry.name)) this.#faulty.add(volume)
    }
  }

  async *#read(volume: number, { name, offset, size }: TarScanEntry): AsyncGenerator<Uint8Array> {
    const segment = { volume, name, headerOffset: offset, offset, start: 0, length: size }
    try {
      for await (const bytes of streamSegments(this.#files, [segment], { signal: this.#options.signal })) {
        this.#options.onBytes?.(bytes.byteLength)
        yield bytes
      }
    } catch (error) {
      // A sector that the disk does not give.
      if (!(error instanceof KnownError)) throw error
      this.#faulty.add(volume)
    }
  }

  async #keep(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const chunks = this.#documents.get(path) ?? []
    this.#documents.set(path, chunks)
    for await (const bytes of content) chunks.push(bytes)
  }

  async #hash(
    {
      path,
      part,
      volume,
      isOpen,
      isUnsure,
    }: Pick<Seen, 'part' | 'volume' | 'isOpen'> & {
      path: string
      isUnsure: boolean
    },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const digest = path.slice('blobs/'.length).replace('/', ':')
    if (!isDigest(digest)) return
    const begun = () => ({
      digest,
      hash: hasherFor(algorithmOf(digest)),
      size: 0,
      part: 0,
      volume,
      isOpen,
      unsure: new Set<number>(),
    })
    const seen = this.#cut.get(path) ?? begun()
    // Where a part is missing, so is its volume, which is asked for as a whole; else a name is damaged.
    const isNext = part === 0 || part === seen.part + 1
    if (!isNext && !this.#isGone(volume - 1)) this.#faulty.add(volume)
    if (part > 0) this.#cut.set(path, seen)
    for await (const bytes of content) {
      if (isNext) seen.hash.update(bytes)
      seen.size += bytes.byteLength
    }
    seen.part = isNext ? part : Number.NaN
    seen.volume = volume
    seen.isOpen = isOpen
    if (isUnsure) seen.unsure.add(volume)
    if (part === 0) this.#judge(seen)
  }

  /** False where a part may follow that was not seen; its volume is asked for as a whole. */
  #isComplete({ volume, isOpen }: Seen, last: number): boolean {
    return !isOpen || (volume !== last && !this.#isGone(volume + 1))
  }

  #isGone(volume: number): boolean {
    return this.#faulty.has(volume) || this.#found.missing.includes(volume)
  }

  #judge({ digest, hash, size, part, unsure }: Seen): void {
    if (Number.isNaN(part) || hash.digest('hex') === hexOf(digest)) return
    if (unsure.size === 0) this.#damaged.push({ digest, size })
    for (const volume of unsure) this.#faulty.add(volume)
  }

  /** Undefined where it is damaged. */
  #readRecord(id: Digest): ArchiveRecord | undefined {
    const bytes = Buffer.concat(this.#documents.get(entryNames.archive) ?? [])
    return digestOf(bytes) === id ? parseRecord(bytes, this.#found.stem) : undefined
  }

  #damagedRecords(record: ArchiveRecord | undefined): RepairWishes['records'] {
    if (!record) return [...indexNames]
    const { blobs, plan } = record.files
    const isDamaged = (name: string, digest: Digest) =>
      digestOf(Buffer.concat(this.#documents.get(name) ?? []), algorithmOf(digest)) !== digest
    return [
      ...(isDamaged(entryNames.blobs, blobs.digest) ? [entryNames.blobs] : []),
      ...(isDamaged(entryNames.plan, plan.digest) ? [entryNames.plan] : []),
    ]
  }
}

function isIndexName(name: string): name is IndexName {
  return (indexNames as readonly string[]).includes(name)
}

function isKnownName(name: string): boolean {
  const known: readonly string[] = Object.values(entryNames)
  const [, whole = name] = /^parts\/(.+)\/\d{6}$/.exec(name) ?? []
  return known.includes(whole) || knownNames.test(name)
}
