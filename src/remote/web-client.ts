/**
 * Reads documents and files from the web: update graphs, signatures, boot images.
 *
 * The connections, proxies, CAs and retries are those of the registry client; there is nothing to log in to, and what is
 * read is proven by whoever asked for it.
 */
import type { ChunkStream } from '../oci/chunk-stream.ts'
import { type ConnectionSettings, openTransport } from './open-transport.ts'
import { WebDownload } from './web-download.ts'
import { type WebAnswer, WebExchange } from './web-exchange.ts'
import { describeFile, openFile, readFileDocument } from './web-file.ts'

export interface WebClientOptions extends ConnectionSettings {
  /** True where no certificate is verified. */
  readonly isInsecure?: boolean
}

export interface WebRequest {
  /** What is read, for messages: `update graph of stable-4.18`. */
  readonly what: string
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** True where a `file://` URL may be read: never for a URL that came from outside. */
  readonly isFileAllowed?: boolean
}

export interface WebDocument {
  readonly bytes: Uint8Array
  /** Empty where the server names none. */
  readonly contentType: string
}

export interface WebClient {
  /**
   * A document that is small by nature; undefined where there is none (404, 410).
   *
   * @throws KnownError WEB_UNREACHABLE, WEB_TLS, WEB_REFUSED, WEB_INVALID where it has more than `maxBytes`, FILE_UNREADABLE
   */
  read(url: URL, options: WebRequest & { readonly maxBytes: number }): Promise<WebDocument | undefined>
  /**
   * The bytes from `offset` on, resumed as often as the link breaks. Not proven, but never more or fewer than `size`, and
   * never the parts of two different files.
   *
   * @throws KnownError as `read`, and WEB_REFUSED where there is no such file
   */
  open(url: URL, options: WebRequest & { readonly offset?: number; readonly size?: number }): ChunkStream
  /** What the server says of a file without sending it; undefined where there is none. */
  describe(url: URL, options: WebRequest): Promise<{ readonly size?: number } | undefined>
  /** Lets go of idle connections. */
  close(): void
}

/** How a client of the web is built: nothing is connected before the first request. */
export function createWebClient(options: WebClientOptions): WebClient {
  const { transport, retries } = openTransport(options)
  const exchange = new WebExchange({ transport, retries, isInsecure: options.isInsecure ?? false })
  return {
    read: (url, request) =>
      isFile(url, request) ? readFileDocument(url, request) : readDocument(exchange, url, request),
    open: (url, request) => (isFile(url, request) ? openFile(url, request) : new WebDownload(exchange, url, request)),
    describe: (url, request) => (isFile(url, request) ? describeFile(url, request) : describe(exchange, url, request)),
    close: () => transport.close(),
  }
}

function isFile(url: URL, { isFileAllowed }: WebRequest): boolean {
  return url.protocol === 'file:' && isFileAllowed === true
}

const absent = [404, 410]

async function readDocument(
  exchange: WebExchange,
  url: URL,
  request: WebRequest & { readonly maxBytes: number },
): Promise<WebDocument | undefined> {
  const { what, signal, headers = {}, maxBytes } = request
  const asked = { method: 'GET' as const, url, what, signal, headers, expect: [200, ...absent] }
  const { answer, bytes } = await exchange.read(asked, maxBytes)
  if (absent.includes(answer.status)) return undefined
  return { bytes, contentType: answer.headers['content-type'] ?? '' }
}

/** Servers that sign their URLs, or were built for GET alone, refuse HEAD: they are asked for the first byte. */
const refusesHead = [403, 405, 501]

async function describe(
  exchange: WebExchange,
  url: URL,
  { what, signal, headers = {} }: WebRequest,
): Promise<{ readonly size?: number } | undefined> {
  const asked = { url, what, signal, headers }
  const head = await exchange.send({ ...asked, method: 'HEAD', expect: [200, ...absent, ...refusesHead] })
  head.body.drain()
  if (absent.includes(head.status)) return undefined
  if (head.status === 200) return sizeOf(head.headers['content-length'])
  const first = { ...headers, range: 'bytes=0-0' }
  const answer = await exchange.send({ ...asked, method: 'GET', headers: first, expect: [200, 206, ...absent] })
  // A server that does not know Range sends everything.
  answer.body.destroy()
  return absent.includes(answer.status) ? undefined : sizeOf(lengthIn(answer))
}

function lengthIn({ status, headers }: WebAnswer): string | undefined {
  return status === 206 ? /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] : headers['content-length']
}

function sizeOf(length: string | undefined): { readonly size?: number } {
  return length === undefined ? {} : { size: Number(length) }
}
