/**
 * Reads every byte of every volume of an archive once, and tells which are not what they have to be.
 *
 * Blobs are proven by their digests; every other byte follows from the index and is compared. A cut blob that is wrong can be
 * wrong in any of its pieces: which one, the checksums tell that each volume has for the one before.
 */
import { algorithmOf, type Digest, digestOf, hasherFor, hexOf } from '../../oci/digest.ts'
import { endRecord, holesOf, volumeRecord } from '../format/closing-entries.ts'
import { entryNames, sizes } from '../format/format.ts'
import type { Segment } from '../format/layout.ts'
import type { Archive } from '../read/archive.ts'
import type { ReadVolumes } from '../read/read-volumes.ts'
import { isNear, readEnd, readPrevious } from '../read/recorded-checksum.ts'
import { fileHeader } from '../tar/ustar.ts'
import { type DamagedRange, DamageLog } from './damage-log.ts'
import { type ExpectedEntry, type ExpectedPiece, expectedContent } from './expected-pieces.ts'
import { SequentialReader } from './sequential-reader.ts'
import { type EntryState, VolumeCheck, type VolumeSum } from './verify-volume.ts'

export interface VerifyContentOptions {
  readonly files: ReadVolumes
  /** Volumes of another archive: they are not looked into. */
  readonly foreign: ReadonlySet<number>
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes that were read since the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

export interface VerifiedContent {
  readonly ranges: readonly DamagedRange[]
  /** Entries of the index that are damaged, by name. */
  readonly entries: readonly string[]
  /** Blobs and manifests that are damaged, or lie in missing volumes. */
  readonly blobs: readonly Digest[]
  /** Blobs with zeros in their place. */
  readonly holes: readonly Digest[]
  readonly bytes: number
}

export async function verifyContent(archive: Archive, options: VerifyContentOptions): Promise<VerifiedContent> {
  return new ContentCheck(archive, options).run()
}

class ContentCheck {
  readonly #archive: Archive
  readonly #options: VerifyContentOptions
  readonly #log = new DamageLog()
  readonly #states = new Map<ExpectedEntry, EntryState>()
  readonly #failed = new Map<ExpectedEntry, readonly Segment[]>()
  readonly #holes = new Set<Digest>()
  /** Volumes whose content does not fit the checksum that is recorded for them. */
  readonly #misfits = new Map<number, VolumeSum>()
  /** Volumes for which no checksum is recorded, because the next one is not there. */
  readonly #unchecked = new Set<number>()
  /** Volumes for which a checksum is recorded that cannot be read, and those that hold it: any piece in them can be wrong. */
  readonly #doubtful = new Set<number>()
  #before: VolumeSum | undefined
  #bytes = 0

  constructor(archive: Archive, options: VerifyContentOptions) {
    this.#archive = archive
    this.#options = options
    for (const digest of archive.holes?.blobs ?? []) this.#holes.add(digest)
  }

