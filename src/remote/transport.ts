/**
 * One HTTP/1.1 exchange, over keep-alive connections that the whole process shares.
 *
 * Knows about sockets, proxies, TLS and silence; knows nothing of registries. Errors are Node's own, or an
 * `ExchangeError`; `failure.ts` turns them into what a person can read.
 *
 * node:http, because for bodies it costs less than `fetch`; and for large downloads even less: `bulk-connection.ts`.
 */
import type { ClientRequest, Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import { http, https } from '../host/web-modules.ts'
import { BulkAgent } from './bulk-agent.ts'
import { ChunkPool } from './chunk-pool.ts'
import { Exchange } from './exchange.ts'
import type { HttpAnswer, HttpRequest, TransportOptions } from './http-message.ts'
import { proxyAuthorization, proxyFor } from './proxy.ts'
import { createTunnelAgent } from './tunnel-agent.ts'

const keepAlive = { keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo' } as const

export class Transport {
  readonly #options: TransportOptions
  readonly #pool = new ChunkPool()
  readonly #bulk: BulkAgent
  readonly #httpAgent: HttpAgent
  readonly #httpsAgents = new Map<string, Promise<HttpsAgent>>()

  constructor(options: TransportOptions) {
    this.#options = options
    this.#bulk = new BulkAgent(options, this.#pool)
    this.#httpAgent = new http.Agent({ ...keepAlive, ...lookupOf(options) })
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
    const settings = { ...keepAlive, ...lookupOf(this.#options), secureContext, rejectUnauthorized: !isInsecure }
    return proxy === undefined ? new (https().Agent)(settings) : createTunnelAgent(settings, proxy)
  }
}

function lookupOf({ lookup }: TransportOptions): Pick<TransportOptions, 'lookup'> {
  return lookup === undefined ? {} : { lookup }
}
