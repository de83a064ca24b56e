import type { Segment } from './layout.ts'
import type { WrittenVolumes } from './written-volumes.ts'

/** One write call. Larger ones gain nothing and keep more memory busy. */
const batchBytes = 512 * 1024
/** More than this unwritten, and the sender has to wait. */
const maxPendingBytes = 2 * batchBytes

/**
 * Writes the bytes of one entry to its place, which may be in several volumes. Chunks are gathered and written in batches
 * while the next ones arrive.
 */
export class PlacedWriter {
  readonly #files: WrittenVolumes
  readonly #segments: readonly Segment[]
  readonly #onWritten: (written: number) => void
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #written: number
  #piece = 0
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  /**
   * @param start bytes of the entry that are there already
   * @param onWritten called with how many bytes of the entry are in its place, whenever there are more
   */
  constructor(
    files: WrittenVolumes,
    segments: readonly Segment[],
    { start = 0, onWritten }: { readonly start?: number; readonly onWritten: (written: number) => void },
  ) {
    this.#files = files
    this.#segments = segments
    this.#written = start
    this.#onWritten = onWritten
  }

  /** How many bytes of the entry are in its place. */
  get written(): number {
    return this.#written
  }

  /**
   * Takes the next bytes. Where a promise is returned, wait for it before the next call.
   *
   * @throws KnownError DISK_FULL, ARCHIVE_VOLUME_TOO_LARGE
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#failure) throw this.#failure.error
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.byteLength
    if (this.#pendingBytes < batchBytes) return undefined
    this.#writing ??= this.#writeDownTo(batchBytes)
    return this.#pendingBytes < maxPendingBytes ? undefined : this.#writing
  }

  /** Waits until everything accepted is in its place (not yet on the disk). */
  async settle(): Promise<void> {
    await this.#writing
    await this.#writeDownTo(1)
    if (this.#failure) throw this.#failure.error
  }

  /** Writes until fewer than `limit` bytes are pending. */
  async #writeDownTo(limit: number): Promise<void> {
    try {
      while (this.#pendingBytes >= limit && !this.#failure) await this.#writeOnce()
    } catch (error) {
      this.#failure = { error }
      this.#pending = []
      this.#pendingBytes = 0
    } finally {
      this.#writing = undefined
    }
  }

  async #writeOnce(): Promise<void> {
    const segment = this.#currentPiece()
    const within = this.#written - segment.start
    const chunks = firstBytes(this.#pending, segment.length - within)
    const count = await this.#files.write(segment.volume, chunks, segment.offset + within)
    this.#drop(count)
    this.#written += count
    this.#onWritten(this.#written)
  }

  #currentPiece(): Segment {
    for (; ; this.#piece += 1) {
      const segment = this.#segments[this.#piece]
      if (segment === undefined) throw new RangeError(`byte ${this.#written} has no place`)
      if (this.#written < segment.start + segment.length) return segment
    }
  }

  /** Takes what is written off the pending chunks; a write may be short. */
  #drop(count: number): void {
    this.#pendingBytes -= count
    let rest = count
    let whole = 0
    for (const chunk of this.#pending) {
      if (chunk.byteLength > rest) break
      rest -= chunk.byteLength
      whole += 1
    }
    this.#pending.splice(0, whole)
    const [first] = this.#pending
    if (rest > 0 && first !== undefined) this.#pending[0] = first.subarray(rest)
  }
}

/** The chunks up to `room` bytes, the last one cut where it has to be. */
function firstBytes(chunks: readonly Uint8Array[], room: number): Uint8Array[] {
  const taken: Uint8Array[] = []
  let left = room
  for (const chunk of chunks) {
    taken.push(chunk.byteLength <= left ? chunk : chunk.subarray(0, left))
    left -= chunk.byteLength
    if (left <= 0) break
  }
  return taken
}
