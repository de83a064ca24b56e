import type { Segment } from '../format/layout.ts'
import type { WrittenVolumes } from './written-volumes.ts'

/** More full batches than this, and the sender has to wait. */
const maxWaiting = 2

/**
 * Writes the bytes of one entry to its place, which may be in several volumes. They are gathered, and written in batches
 * while the next ones arrive.
 */
export class PlacedWriter {
  readonly #volumes: WrittenVolumes
  readonly #segments: readonly Segment[]
  readonly #onWritten: (written: number) => void
  #written: number
  #piece = 0
  #batch: Buffer | undefined
  /** Bytes in the batch that is being filled. */
  #filled = 0
  /** Full ones, the next to be written first. */
  readonly #waiting: { readonly batch: Buffer; readonly length: number }[] = []
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  /**
   * @param start bytes of the entry that are there already
   * @param onWritten called with how many bytes of the entry are in its place, whenever there are more
   */
  constructor(
    volumes: WrittenVolumes,
    segments: readonly Segment[],
    { start = 0, onWritten }: { readonly start?: number; readonly onWritten?: (written: number) => void } = {},
  ) {
    this.#volumes = volumes
    this.#segments = segments
    this.#written = start
    this.#onWritten = onWritten ?? (() => undefined)
  }

  /** How many bytes of the entry are in its place. */
  get written(): number {
    return this.#written
  }

  /**
   * Takes the next bytes; they may be overwritten afterwards. Where a promise is returned, wait for it before the next call.
   *
   * @throws KnownError DISK_FULL, ARCHIVE_VOLUME_TOO_LARGE
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#failure) throw this.#failure.error
    for (let taken = 0; taken < chunk.byteLength; ) {
      this.#batch ??= this.#volumes.batches.take()
      const part = chunk.subarray(taken, taken + this.#batch.byteLength - this.#filled)
      this.#batch.set(part, this.#filled)
      this.#filled += part.byteLength
      taken += part.byteLength
      if (this.#filled === this.#batch.byteLength) this.#turn(this.#batch)
    }
    if (this.#waiting.length === 0) return undefined
    this.#writing ??= this.#writeWaiting()
    return this.#waiting.length < maxWaiting ? undefined : this.#writing
  }

  /** Waits until everything accepted is in its place (not yet on the disk). */
  async settle(): Promise<void> {
    await this.#writing
    if (this.#batch) this.#turn(this.#batch)
    await this.#writeWaiting()
    if (this.#failure) throw this.#failure.error
  }

  #turn(batch: Buffer): void {
    this.#waiting.push({ batch, length: this.#filled })
    this.#batch = undefined
    this.#filled = 0
  }

  async #writeWaiting(): Promise<void> {
    try {
      for (let next = this.#waiting[0]; next && !this.#failure; next = this.#waiting[0]) {
        await this.#writeBatch(next.batch.subarray(0, next.length))
        this.#waiting.shift()
        this.#volumes.batches.giveBack(next.batch)
      }
    } catch (error) {
      this.#failure = { error }
      this.#waiting.length = 0
    } finally {
      this.#writing = undefined
    }
  }

  async #writeBatch(batch: Buffer): Promise<void> {
    for (let done = 0; done < batch.byteLength; ) {
      const segment = this.#currentPiece()
      const within = this.#written - segment.start
      const part = batch.subarray(done, done + segment.length - within)
      const count = await this.#volumes.write(segment.volume, part, segment.offset + within)
      done += count
      this.#written += count
      this.#onWritten(this.#written)
    }
  }

  #currentPiece(): Segment {
    for (; ; this.#piece += 1) {
      const segment = this.#segments[this.#piece]
      if (segment === undefined) throw new RangeError(`byte ${this.#written} has no place`)
      if (this.#written < segment.start + segment.length) return segment
    }
  }
}
