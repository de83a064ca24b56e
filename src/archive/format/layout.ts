/**
 * Where every entry of an archive lies. Pure: the same entries and the same volume size give the same places, so that blobs
 * can be written in any order, an interrupted archive goes on, and a reader can tell what every byte has to be.
 *
 * Each volume is `volume.json`, entries, zeros. An entry that does not fit is cut into parts: a part fills its volume, the
 * next one is the first entry of the next volume.
 */
import { partName } from './entry-names.ts'
import { sizes } from './format.ts'
import { headerBytes, padded } from './tar-space.ts'

export interface LayoutEntry {
  readonly name: string
  /** Bytes of content. */
  readonly size: number
  /** True for what must not be cut. */
  readonly isWhole?: boolean
}

/** A contiguous piece of an entry in one volume. */
export interface Segment {
  /** From 1. */
  readonly volume: number
  /** Name of the tar entry: that of the whole, or `parts/NAME/000001`. */
  readonly name: string
  /** Of the tar header (or of the pax header before it), in the volume. */
  readonly headerOffset: number
  /** Of the content, in the volume. */
  readonly offset: number
  /** Of this piece in the content of the whole entry. */
  readonly start: number
  readonly length: number
}

export interface Place {
  readonly volume: number
  readonly offset: number
}

/** Entries begin here in every volume. */
export const firstEntryOffset = sizes.tarBlock + sizes.volumeRecord

/** Hands out places, one entry after the other. */
export class Layout {
  readonly #limit: number
  #volume = 1
  #position = firstEntryOffset

  /** @param volumeBytes size of every volume but the last; a multiple of 512 */
  constructor(volumeBytes: number) {
    this.#limit = volumeBytes - sizes.tarEnd
  }

  /** The volume that the next entry begins in, unless it does not fit there. */
  get volume(): number {
    return this.#volume
  }

  /** End of the last entry in the current volume. */
  get position(): number {
    return this.#position
  }

  place(entry: LayoutEntry): readonly Segment[] {
    const { name, size } = entry
    const needed = headerBytes(name, size) + padded(size)
    if (needed <= this.#rest()) return [this.#take(entry, name, { start: 0, length: size })]
    const smallest = headerBytes(partName(name, 1), size) + sizes.tarBlock
    const cannotBeCut = entry.isWhole === true || size === 0 || this.#rest() < smallest
    if (cannotBeCut) this.#turn()
    if (needed <= this.#rest()) return [this.#take(entry, name, { start: 0, length: size })]
    const segments: Segment[] = []
    for (let start = 0; start < size; ) {
      const part = partName(name, segments.length + 1)
      const length = Math.min(size - start, this.#rest() - headerBytes(part, size))
      segments.push(this.#take(entry, part, { start, length }))
      start += length
      if (start < size) this.#turn()
    }
    return segments
  }

  #rest(): number {
    return this.#limit - this.#position
  }

  #take({ size }: LayoutEntry, name: string, { start, length }: { start: number; length: number }): Segment {
    const headerOffset = this.#position
    const offset = headerOffset + headerBytes(name, size)
    this.#position = offset + padded(length)
    return { volume: this.#volume, name, headerOffset, offset, start, length }
  }

  #turn(): void {
    this.#volume += 1
    this.#position = firstEntryOffset
  }
}

/** The pieces of an entry whose content begins at `place`. */
export function segmentsAt({ name, size }: LayoutEntry, place: Place, volumeBytes: number): readonly Segment[] {
  const limit = volumeBytes - sizes.tarEnd
  if (padded(size) <= limit - place.offset) {
    const headerOffset = place.offset - headerBytes(name, size)
    return [{ volume: place.volume, name, headerOffset, offset: place.offset, start: 0, length: size }]
  }
  const segments: Segment[] = []
  let { volume, offset } = place
  for (let start = 0; start < size; volume += 1) {
    const part = partName(name, segments.length + 1)
    const header = headerBytes(part, size)
    if (segments.length > 0) offset = firstEntryOffset + header
    const length = Math.min(size - start, limit - offset)
    segments.push({ volume, name: part, headerOffset: offset - header, offset, start, length })
    start += length
  }
  return segments
}
