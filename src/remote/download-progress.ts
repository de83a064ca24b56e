import type { ChunkConsumer, ConsumeOptions } from '../oci/chunk-stream.ts'

/** Where a download stands, across all the answers that it takes. */
export class DownloadProgress {
  position: number
  /** Bytes at the start of the current answer that were consumed before. */
  skip = 0
  isConsumersFault = false
  readonly options: ConsumeOptions | undefined
  readonly #consume: ChunkConsumer

  constructor(position: number, consume: ChunkConsumer, options: ConsumeOptions | undefined) {
    this.options = options
    this.position = position
    this.#consume = consume
  }

  accept(chunk: Uint8Array): Promise<void> | undefined {
    if (this.skip >= chunk.byteLength) {
      this.skip -= chunk.byteLength
      return undefined
    }
    const fresh = this.skip === 0 ? chunk : chunk.subarray(this.skip)
    this.skip = 0
    this.position += fresh.byteLength
    try {
      return this.#consume(fresh)?.catch((error: unknown) => this.#blameConsumer(error))
    } catch (error) {
      return this.#blameConsumer(error)
    }
  }

  #blameConsumer(error: unknown): never {
    this.isConsumersFault = true
    throw error
  }
}
