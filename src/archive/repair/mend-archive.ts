/**
 * Writes what a repair brought into the volumes of the archive that it repairs, so that they are again, byte for byte, what
 * they were.
 *
 * All else follows from the content: headers, volume records and the entries at the end are made again, and written where they
 * differ. Where content is still missing, the checksums of its volumes cannot be told: then they are left as they are.
 */
import { algorithmOf, type Digest, digestOf, hexOf } from '../../oci/digest.ts'
import { diskError } from '../../store/disk.ts'
import { type ArchiveBlob, frontEntries } from '../format/archive-index.ts'
import { endRecord, holesOf } from '../format/closing-entries.ts'
import { type ClosingPlan, type Piece, planClosing } from '../format/closing-plan.ts'
import type { ArchiveFront } from '../format/compose-front.ts'
import { blobEntryName, holeName } from '../format/entry-names.ts'
import { entryNames, sizes } from '../format/format.ts'
import { firstEntryOffset, Layout, type Segment } from '../format/layout.ts'
import type { ArchiveHoles, EndRecord } from '../format/records.ts'
import type { ArchiveSigner } from '../format/signature.ts'
import { needsPax, padded } from '../format/tar-space.ts'
import { fileHeader } from '../tar/ustar.ts'
import { PlacedHash, type ProvenHash } from '../write/placed-hash.ts'
import { type MendedFile, MendedVolumes } from './mended-volumes.ts'

export interface DamagedArchive {
  readonly directory: string
  readonly stem: string
  readonly front: ArchiveFront
  readonly planBytes: Uint8Array
  /** As they are in the archive, where they can be read; not proven. */
  readonly holes: ArchiveHoles | undefined
  readonly end: EndRecord | undefined
  /** Of the last volume, as the end record or a repair says it. */
  readonly checksum: string | undefined
  /** What a repair has of it. NOT proven. */
  readonly content: (digest: Digest) => AsyncIterable<Uint8Array> | undefined
}

export interface MendReport {
  /** What was written to. */
  readonly volumes: readonly MendedFile[]
  /** Blobs and manifests that are damaged, and in no repair. */
  readonly lost: readonly Digest[]
  /** True where the end record had to be made anew: a signature in it, if there was one, is not there any more. */
  readonly isEndRenewed: boolean
  /** False where nothing proves how the archive ended: its checksum is lost, or what is missing in it is. */
  readonly isEndProven: boolean
}

interface MendOptions {
  readonly signal: AbortSignal
  /** Called with the bytes of the archive that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

/** @throws KnownError DISK_FULL, FILE_UNREADABLE. Interrupted, it can be called again */
export async function mendArchive(archive: DamagedArchive, options: MendOptions): Promise<MendReport> {
  const volumes = new MendedVolumes(archive.directory, archive.stem)
  try {
    return await new Mending(archive, volumes, options).run()
  } catch (error) {
    throw diskError(error, archive.directory)
  } finally {
    await volumes.close()
  }
}

const blockBytes = 1024 * 1024

class Mending {
  readonly #archive: DamagedArchive
  readonly #volumes: MendedVolumes
  readonly #options: MendOptions
  readonly #buffer = Buffer.allocUnsafeSlow(blockBytes)
  readonly #layout: Layout
  readonly #pieces: Piece[] = []
  readonly #lost: Digest[] = []
  readonly #holes: ReadonlySet<Digest>

  constructor(archive: DamagedArchive, volumes: MendedVolumes, options: MendOptions) {
    this.#archive = archive
    this.#volumes = volumes
    this.#options = options
    this.#layout = new Layout(archive.front.record.volumeBytes)
    this.#holes = new Set(archive.holes?.blobs)
  }

  async run(): Promise<MendReport> {
    const { front, planBytes } = this.#archive
    const documents = [front.recordBytes, front.blobsBytes, planBytes]
    const files = { blobs: front.blobsBytes.byteLength, plan: planBytes.byteLength }
    for (const [index, { name }] of frontEntries(front.recordBytes.byteLength, files).entries()) {
      await this.#writeDocument(name, documents[index] ?? Buffer.alloc(0))
    }
    for (const blob of front.blobs) if (blob.place) await this.#mendBlob(blob)
    const ending = await this.#close()
    await this.#volumes.publish()
    return { volumes: this.#volumes.mended, lost: this.#lost, ...ending }
  }

  async #writeDocument(name: string, bytes: Uint8Array): Promise<void> {
    const segments = this.#layout.place({ name, size: bytes.byteLength })
    for (const segment of segments) {
      const part = bytes.subarray(segment.start, segment.start + segment.length)
      await this.#volumes.ensure(segment, part)
      this.#pieces.push({ segment, size: bytes.byteLength, name: segment.name, sum: hexOf(digestOf(part)) })
    }
  }

  async #mendBlob({ digest, size }: ArchiveBlob): Promise<void> {
    const segments = this.#layout.place({ name: blobEntryName(digest), size })
    const isHole = this.#holes.has(digest)
    const there = isHole ? undefined : await this.#hash(digest, segments)
    const isSound = there?.digest === digest
    const bring = () => (isHole ? this.#zero(segments) : this.#bring(digest, segments))
    const sums = isSound ? there.sums : await bring()
    if (!sums) this.#lost.push(digest)
    for (const [index, segment] of segments.entries()) {
      const name = isHole ? holeName(segment.name) : segment.name
      this.#pieces.push({ segment, size, name, sum: sums?.[index] })
    }
  }

