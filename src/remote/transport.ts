/**
 * One HTTP/1.1 exchange, over keep-alive connections that the whole process shares.
 *
 * Knows about sockets, proxies, TLS and silence; knows nothing of registries. Errors are Node's own, or an
 * `ExchangeError`; `failure.ts` turns them into what a person can read.
 *
 * node:http with `data` events is used on purpose: for bodies it costs less than `fetch` and less memory.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Clock } from '../host/clock.ts'
import { IdleWatch } from './idle-watch.ts'
import { type ProxySettings, proxyAuthorization, proxyFor } from './proxy.ts'
import type { TlsSettings } from './tls-settings.ts'
import { TunnelAgent } from './tunnel-agent.ts'

/** Where a body that is not in memory is written to. Await what `write` returns before the next one, where it is one. */
export interface BodySink {
  write(chunk: Uint8Array): Promise<void> | undefined
  /** True while the writer itself waits for bytes: the peer's silence means nothing then. */
  starving: boolean
}

export interface StreamedBody {
  readonly length: number
  /** Writes exactly `length` bytes. Rejects to break the exchange off: the peer then never sees a complete request. */
  writeTo(sink: BodySink): Promise<void>
}

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | StreamedBody | undefined
  readonly signal?: AbortSignal | undefined
  /** Accept any certificate. */
  readonly isInsecure: boolean
  /** How long the peer may think between the last byte sent and its first byte back, where the usual is too short. */
  readonly answerTimeoutMs?: number
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** To be read to its end, or destroyed: until then it holds a connection. */
  readonly body: IncomingMessage
  readonly url: URL
  /** Tells when the consumer is slow, so that this is not taken for a silent peer. */
  readonly watch: IdleWatch
  /** To be told of every chunk that was read. */
  readonly onReceived: (bytes: number) => void
}

/** A connection that did not come about, fell silent, or turned out to be closed when it was used again. */
export class ExchangeError extends Error {
  readonly code: 'ERR_CONNECT_TIMEOUT' | 'ERR_IDLE' | 'ERR_STALE_SOCKET' | 'ERR_PROXY'

