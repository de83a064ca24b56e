/**
 * One HTTP/1.1 exchange, over keep-alive connections that the whole process shares.
 *
 * Knows about sockets, proxies, TLS and silence; knows nothing of registries. Errors are Node's own, or an
 * `ExchangeError`; `failure.ts` turns them into what a person can read.
 *
 * node:http, because for bodies it costs less than `fetch`; and for large downloads even less: `bulk-connection.ts`.
 */
import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Clock } from '../host/clock.ts'
import { http, https } from '../host/web-modules.ts'
import type { AnswerBody } from './answer-body.ts'
import { BulkAgent } from './bulk-agent.ts'
import { ChunkPool } from './chunk-pool.ts'
import { Exchange } from './exchange.ts'
import { type ProxySettings, proxyAuthorization, proxyFor } from './proxy.ts'
import type { TlsSettings } from './tls-settings.ts'
import { createTunnelAgent } from './tunnel-agent.ts'

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
  /** A GET for much: over a connection of its own kind (`bulk-connection.ts`) where there is no proxy. */
  readonly isBulk?: boolean
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: AnswerBody
  readonly url: URL
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
  /** Told of the bytes of every chunk that node:http has read: those of `bulk-connection.ts` need nobody to collect them. */
  readonly onReceived: (bytes: number) => void
}

const keepAlive = { keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo' } as const

export class Transport {
  readonly #options: TransportOptions
  readonly #pool = new ChunkPool()
  readonly #bulk: BulkAgent
  readonly #httpAgent: HttpAgent = new http.Agent(keepAlive)
  readonly #httpsAgents = new Map<string, Promise<HttpsAgent>>()

  constructor(options: TransportOptions) {
    this.#options = options
    this.#bulk = new BulkAgent(options, this.#pool)
  }

  /** Sends a request and resolves with the head of the answer. */
  async exchange(request: HttpRequest): Promise<HttpAnswer> {
    request.signal?.throwIfAborted()
    const isDirect = proxyFor(request.url, this.#options.proxies) === undefined
    if (request.isBulk && request.method === 'GET' && isDirect) return this.#bulk.exchange(request)
    const message = await this.#open(request)
    return new Exchange(message, request, { ...this.#options, pool: this.#pool }).run()
  }

  /** Closes idle connections, so that the process can end. */
  close(): void {
    this.#bulk.close()
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
      return https().request(url, { method, headers, agent: await this.#httpsAgent(url, isInsecure, proxy) })
    }
    if (proxy === undefined) return http.request(url, { method, headers, agent: this.#httpAgent })
    return http.request({
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
    const secureContext = await this.#options.tls.contextFor(url.host, isInsecure)
    const settings = { ...keepAlive, secureContext, rejectUnauthorized: !isInsecure }
    return proxy === undefined ? new (https().Agent)(settings) : createTunnelAgent(settings, proxy)
  }
}
