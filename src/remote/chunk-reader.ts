import { type ChunkConsumer, forEachChunk } from '../oci/chunk-stream.ts'

/** Chunks that may wait here: enough to keep the socket busy, and to spare a promise for most chunks. */
const maxQueuedBytes = 512 * 1024

/**
 * Pulls chunks out of a source: `take` as long as it gives any, then await `more`.
 *
 * Always end with `close`: it stops the producer where it stands.
 */
export class ChunkReader {
  readonly #queue: Uint8Array[] = []
  #queuedBytes = 0
  #isDone = false
  #isClosed = false
  #failure: { readonly error: unknown } | undefined
  #wakeReader: (() => void) | undefined
  #wakeProducer: (() => void) | undefined

  constructor(source: AsyncIterable<Uint8Array>) {
    forEachChunk(source, this.#accept).then(
      () => this.#end(undefined),
      (error: unknown) => this.#end({ error }),
    )
  }

  /** The next chunk, if it is here already. */
  take(): Uint8Array | undefined {
    const chunk = this.#queue.shift()
    if (chunk !== undefined) this.#queuedBytes -= chunk.byteLength
    if (this.#queuedBytes === 0) this.#letProduce()
    return chunk
  }

  /** Puts back what was not used. */
  unread(chunk: Uint8Array): void {
    this.#queue.unshift(chunk)
    this.#queuedBytes += chunk.byteLength
  }

  /** Waits for a chunk; false at the end. Rejects as the source does, after everything that came before was taken. */
  async more(): Promise<boolean> {
    while (this.#queue.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#isDone) return false
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve
      })
    }
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#letProduce()
  }

  readonly #accept: ChunkConsumer = (chunk) => {
    if (this.#isClosed) throw new ReaderClosed()
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.byteLength
    this.#wakeReader?.()
    return this.#queuedBytes < maxQueuedBytes ? undefined : this.#wanted()
  }

  async #wanted(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakeProducer = resolve
    })
    if (this.#isClosed) throw new ReaderClosed()
  }

  #letProduce(): void {
    this.#wakeProducer?.()
    this.#wakeProducer = undefined
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    this.#isDone = true
    this.#failure = failure
    this.#wakeReader?.()
  }
}

/** Stops a producer; nobody is left to see it. */
class ReaderClosed extends Error {}

/** The same chunks for `for await`. */
export async function* iterateChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new ChunkReader(source)
  try {
    for (;;) {
      const chunk = reader.take()
      if (chunk !== undefined) yield chunk
      else if (!(await reader.more())) return
    }
  } finally {
    reader.close()
  }
}
