/** One write call. Larger ones gain nothing and keep more memory busy. */
const batchBytes = 256 * 1024
const maxFree = 48

/**
 * Buffers in which what arrives is gathered, used again and again.
 *
 * Keeping the chunks of a source until they are written would save copying them. But chunks that outlive two young
 * collections wait for a full one: with sixteen blobs at a time that is a hundred megabytes.
 */
export class BatchPool {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(batchBytes)
  }

  giveBack(batch: Buffer): void {
    if (this.#free.length < maxFree) this.#free.push(batch)
  }
}
