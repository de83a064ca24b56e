import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../host/log.ts'
import type { BlobStore } from '../store/blob-store.ts'
import type { ReadBuffers } from './send-file.ts'
import type { UploadSessions } from './upload-sessions.ts'

/** What every handler of the registry works with; the same for all requests of one server. */
export interface RegistryContext {
  readonly store: BlobStore
  readonly sessions: UploadSessions
  readonly buffers: ReadBuffers
  /** Told of the bytes of each chunk of an upload: see `collectYoungGarbageEvery`. */
  readonly countReceived: (bytes: number) => void
  readonly log: Log
  readonly readOnly: boolean
  readonly sparseIndex: 'allow' | 'refuse'
  readonly chunkMinBytes: number
}

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
}

type Headers = Record<string, string | number>

/** Answers without a body. */
export function answer({ response }: Exchange, status: number, headers: Headers = {}): void {
  // 204 must not have the header (RFC 9110 section 8.6).
  response.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers }).end()
}

/** Answers 200 with `body`, or for HEAD with everything but the body. */
export function answerBytes(exchange: Exchange, body: Uint8Array | string, headers: Headers): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  exchange.response.writeHead(200, { ...headers, 'Content-Length': bytes.byteLength })
  exchange.response.end(exchange.request.method === 'HEAD' ? undefined : bytes)
}

export function answerJson(exchange: Exchange, value: unknown, headers: Headers = {}): void {
  answerBytes(exchange, `${JSON.stringify(value)}\n`, { 'Content-Type': 'application/json', ...headers })
}
