/**
 * A connection for large downloads: bytes go from the socket into buffers of the pool and to the consumer, with nothing
 * between. node:http copies every body twice and allocates for every 64 KiB; this costs a third of the CPU per gigabyte.
 *
 * GET only, one request after the other.
 */
import type { OnReadOpts, Socket } from 'node:net'
import { type AnswerBody, cutInBody } from './answer-body.ts'
import { BulkBody } from './bulk-body.ts'
import type { ChunkPool } from './chunk-pool.ts'
import type { IdleWatch } from './idle-watch.ts'
import { InvalidHead, parseResponseHead, type ResponseHead } from './response-head.ts'

/** Opens a socket that reads as `onread` says (node:net and node:tls have the same option). */
export type OpenSocket = (onread: OnReadOpts) => Socket

const maxHeadBytes = 64 * 1024
/** Smaller reads are copied, so that a slow link does not hold a whole buffer for every packet. */
const lendBytes = 64 * 1024
const endOfHead = Buffer.from('\r\n\r\n')

export interface BulkAnswer {
  readonly head: ResponseHead
  readonly body: AnswerBody
}

interface Reading {
  readonly resolve: (answer: BulkAnswer) => void
  readonly reject: (error: Error) => void
  readonly watch: IdleWatch
}

export class BulkConnection {
  readonly #socket: Socket
  readonly #pool: ChunkPool
  #buffer: Uint8Array
  #head: Buffer = Buffer.alloc(0)
  #reading: Reading | undefined
  #body: BulkBody | undefined
  #onFree: (() => void) | undefined
  #requests = 0

  constructor(open: OpenSocket, pool: ChunkPool) {
    this.#pool = pool
    this.#buffer = pool.take()
    this.#socket = open({ buffer: () => this.#buffer, callback: (length) => this.#onRead(length) })
    this.#socket.setNoDelay(true)
    this.#socket.on('error', (error) => this.#onEnd(error))
    this.#socket.once('end', () => this.#onEnd(undefined))
    this.#socket.once('close', () => this.#onEnd(undefined))
  }

  get socket(): Socket {
    return this.#socket
  }

  get isReused(): boolean {
    return this.#requests > 1
  }

  /**
   * Sends a request head and resolves with the head of the answer.
   *
   * @param onFree called when the body was read whole and the connection can take another request
   */
  request(text: string, watch: IdleWatch, onFree: () => void): Promise<BulkAnswer> {
    this.#requests += 1
    this.#onFree = onFree
    this.#socket.ref()
    // The body before may have ended while its reader was not ready for more.
    this.#socket.resume()
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject, watch }
      this.#socket.write(text, 'latin1')
    })
  }

  destroy(error?: Error): void {
    this.#socket.destroy(error)
    if (error) this.#onEnd(error)
  }

  /** Returns false to stop reading until `resume`. */
  #onRead(length: number): boolean {
    const bytes = this.#buffer.subarray(0, length)
    if (this.#body) return this.#body.accept(bytes)
    if (!this.#reading) {
      // Nobody asked: whatever this is, the next answer could not be trusted.
      this.destroy()
      return true
    }
    this.#head = Buffer.concat([this.#head, bytes])
    return this.#readHead()
  }

  #readHead(): boolean {
    const end = this.#head.indexOf(endOfHead)
    if (end < 0) {
      if (this.#head.byteLength > maxHeadBytes)
        this.#fail(new InvalidHead(`no end of the header after ${maxHeadBytes} bytes`))
      return true
    }
    const text = this.#head.subarray(0, end).toString('latin1')
    const rest = this.#head.subarray(end + endOfHead.byteLength)
    this.#head = Buffer.alloc(0)
    let head: ResponseHead
    try {
      head = parseResponseHead(text)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
      return true
    }
    if (head.status < 200) {
      this.#head = rest
      return this.#readHead()
    }
    const { resolve, watch } = this.#reading ?? {}
    this.#reading = undefined
    if (!resolve || !watch) return true
    const body = new BulkBody(this, head, watch)
    this.#body = body
    const goOn = body.begin(rest)
    resolve({ head, body })
    return goOn
  }

  /** A chunk of the buffer just read into: lent where it is worth it, copied where it is small. */
  keep(bytes: Uint8Array): Uint8Array {
    const isWhole = bytes.byteOffset === this.#buffer.byteOffset && bytes.buffer === this.#buffer.buffer
    if (!isWhole || bytes.byteLength < lendBytes) return Uint8Array.prototype.slice.call(bytes)
    const lent = this.#pool.lend(this.#buffer, bytes.byteLength)
    this.#buffer = this.#pool.take()
    return lent
  }

  /** The body was read whole. */
  release(isLast: boolean): void {
    this.#body = undefined
    const onFree = this.#onFree
    this.#onFree = undefined
    if (isLast || this.#socket.destroyed) this.destroy()
    else {
      this.#socket.unref()
      onFree?.()
    }
  }

  resume(): void {
    this.#socket.resume()
  }

  #fail(error: Error): void {
    this.#reading?.reject(error)
    this.#reading = undefined
    this.#socket.destroy()
  }

  #onEnd(error: Error | undefined): void {
    this.#fail(error ?? cutInBody())
    this.#body?.onConnectionEnd(error)
    this.#body = undefined
  }
}
