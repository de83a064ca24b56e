/** Requests and answers as the transport has them; see `transport.ts`. */
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../host/clock.ts'
import type { AnswerBody } from './answer-body.ts'
import type { ProxySettings } from './proxy.ts'
import type { TlsSettings } from './tls-settings.ts'

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
  readonly lookup?: LookupFunction
  readonly connectTimeoutMs: number
  /** No byte in either direction for this long ends an exchange. There is no limit on the whole. */
  readonly idleTimeoutMs: number
  /** Told of the bytes of every chunk that node:http has read: those of `bulk-connection.ts` need nobody to collect them. */
  readonly onReceived: (bytes: number) => void
}

/** What a connection that fell silent, or that did not come about, ends with. */
export function silence(isConnected: boolean, idleMs: number): ExchangeError {
  const seconds = Math.round(idleMs / 1000)
  return isConnected
    ? new ExchangeError('ERR_IDLE', `no byte for ${seconds} s`)
    : new ExchangeError('ERR_CONNECT_TIMEOUT', `no connection after ${seconds} s`)
}

/** An error of a connection that was used before, which says that the server had closed it; any other as it is. */
export function staleOr(error: unknown, isReused: boolean): unknown {
  const isCut = error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
  if (!isCut || !isReused) return error
  return new ExchangeError('ERR_STALE_SOCKET', 'the server had closed the idle connection', error)
}
