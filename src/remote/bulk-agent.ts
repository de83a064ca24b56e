/** The connections for large downloads: opened when needed, kept for the next. */
import { connect, type Socket } from 'node:net'
import { tls } from '../host/web-modules.ts'
import { BulkConnection, type OpenSocket } from './bulk-connection.ts'
import type { ChunkPool } from './chunk-pool.ts'
import { type HttpAnswer, type HttpRequest, silence, staleOr, type TransportOptions } from './http-message.ts'
import { IdleWatch } from './idle-watch.ts'

const maxIdlePerHost = 16

export class BulkAgent {
  readonly #options: TransportOptions
  readonly #pool: ChunkPool
  readonly #idle = new Map<string, BulkConnection[]>()

  constructor(options: TransportOptions, pool: ChunkPool) {
    this.#options = options
    this.#pool = pool
  }

  /** A GET without a body, and without a proxy. */
  async exchange(request: HttpRequest): Promise<HttpAnswer> {
    const key = `${request.isInsecure} ${request.url.origin}`
    const text = headOf(request)
    const open = await this.#opener(request)
    request.signal?.throwIfAborted()
    const connection = this.#idleConnection(key) ?? new BulkConnection(open, this.#pool)
    const watch = this.#watch(connection)
    const onAbort = () => connection.destroy(asError(request.signal?.reason))
    request.signal?.addEventListener('abort', onAbort, { once: true })
    const leave = () => request.signal?.removeEventListener('abort', onAbort)
    try {
      const { head, body } = await connection.request(text, watch, () => this.#keep(key, connection))
      watch.restart(this.#options.idleTimeoutMs)
      body.onClose(leave)
      return { status: head.status, headers: head.headers, body, url: request.url }
    } catch (error) {
      leave()
      watch.stop()
      throw request.signal?.aborted ? request.signal.reason : staleOr(error, connection.isReused)
    }
  }

  close(): void {
    for (const connections of this.#idle.values()) for (const connection of connections) connection.destroy()
    this.#idle.clear()
  }

  #idleConnection(key: string): BulkConnection | undefined {
    const idle = this.#idle.get(key) ?? []
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!connection.socket.destroyed) return connection
    }
    return undefined
  }

  #keep(key: string, connection: BulkConnection): void {
    const idle = (this.#idle.get(key) ?? []).filter(({ socket }) => !socket.destroyed)
    if (idle.length < maxIdlePerHost) idle.push(connection)
    else connection.destroy()
    this.#idle.set(key, idle)
  }

  #watch(connection: BulkConnection): IdleWatch {
    const { clock, connectTimeoutMs, idleTimeoutMs } = this.#options
    const { socket } = connection
    const isOpen = !socket.connecting
    const watch = new IdleWatch(clock, isOpen ? idleTimeoutMs : connectTimeoutMs, (idleMs) =>
      connection.destroy(silence(!socket.connecting && !socket.pending, idleMs)),
    )
    if (!isOpen) socket.once('connect', () => watch.restart(idleTimeoutMs))
    return watch
  }

  async #opener({ url, isInsecure }: HttpRequest): Promise<OpenSocket> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const { lookup } = this.#options
    if (url.protocol === 'http:') {
      const port = Number(url.port || 80)
      return (onread) => connect({ host, port, onread, ...(lookup && { lookup }) })
    }
    const secureContext = await this.#options.tls.contextFor(url.host, isInsecure)
    const port = Number(url.port || 443)
    const settings = { host, port, secureContext, rejectUnauthorized: !isInsecure, ...(lookup && { lookup }) }
    // An address is no server name (RFC 6066 3). `onread` is missing in the types of tls.connect, not in the function.
    const servername = /^[\d.]+$|:/.test(host) ? '' : host
    return (onread): Socket => tls().connect({ ...settings, servername, ...{ onread } })
  }
}

/** @throws Error where a header would end its line */
function headOf({ method, url, headers }: HttpRequest): string {
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`]
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new Error(`the value of the header ${name} is no header value`)
    lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
