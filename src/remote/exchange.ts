/** One exchange over node:http: from the first byte sent to the last byte of the answer. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { MessageBody } from './answer-body.ts'
import type { ChunkPool } from './chunk-pool.ts'
import {
  type BodySink,
  type HttpAnswer,
  type HttpRequest,
  silence,
  staleOr,
  type TransportOptions,
} from './http-message.ts'
import { IdleWatch } from './idle-watch.ts'

/** Bytes that may wait in this process for a slow target. */
const maxBufferedBytes = 512 * 1024

export class Exchange {
  readonly #message: ClientRequest
  readonly #request: HttpRequest
  readonly #idleTimeoutMs: number
  readonly #pool: ChunkPool
  readonly #onReceived: (bytes: number) => void
  readonly #watch: IdleWatch
  #answer: IncomingMessage | undefined
  #isConnected = false

  constructor(message: ClientRequest, request: HttpRequest, options: TransportOptions & { pool: ChunkPool }) {
    this.#pool = options.pool
    this.#message = message
    this.#request = request
    this.#idleTimeoutMs = options.idleTimeoutMs
    this.#onReceived = options.onReceived
    this.#watch = new IdleWatch(options.clock, options.connectTimeoutMs, (idleMs) =>
      this.#breakOff(silence(this.#isConnected, idleMs)),
    )
  }

  run(): Promise<HttpAnswer> {
    const { signal, url } = this.#request
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#breakOff(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#message.once('close', () => {
        signal?.removeEventListener('abort', onAbort)
        this.#watch.stop()
      })
      this.#message.on('error', (error) =>
        reject(
          signal?.aborted ? signal.reason : staleOr(error, this.#message.reusedSocket && this.#answer === undefined),
        ),
      )
      this.#message.once('socket', (socket) => this.#onSocket(socket))
      this.#message.once('response', (body: IncomingMessage) => {
        this.#answer = body
        this.#watch.restart(this.#idleTimeoutMs)
        body.once('close', () => this.#watch.stop())
        resolve({
          status: body.statusCode ?? 0,
          headers: body.headers,
          body: new MessageBody(body, this.#watch, this.#onReceived),
          url,
        })
      })
      this.#send().catch((error: unknown) => {
        if (this.#answer !== undefined) return
        reject(error)
        this.#message.destroy()
      })
    })
  }

  /** An answer that is destroyed with its request would only say that it was aborted. */
  #breakOff(reason: Error): void {
    if (this.#answer === undefined) this.#message.destroy(reason)
    else this.#answer.destroy(reason)
  }

  #onSocket(socket: Socket): void {
    const connected = () => {
      this.#isConnected = true
      if (this.#answer !== undefined) return
      // The body may have begun to wait for its source before: then the silence is still not the peer's.
      const isStarving = this.#watch.paused
      this.#watch.restart(this.#idleTimeoutMs)
      this.#watch.paused = isStarving
    }
    // A TunnelAgent hands out sockets that are connected already; a new one connects after this event.
    if (!socket.connecting && (this.#message.reusedSocket || this.#request.url.protocol === 'http:')) connected()
    else socket.once(this.#request.url.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
  }

  async #send(): Promise<void> {
    const { body, answerTimeoutMs } = this.#request
    if (body === undefined || body instanceof Uint8Array) this.#message.end(body)
    else {
      await body.writeTo(this.#sink())
      this.#message.end()
    }
    if (answerTimeoutMs !== undefined && this.#answer === undefined) {
      this.#message.once('finish', () => this.#answer !== undefined || this.#watch.restart(answerTimeoutMs))
    }
  }

  #sink(): BodySink {
    const watch = this.#watch
    return {
      write: (chunk) => this.#write(chunk),
      get starving() {
        return watch.paused
      },
      set starving(isStarving) {
        watch.paused = isStarving
      },
    }
  }

  #write(chunk: Uint8Array): Promise<void> | undefined {
    // An answer before the end of the request is a refusal: sending the rest would be in vain.
    if (this.#answer !== undefined || this.#message.destroyed) return Promise.reject(new Error('the request is over'))
    this.#message.write(chunk, () => this.#pool.giveBack(chunk))
    this.#watch.touch()
    if (this.#message.writableLength < maxBufferedBytes) return undefined
    return this.#drained()
  }

  #drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#message.off('drain', settle)
        this.#message.off('close', settle)
        this.#message.off('response', settle)
        this.#watch.touch()
        if (this.#answer !== undefined || this.#message.destroyed) reject(new Error('the request is over'))
        else resolve()
      }
      this.#message.on('drain', settle)
      this.#message.on('close', settle)
      this.#message.on('response', settle)
    })
  }
}