  async run(): Promise<VerifiedContent> {
    const { entries, end } = expectedContent(this.#archive)
    const pieces = piecesOf(entries)
    let next = pieces.next()
    for (let volume = 1; volume <= Math.max(end.volume, this.#archive.volumes); volume += 1) {
      const own: ExpectedPiece[] = []
      for (; !next.done && next.value.segment.volume === volume; next = pieces.next()) own.push(next.value)
      if (this.#isThere(volume)) await this.#checkVolume(volume, own, end.volume === volume)
      else this.#loseVolume(volume, own)
    }
    this.#locate()
    const failed = [...this.#failed.keys()]
    return {
      ranges: this.#log.ranges,
      entries: failed.filter(({ isBlob }) => !isBlob).map(({ name }) => name),
      blobs: failed.flatMap(({ isBlob, digest }) => (isBlob && digest ? [digest] : [])),
      holes: [...this.#holes],
      bytes: this.#bytes,
    }
  }

  #isThere(volume: number): boolean {
    return this.#options.files.sizeOf(volume) !== undefined && !this.#options.foreign.has(volume)
  }

  #loseVolume(volume: number, pieces: readonly ExpectedPiece[]): void {
    if (this.#before) this.#unchecked.add(this.#before.volume)
    this.#before = undefined
    const end = this.#options.files.sizeOf(volume) ?? this.#archive.expectedSize(volume) ?? sizes.tarEnd
    const kind = this.#options.foreign.has(volume) ? 'foreign' : 'missing'
    this.#log.add({ volume, file: this.#archive.pathOf(volume), start: 0, end, entry: 'everything', kind })
    for (const { entry, segment } of pieces) this.#lose(entry, segment)
  }

  #lose(entry: ExpectedEntry, segment: Segment): void {
    const state = this.#stateOf(entry)
    state.broken.push(segment)
    if (segment === entry.segments.at(-1)) this.#complete(entry, state)
  }

  async #checkVolume(volume: number, pieces: readonly ExpectedPiece[], isLast: boolean): Promise<void> {
    const { files, signal, onBytes } = this.#options
    const file = this.#archive.pathOf(volume)
    const size = files.sizeOf(volume) ?? 0
    const log = this.#log
    const reader = new SequentialReader(files, volume, {
      size,
      onUnreadable: (range) =>
        log.add({ volume, file, ...range, entry: 'what the disk does not give', kind: 'unreadable' }),
      onBytes: (bytes) => {
        signal?.throwIfAborted()
        this.#bytes += bytes
        onBytes?.(bytes)
      },
    })
    try {
      const check = new VolumeCheck({ volume, file, reader, log })
      await this.#checkRecord(check, volume)
      for (const piece of pieces) await this.#checkPiece(check, piece)
      if (isLast) await this.#checkEnd(check, volume)
      const expected = isLast ? check.position + sizes.tarEnd : this.#archive.record.volumeBytes
      await check.expectZeros(expected - check.position, { entry: 'zeros at the end', kind: 'frame' })
      log.add({ volume, file, start: size, end: expected, entry: 'the rest of the file', kind: 'cut' })
      log.add({ volume, file, start: expected, end: size, entry: 'more than was written', kind: 'longer' })
      this.#before = check.sum()
    } finally {
      await reader.close()
    }
  }

  /** `volume.json`, and with it the checksum of the volume before. */
  async #checkRecord(check: VolumeCheck, volume: number): Promise<void> {
    const what = { entry: entryNames.volume, kind: 'record' } as const
    const header = fileHeader(entryNames.volume, sizes.volumeRecord, { pax: false })
    await check.expect(header, { entry: `header of ${entryNames.volume}`, kind: 'frame' })
    const actual = await check.take(sizes.volumeRecord)
    const recorded = readPrevious(actual)
    const isTaken = volume > 1 && recorded !== undefined && !this.#mustBe(recorded)
    const previous = isTaken ? recorded : (this.#before?.checksum ?? null)
    const expected = volumeRecord(this.#index(), volume, previous)
    check.compare(actual, expected, what)
    const sum = hexOf(digestOf(expected))
    if (recorded === undefined) this.#doubt(volume)
    if (!isTaken) return check.list(entryNames.volume, sum)
    if (this.#before && recorded !== this.#before.checksum) this.#misfit(this.#before)
    const start = check.position - sizes.volumeRecord
    check.listUnproven(sum, { entry: undefined, name: entryNames.volume, start, end: check.position })
  }

  #doubt(volume: number): void {
    if (!this.#before || this.#before.unproven.length === 0) return
    this.#doubtful.add(this.#before.volume).add(volume)
  }

  /** A checksum that does not fit tells nothing where a record in the volume cannot be told from damage. */
  #misfit(sum: VolumeSum): void {
    if (!this.#doubtful.has(sum.volume)) this.#misfits.set(sum.volume, sum)
  }

  /**
   * True where the checksum of the volume before is known better than it is recorded: because everything in that volume
   * is proven otherwise, or because only a few digits differ, which no other content would give.
   */
  #mustBe(recorded: string): boolean {
    if (!this.#before) return false
    return this.#before.unproven.length === 0 || isNear(recorded, this.#before.checksum)
  }

  async #checkPiece(check: VolumeCheck, piece: ExpectedPiece): Promise<void> {
    const { entry, segment } = piece
    const state = this.#stateOf(entry)
    await check.piece(piece, state)
    if (segment === entry.segments.at(-1)) this.#complete(entry, state)
  }

  async #checkEnd(check: VolumeCheck, volume: number): Promise<void> {
    const header = fileHeader(entryNames.end, sizes.endRecord, { pax: false })
    await check.expect(header, { entry: `header of ${entryNames.end}`, kind: 'frame' })
    const actual = await check.take(sizes.endRecord)
    const recorded = readEnd(actual)
    const sum = check.sum()
    const isTaken =
      recorded.checksum !== undefined && sum.unproven.length > 0 && !isNear(recorded.checksum, sum.checksum)
    const checksum = isTaken ? (recorded.checksum ?? '') : sum.checksum
    if (isTaken) this.#misfit(sum)
    if (recorded.checksum === undefined) this.#doubtful.add(volume)
    const holes = this.#archive.holes ?? holesOf(this.#index(), [], [...this.#holes])
    const { signature } = recorded
    const signer = signature && { key: signature.key, sign: () => signature }
    const expected = endRecord(this.#index(), { volumes: volume, checksum, holes }, signer)
    check.compare(actual, doubtingSignature(expected, actual), { entry: entryNames.end, kind: 'record' })
  }

  #index() {
    return { id: this.#archive.id, record: this.#archive.record, blobs: [] }
  }

  #stateOf(entry: ExpectedEntry): EntryState {
    const known = this.#states.get(entry)
    if (known) return known
    const { digest } = entry
    const hash = digest && hasherFor(algorithmOf(digest))
    const state: EntryState = {
      hash,
      isHole: digest !== undefined && entry.isBlob && this.#holes.has(digest),
      broken: [],
    }
    this.#states.set(entry, state)
    return state
  }

  #complete(entry: ExpectedEntry, { hash, isHole, broken }: EntryState): void {
    this.#states.delete(entry)
    const { digest } = entry
    if (!digest || !hash) return
    if (isHole) return void this.#holes.add(digest)
    this.#holes.delete(digest)
    if (broken.length > 0 || hash.digest('hex') !== hexOf(digest)) this.#failed.set(entry, broken)
  }

  /** Tells which pieces are the wrong ones, now that all checksums are known. */
  #locate(): void {
    const explained = new Set<number>()
    for (const [entry, broken] of this.#failed) {
      const misfits = entry.segments.filter(({ volume }) => this.#misfits.has(volume) || this.#doubtful.has(volume))
      for (const { volume } of misfits) explained.add(volume)
      const found = new Set([...broken, ...misfits])
      const open = entry.segments.filter(({ volume }) => this.#unchecked.has(volume))
      const suspects = [found, new Set(open), new Set(entry.segments)].find(({ size }) => size > 0) ?? found
      for (const segment of suspects) if (this.#isThere(segment.volume)) this.#damaged(entry, segment)
    }
    for (const [volume, { unproven }] of this.#misfits) if (!explained.has(volume)) this.#suspect(volume, unproven)
  }

  #damaged({ name, isBlob, digest }: ExpectedEntry, { volume, offset, length }: Segment): void {
    const [start, end] = [offset, Math.min(offset + length, this.#options.files.sizeOf(volume) ?? 0)]
    const kind = isBlob ? 'content' : 'record'
    const file = this.#archive.pathOf(volume)
    this.#log.add({ volume, file, start, end, entry: name, kind, ...(isBlob && digest && { digest }) })
  }

  /** Nothing in the volume is proven wrong, and yet its checksum is: what only that could prove is, or the checksum. */
  #suspect(volume: number, unproven: VolumeSum['unproven']): void {
    const others = unproven.filter(({ entry }) => entry?.digest === undefined)
    const kind = 'record'
    for (const { name, start, end } of others) {
      this.#log.add({ volume, file: this.#archive.pathOf(volume), start, end, entry: name, kind })
    }
    if (others.length > 0) return
    const [entry, start, end] = [entryNames.volume, sizes.tarBlock, sizes.tarBlock + sizes.volumeRecord]
    this.#log.add({ volume: volume + 1, file: this.#archive.pathOf(volume + 1), start, end, entry, kind })
  }
}

/**
 * What an end record should be, given what it is. Where a signature and its sum do not fit, it may be the one or the other:
 * then all of both counts as wrong.
 */
function doubtingSignature(expected: Uint8Array, actual: Uint8Array): Uint8Array {
  const bytes = Buffer.from(expected)
  const start = bytes.indexOf('"signature"')
  const end = bytes.indexOf('}}')
  if (start < 0 || bytes.subarray(start, end).equals(actual.subarray(start, end))) return expected
  for (let at = start; at < end; at += 1) bytes[at] = 0xff
  return bytes
}

function* piecesOf(entries: Iterable<ExpectedEntry>): Generator<ExpectedPiece> {
  for (const entry of entries) for (const segment of entry.segments) yield { entry, segment }
}