  /** What is in the place of a blob now; undefined where not all of it is there. */
  async #hash(digest: Digest, segments: readonly Segment[]): Promise<ProvenHash | undefined> {
    const hash = new PlacedHash(algorithmOf(digest), segments)
    for (const { volume, offset, length } of segments) {
      for (let done = 0; done < length; ) {
        this.#options.signal.throwIfAborted()
        const wanted = this.#buffer.subarray(0, Math.min(blockBytes, length - done))
        const bytes = await this.#volumes.read({ volume, offset: offset + done }, wanted)
        if (bytes.byteLength < wanted.byteLength) return undefined
        hash.update(bytes)
        done += bytes.byteLength
        this.#options.onBytes?.(bytes.byteLength)
      }
    }
    return hash.finish()
  }

  /** Writes a blob from a repair; undefined where none has it, or has something else. */
  async #bring(digest: Digest, segments: readonly Segment[]): Promise<readonly string[] | undefined> {
    const content = this.#archive.content(digest)
    if (!content) return undefined
    const hash = new PlacedHash(algorithmOf(digest), segments)
    let position = 0
    for await (const chunk of content) {
      this.#options.signal.throwIfAborted()
      hash.update(chunk)
      for (const { volume, offset, start, length } of segments) {
        const from = Math.max(start, position)
        const to = Math.min(start + length, position + chunk.byteLength)
        if (from >= to) continue
        await this.#volumes.ensure(
          { volume, offset: offset + from - start },
          chunk.subarray(from - position, to - position),
        )
      }
      position += chunk.byteLength
    }
    const { digest: actual, sums } = hash.finish()
    return actual === digest ? sums : undefined
  }

  /** @returns what stands for the checksum of a hole */
  async #zero(segments: readonly Segment[]): Promise<readonly string[]> {
    for (const { volume, offset, length } of segments) {
      for (let done = 0; done < length; done += blockBytes) {
        const zeros = Buffer.alloc(Math.min(blockBytes, length - done))
        await this.#volumes.ensure({ volume, offset: offset + done }, zeros)
      }
    }
    return segments.map(() => '0'.repeat(64))
  }

  /** Everything that follows from the content. */
  async #close(): Promise<Pick<MendReport, 'isEndRenewed' | 'isEndProven'>> {
    const { front, holes, end, checksum: known } = this.#archive
    const guesses = [...(holes ? [holes] : []), holesOf(front, [], [])]
    const plans = guesses.map((guess) => planClosing(front, this.#pieces, guess))
    const proven = plans.find(({ checksum }) => checksum !== undefined && isNearly(checksum, known ?? ''))
    const [first] = plans
    if (!first) throw new RangeError('no way to end an archive')
    // Who cannot tell what the end was must not write over what is left of it.
    const plan = proven ?? (known ? undefined : first)
    await this.#writeFrames(plan ?? first, plan !== undefined)
    return { isEndRenewed: plan !== undefined && end === undefined, isEndProven: proven !== undefined }
  }

  /** @param isWhole false: only what is known for sure, headers and padding of what the index names */
  async #writeFrames(plan: ClosingPlan, isWhole: boolean): Promise<void> {
    const { front, end } = this.#archive
    const { volumeBytes } = front.record
    for (const { segment, bytes } of isWhole ? plan.documents : []) await this.#volumes.ensure(segment, bytes)
    for (const { volume, record, pieces } of plan.volumes) {
      this.#options.signal.throwIfAborted()
      const header = fileHeader(entryNames.volume, sizes.volumeRecord, { pax: false })
      await this.#volumes.ensure({ volume, offset: 0 }, header)
      if (record) await this.#volumes.ensure({ volume, offset: sizes.tarBlock }, record)
      let contentEnd = firstEntryOffset
      for (const { segment, size, name } of pieces) {
        const pax = needsPax(segment.name, size)
        await this.#volumes.ensure({ volume, offset: segment.headerOffset }, fileHeader(name, segment.length, { pax }))
        contentEnd = segment.offset + segment.length
        const padding = Buffer.alloc(padded(segment.length) - segment.length)
        await this.#volumes.ensure({ volume, offset: contentEnd }, padding)
        contentEnd += padding.byteLength
      }
      if (volume < plan.end.volume) await this.#volumes.finish(volume, { contentEnd, size: volumeBytes })
    }
    if (isWhole) await this.#writeEnd(plan, end)
  }

  async #writeEnd({ end, holes, checksum }: ClosingPlan, there: EndRecord | undefined): Promise<void> {
    if (checksum === undefined) return
    const bytes = endRecord(this.#archive.front, { volumes: end.volume, checksum, holes }, keptSignature(there))
    const header = fileHeader(entryNames.end, sizes.endRecord, { pax: false })
    await this.#volumes.ensure({ volume: end.volume, offset: end.headerOffset }, Buffer.concat([header, bytes]))
    const contentEnd = end.offset + end.length
    await this.#volumes.finish(end.volume, { contentEnd, size: contentEnd + sizes.tarEnd })
  }
}

/** A byte or two of the end record may be what is damaged. */
function isNearly(a: string, b: string): boolean {
  return a.length === b.length && [...a].filter((character, index) => character !== b[index]).length <= 4
}

/** The signature is over what is computed again: where that is right, so is the signature. */
function keptSignature(end: EndRecord | undefined): ArchiveSigner | undefined {
  const signature = end?.signature
  return signature && { key: signature.key, sign: () => signature }
}
