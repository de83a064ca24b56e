/**
 * Buffers that are read into again and again.
 *
 * A gigabyte that is read into fresh buffers is a gigabyte for the garbage collector, which notices late: half the time
 * and a hundred megabytes went there. A chunk that nobody gives back is simply collected.
 */

const bufferBytes = 256 * 1024
const maxFree = 64

export class ChunkPool {
  readonly #free: Uint8Array[] = []
  /** The whole buffer of each chunk that was lent. */
  readonly #lent = new WeakMap<Uint8Array, Uint8Array>()

  /** A buffer to read into. */
  take(): Uint8Array {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)
  }

  /** The first `length` bytes of a buffer from `take`, to be given back by whoever is last to read them. */
  lend(buffer: Uint8Array, length: number): Uint8Array {
    const chunk = buffer.subarray(0, length)
    this.#lent.set(chunk, buffer)
    return chunk
  }

  /** Takes a lent chunk back; nothing happens with any other, or with a part of one. */
  giveBack(chunk: Uint8Array): void {
    const buffer = this.#lent.get(chunk)
    if (buffer === undefined) return
    this.#lent.delete(chunk)
    this.discard(buffer)
  }

  /** Takes back a buffer that was not lent. */
  discard(buffer: Uint8Array): void {
    if (this.#free.length < maxFree) this.#free.push(buffer)
  }
}