  constructor(code: ExchangeError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export interface TransportOptions {
  readonly clock: Clock
  readonly tls: TlsSettings
  readonly proxies: ProxySettings
  readonly connectTimeoutMs: number
  /** No byte in either direction for this long ends an exchange. There is no limit on the whole. */
  readonly idleTimeoutMs: number
  /** Told of the bytes of every chunk of every answer. */
  readonly onReceived: (bytes: number) => void
}

const keepAlive = { keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo' } as const

/** Bytes that may wait in this process for a slow target. */
const maxBufferedBytes = 512 * 1024

export class Transport {
  readonly #options: TransportOptions
  readonly #httpAgent = new HttpAgent(keepAlive)
  readonly #httpsAgents = new Map<string, Promise<HttpsAgent>>()

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** Sends a request and resolves with the head of the answer. */
  async exchange(request: HttpRequest): Promise<HttpAnswer> {
    request.signal?.throwIfAborted()
    const message = await this.#open(request)
    return new Exchange(message, request, this.#options).run()
  }

  /** Closes idle connections, so that the process can end. */
  close(): void {
    this.#httpAgent.destroy()
    for (const agent of this.#httpsAgents.values()) {
      agent.then(
        (ready) => ready.destroy(),
        () => undefined,
      )
    }
  }

  async #open({ method, url, headers, isInsecure }: HttpRequest): Promise<ClientRequest> {
    const proxy = proxyFor(url, this.#options.proxies)
    if (url.protocol === 'https:') {
      return httpsRequest(url, { method, headers, agent: await this.#httpsAgent(url, isInsecure, proxy) })
    }
    if (proxy === undefined) return httpRequest(url, { method, headers, agent: this.#httpAgent })
    return httpRequest({
      agent: this.#httpAgent,
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || 80,
      method,
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { host: url.host, ...headers, ...proxyAuthorization(proxy) },
    })
  }

  #httpsAgent(url: URL, isInsecure: boolean, proxy: URL | undefined): Promise<HttpsAgent> {
    const key = `${isInsecure} ${url.host} ${proxy?.href ?? ''}`
    const known = this.#httpsAgents.get(key)
    if (known !== undefined) return known
    const made = this.#makeHttpsAgent(url, isInsecure, proxy)
    this.#httpsAgents.set(key, made)
    return made
  }

  async #makeHttpsAgent(url: URL, isInsecure: boolean, proxy: URL | undefined): Promise<HttpsAgent> {
    const secureContext = await this.#options.tls.contextFor(url.host)
    const settings = { ...keepAlive, secureContext, rejectUnauthorized: !isInsecure }
    return proxy === undefined ? new HttpsAgent(settings) : new TunnelAgent(settings, proxy)
  }
}

/** The state of one exchange: from the first byte sent to the last byte of the answer. */
class Exchange {
  readonly #message: ClientRequest
  readonly #request: HttpRequest
  readonly #idleTimeoutMs: number
  readonly #onReceived: (bytes: number) => void
  readonly #watch: IdleWatch
  #isAnswered = false
  #isConnected = false

  constructor(message: ClientRequest, request: HttpRequest, options: TransportOptions) {
    this.#message = message
    this.#request = request
    this.#idleTimeoutMs = options.idleTimeoutMs
    this.#onReceived = options.onReceived
    this.#watch = new IdleWatch(options.clock, options.connectTimeoutMs, (idleMs) => {
      const seconds = Math.round(idleMs / 1000)
      message.destroy(
        this.#isConnected
          ? new ExchangeError('ERR_IDLE', `no byte for ${seconds} s`)
          : new ExchangeError('ERR_CONNECT_TIMEOUT', `no connection after ${seconds} s`),
      )
    })
  }

  run(): Promise<HttpAnswer> {
    const { signal, url } = this.#request
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#message.destroy(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#message.once('close', () => {
        signal?.removeEventListener('abort', onAbort)
        this.#watch.stop()
      })
      this.#message.on('error', (error) => reject(signal?.aborted ? signal.reason : this.#explain(error)))
      this.#message.once('socket', (socket) => this.#onSocket(socket))
      this.#message.once('response', (body: IncomingMessage) => {
        this.#isAnswered = true
        this.#watch.restart(this.#idleTimeoutMs)
        body.once('close', () => this.#watch.stop())
        resolve({
          status: body.statusCode ?? 0,
          headers: body.headers,
          body,
          url,
          watch: this.#watch,
          onReceived: this.#onReceived,
        })
      })
      this.#send().catch((error: unknown) => {
        if (this.#isAnswered) return
        reject(error)
        this.#message.destroy()
      })
    })
  }

  #onSocket(socket: import('node:net').Socket): void {
    const connected = () => {
      this.#isConnected = true
      if (!this.#isAnswered) this.#watch.restart(this.#idleTimeoutMs)
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
    if (answerTimeoutMs !== undefined && !this.#isAnswered) {
      this.#message.once('finish', () => this.#isAnswered || this.#watch.restart(answerTimeoutMs))
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
    if (this.#isAnswered || this.#message.destroyed) return Promise.reject(new Error('the request is over'))
    this.#message.write(chunk)
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
        if (this.#isAnswered || this.#message.destroyed) reject(new Error('the request is over'))
        else resolve()
      }
      this.#message.on('drain', settle)
      this.#message.on('close', settle)
      this.#message.on('response', settle)
    })
  }

  #explain(error: Error): Error {
    const isCut = 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    if (!isCut || !this.#message.reusedSocket || this.#isAnswered) return error
    return new ExchangeError('ERR_STALE_SOCKET', 'the server had closed the idle connection', error)
  }
}
