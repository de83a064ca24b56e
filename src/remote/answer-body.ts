/**
 * The body of an answer, whichever way it comes: node:http's message, or a connection of `bulk-connection.ts`.
 */
import type { IncomingMessage } from 'node:http'
import type { ChunkConsumer, ConsumeOptions } from '../oci/chunk-stream.ts'
import type { IdleWatch } from './idle-watch.ts'

/** To be read to its end, drained or destroyed: until then it holds a connection. */
export interface AnswerBody {
  /**
   * Hands every chunk to `consume` and waits where it returns a promise. A chunk belongs to the consumer, who may give it
   * back to the pool it came from, unless it asked for transient ones. Rejects when the connection is cut, and as `consume`
   * does.
   */
  forEachChunk(consume: ChunkConsumer, options?: ConsumeOptions): Promise<void>
  /** Reads and forgets, so that the connection can be used again. */
  drain(): void
  destroy(): void
  /** Calls `action` once nothing more will come. */
  onClose(action: () => void): void
}

/** What the end of a connection in the middle of a body is reported as. */
export function cutInBody(): Error {
  return Object.assign(new Error('the connection was cut in the middle of the answer'), { code: 'ECONNRESET' })
}

export class MessageBody implements AnswerBody {
  readonly #message: IncomingMessage
  readonly #watch: IdleWatch
  readonly #onReceived: (bytes: number) => void

  constructor(message: IncomingMessage, watch: IdleWatch, onReceived: (bytes: number) => void) {
    this.#message = message
    this.#watch = watch
    this.#onReceived = onReceived
  }

  forEachChunk(consume: ChunkConsumer): Promise<void> {
    const message = this.#message
    const watch = this.#watch
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        message.destroy()
        reject(error)
      }
      message.on('data', (chunk: Uint8Array) => {
        watch.touch()
        this.#onReceived(chunk.byteLength)
        let pending: Promise<void> | undefined
        try {
          pending = consume(chunk)
        } catch (error) {
          return fail(error)
        }
        if (pending === undefined) return
        message.pause()
        watch.paused = true
        pending.then(() => {
          watch.paused = false
          message.resume()
        }, fail)
      })
      message.once('end', () => {
        if (message.complete) resolve()
        else fail(cutInBody())
      })
      message.once('error', fail)
      message.once('close', () => reject(cutInBody()))
    })
  }

  drain(): void {
    this.#message.on('error', () => this.#message.destroy())
    this.#message.resume()
  }

  destroy(): void {
    this.#message.destroy()
  }

  onClose(action: () => void): void {
    this.#message.once('close', action)
  }
}
