/** One volume, from its first byte to its last, against what its archive says that every byte has to be. */
import type { Hash } from 'node:crypto'
import { algorithmOf, digestOf, hasherFor, hexOf } from '../../oci/digest.ts'
import { holeName } from '../format/entry-names.ts'
import { entryNames, sizes } from '../format/format.ts'
import type { Segment } from '../format/layout.ts'
import { padded } from '../format/tar-space.ts'
import { fileHeader } from '../tar/ustar.ts'
import { type DamageKind, type DamageLog, difference } from './damage-log.ts'
import type { ExpectedEntry, ExpectedPiece } from './expected-pieces.ts'
import type { SequentialReader } from './sequential-reader.ts'

/** What becomes of an entry over all of its pieces. */
export interface EntryState {
  readonly hash: Hash | undefined
  isHole: boolean
  /** Pieces that are wrong whatever the digest says: not there, or of a hole that is not empty. */
  readonly broken: Segment[]
}

/** A piece that only the checksum of its volume can prove. */
export interface Unproven {
  readonly entry: ExpectedEntry | undefined
  readonly name: string
  readonly start: number
  readonly end: number
}

export interface VolumeSum {
  readonly volume: number
  readonly checksum: string
  readonly unproven: readonly Unproven[]
}

interface VolumeOptions {
  readonly volume: number
  /** Name of the file. */
  readonly file: string
  readonly reader: SequentialReader
  readonly log: DamageLog
}

const zeroBlock = Buffer.alloc(512 * 1024)

export class VolumeCheck {
  readonly #options: VolumeOptions
  /** The list whose sha256 is the checksum of the volume. */
  readonly #list = hasherFor('sha256')
  readonly #unproven: Unproven[] = []
  #position = 0

  constructor(options: VolumeOptions) {
    this.#options = options
  }

  /** Of the next byte to be read, in the file. */
  get position(): number {
    return this.#position
  }

  sum(): VolumeSum {
    const { volume } = this.#options
    return { volume, checksum: this.#list.copy().digest('hex'), unproven: this.#unproven }
  }

  /** The next bytes, whatever they are; fewer where the volume ends. */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.#options.reader.take(length)
    this.#position += length
    return bytes
  }

  /** Notes where bytes that were taken differ from what they have to be. */
  compare(actual: Uint8Array, expected: Uint8Array, { entry, kind }: { entry: string; kind: DamageKind }): void {
    const found = difference(actual, expected)
    const begin = this.#position - expected.byteLength
    if (found) this.#note({ start: begin + found.start, end: begin + found.end, entry, kind })
  }

  /** Compares the next bytes. */
  async expect(expected: Uint8Array, what: { entry: string; kind: DamageKind }): Promise<void> {
    this.compare(await this.take(expected.byteLength), expected, what)
  }

  async expectZeros(length: number, what: { entry: string; kind: DamageKind }): Promise<void> {
    let at = this.#position
    await this.#options.reader.read(length, (part) => {
      for (let start = 0; start < part.byteLength; start += zeroBlock.byteLength) {
        const bytes = part.subarray(start, start + zeroBlock.byteLength)
        const found = difference(bytes, zeroBlock.subarray(0, bytes.byteLength))
        if (found) this.#note({ start: at + start + found.start, end: at + start + found.end, ...what })
      }
      at += part.byteLength
    })
    this.#position += length
  }

  /** Enters a line into the list of the volume. */
  list(name: string, sha256: string): void {
    this.#list.update(`${sha256}  ${name}\n`)
  }

  /** Enters one that nothing but the checksum of the volume can prove. */
  listUnproven(sha256: string, unproven: Unproven): void {
    this.list(unproven.name, sha256)
    this.#unproven.push(unproven)
  }

  /** Header, content and padding of a piece. */
  async piece({ entry, segment }: ExpectedPiece, state: EntryState): Promise<void> {
    await this.#header(segment, state)
    const { bytes } = entry
    if (bytes) await this.#known(segment, { bytes, isProvenElsewhere: entry.name !== entryNames.holes })
    else if (state.isHole) await this.#hole(segment)
    else await this.#hashed({ entry, segment }, state)
    const { length, name } = segment
    await this.expectZeros(padded(length) - length, { entry: `padding after ${name}`, kind: 'frame' })
  }

  async #header({ name, offset, headerOffset, length, start }: Segment, state: EntryState): Promise<void> {
    const pax = offset - headerOffset > sizes.tarBlock
    const content = fileHeader(name, length, { pax })
    const hole = fileHeader(holeName(name), length, { pax })
    const actual = await this.take(content.byteLength)
    // What the volume says of itself counts more than the list at the end of the archive.
    if (start === 0 && actual.equals(state.isHole ? content : hole)) state.isHole = !state.isHole
    this.compare(actual, state.isHole ? hole : content, { entry: `header of ${name}`, kind: 'frame' })
  }

  async #known(
    { name, start, length }: Segment,
    { bytes, isProvenElsewhere }: { bytes: Uint8Array; isProvenElsewhere: boolean },
  ): Promise<void> {
    const expected = bytes.subarray(start, start + length)
    const begin = this.#position
    this.compare(await this.take(length), expected, { entry: name, kind: 'record' })
    const sum = hexOf(digestOf(expected))
    if (isProvenElsewhere) this.list(name, sum)
    else this.listUnproven(sum, { entry: undefined, name, start: begin, end: begin + length })
  }

  async #hole({ name, length }: Segment): Promise<void> {
    await this.expectZeros(length, { entry: holeName(name), kind: 'frame' })
    this.list(holeName(name), '0'.repeat(64))
  }

  async #hashed({ entry, segment }: ExpectedPiece, state: EntryState): Promise<void> {
    const { name, length } = segment
    const isWhole = entry.segments.length === 1
    const isOwnSum = isWhole && entry.digest !== undefined && algorithmOf(entry.digest) === 'sha256'
    const piece = isOwnSum ? undefined : hasherFor('sha256')
    const begin = this.#position
    let received = 0
    await this.#options.reader.read(length, (part) => {
      received += part.byteLength
      state.hash?.update(part)
      piece?.update(part)
    })
    this.#position += length
    if (received < length) state.broken.push(segment)
    if (!piece) return this.list(name, hexOf(entry.digest ?? 'sha256:'))
    this.listUnproven(piece.digest('hex'), { entry, name, start: begin, end: begin + length })
  }

  #note(range: { start: number; end: number; entry: string; kind: DamageKind }): void {
    const { log, volume, file } = this.#options
    log.add({ volume, file, ...range })
  }
}
