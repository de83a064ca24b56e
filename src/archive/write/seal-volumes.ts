/**
 * Finishes volumes, one after the other: headers, the record with the checksum of the volume before, zeros up to the exact
 * size, and the final name.
 */
import { mapConcurrently } from '../../host/concurrency.ts'
import { hasherFor } from '../../oci/digest.ts'
import { volumeRecord } from '../format/closing-entries.ts'
import type { ArchiveFront } from '../format/compose-front.ts'
import { holeName } from '../format/entry-names.ts'
import { entryNames, sizes } from '../format/format.ts'
import type { Segment } from '../format/layout.ts'
import { needsPax } from '../format/tar-space.ts'
import { fileHeader } from '../tar/ustar.ts'
import type { ProgressFile } from './write-progress.ts'
import type { WrittenEntries, WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

/** A piece of an entry in the volume that is being sealed. */
interface Piece {
  readonly segment: Segment
  /** Of the whole entry. */
  readonly size: number
  readonly isHole: boolean
  readonly sum: string
}

interface SealerOptions {
  readonly front: ArchiveFront
  readonly entries: WrittenEntries
  readonly volumes: WrittenVolumes
  readonly progress: ProgressFile
  /** How many volumes an earlier run sealed, and the checksum of the last of them. */
  readonly sealed: number
  readonly checksum: string | null
  readonly onSealed: (volume: number) => void
}

const headersAtOnce = 8

export class VolumeSealer {
  readonly #options: SealerOptions
  /** For each volume, how many entries with a piece in it are neither written nor given up. */
  readonly #awaited: number[] = []
  #sealed: number
  #checksum: string | null
  /** Index of the first entry with a piece behind the sealed volumes. */
  #cursor = 0
  /** As they were before the first volume with closing entries was sealed. */
  #beforeLast: { checksum: string | null; cursor: number } = { checksum: null, cursor: 0 }
  #sealing: Promise<void> | undefined

  constructor(options: SealerOptions) {
    this.#options = options
    this.#sealed = options.sealed
    this.#checksum = options.checksum
    for (const entry of options.entries.all) if (entry.state === 'missing') this.#count(entry, 1)
  }

  /** Everything in an entry's place is now as it has to be. */
  settled(entry: WrittenEntry): void {
    this.#count(entry, -1)
  }

  /** Seals every volume that has nothing to wait for, except the one that the closing entries begin in. */
  async sealReady(): Promise<void> {
    while (this.#isReady(this.#sealed + 1)) {
      this.#sealing ??= this.#seal(this.#sealed + 1, []).finally(() => {
        this.#sealing = undefined
      })
      await this.#sealing
    }
  }

  /**
   * Seals the volumes from the first with closing entries on.
   *
   * @param renderEnd makes the last entry, once the checksum and the number of volumes are known
   * @returns the checksum of the last volume
   */
  async sealLast(
    closing: readonly WrittenEntry[],
    end: Segment,
    renderEnd: (volumes: number, checksum: string) => Uint8Array,
  ): Promise<string> {
    const pieces = closing.flatMap(piecesOf)
    while (this.#sealed + 1 < end.volume) await this.#seal(this.#sealed + 1, pieces)
    await this.#seal(end.volume, pieces, async (checksum) => {
      const header = fileHeader(entryNames.end, sizes.endRecord, { pax: false })
      const bytes = Buffer.concat([header, renderEnd(end.volume, checksum)])
      await this.#options.volumes.writeWhole(end.volume, bytes, end.headerOffset)
      return end.offset + end.length + sizes.tarEnd
    })
    return this.#checksum ?? ''
  }

  /** Takes back what `sealLast` did before it failed. */
  rewind(): void {
    const { entries, volumes } = this.#options
    if (this.#sealed < entries.layout.volume) return
    this.#sealed = entries.layout.volume - 1
    this.#checksum = this.#beforeLast.checksum
    this.#cursor = this.#beforeLast.cursor
    volumes.unseal(this.#sealed)
  }

  #count(entry: WrittenEntry, change: number): void {
    for (const { volume } of entry.segments) this.#awaited[volume] = (this.#awaited[volume] ?? 0) + change
  }

  #isReady(volume: number): boolean {
    return volume < this.#options.entries.layout.volume && !this.#awaited[volume]
  }

  /**
   * @param closing pieces that come after those of blobs and manifests
   * @param writeEnd writes what the checksum goes into, and gives the size of the volume
   */
  async #seal(
    volume: number,
    closing: readonly Piece[],
    writeEnd?: (checksum: string) => Promise<number>,
  ): Promise<void> {
    const { volumes, progress, front } = this.#options
    const { pieces: own, cursor } = this.#piecesIn(volume)
    const pieces = [...own, ...closing.filter(({ segment }) => segment.volume === volume)]
    const record = volumeRecord(front, volume, this.#checksum)
    const checksum = checksumOf(record, pieces)
    const header = fileHeader(entryNames.volume, sizes.volumeRecord, { pax: false })
    await volumes.writeWhole(volume, Buffer.concat([header, record]), 0)
    await mapConcurrently(pieces, headersAtOnce, (piece) => this.#writeHeader(piece))
    const size = await writeEnd?.(checksum)
    await volumes.finish(volume, size ?? front.record.volumeBytes)
    await progress.append({ sealed: volume, checksum })
    volumes.seal(volume)
    if (volume === this.#options.entries.layout.volume) {
      this.#beforeLast = { checksum: this.#checksum, cursor: this.#cursor }
    }
    this.#sealed = volume
    this.#checksum = checksum
    this.#cursor = cursor
    this.#options.onSealed(volume)
  }

  #writeHeader({ segment, size, isHole }: Piece): Promise<void> {
    const name = isHole ? holeName(segment.name) : segment.name
    const header = fileHeader(name, segment.length, { pax: needsPax(segment.name, size) })
    return this.#options.volumes.writeWhole(segment.volume, header, segment.headerOffset)
  }

  /** The pieces of index, plan, blobs and manifests in a volume, and where to look for those of the next one. */
  #piecesIn(volume: number): { pieces: Piece[]; cursor: number } {
    const { all } = this.#options.entries
    const pieces: Piece[] = []
    let cursor = this.#cursor
    for (; cursor < all.length; cursor += 1) {
      const entry = all[cursor]
      if (!entry || entry.firstVolume > volume) break
      const ofEntry = piecesOf(entry)
      pieces.push(...ofEntry.filter(({ segment }) => segment.volume === volume))
      if ((ofEntry.at(-1)?.segment.volume ?? 0) > volume) break
    }
    return { pieces, cursor }
  }
}

function piecesOf(entry: WrittenEntry): Piece[] {
  return entry.segments.map((segment, index) => {
    const sum = entry.sums?.[index]
    if (sum === undefined) throw new Error(`${segment.name} was not hashed`)
    return { segment, size: entry.size, isHole: entry.state === 'hole', sum }
  })
}

/** sha256 of the lines that `sha256sum` would print of the entries. */
function checksumOf(record: Uint8Array, pieces: readonly Piece[]): string {
  const sum = hasherFor('sha256').update(record).digest('hex')
  const checksum = hasherFor('sha256').update(`${sum}  ${entryNames.volume}\n`)
  for (const { sum, segment, isHole } of pieces) {
    checksum.update(`${sum}  ${isHole ? holeName(segment.name) : segment.name}\n`)
  }
  return checksum.digest('hex')
}
