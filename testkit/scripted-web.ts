/**
 * A web server on loopback that serves files as the real ones do (ETag, `Range`, `If-Range`, HEAD), answers routes by
 * functions, and goes wrong where a test tells it to.
 *
 *     const web = await startScriptedWeb(t)
 *     web.files.set('/pub/boot.iso', randomBytes(300_000))
 *     web.fault({ path: /boot/, times: 1, cutAfter: 100_000 })
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Fault, FaultScript, type RecordedRequest, recordOf, withFault } from './scripted-fault.ts'
import type { Cleanup } from './temp-dir.ts'

export interface WebReply {
  /** 200 where nothing is said. */
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

export interface WebRequestSeen {
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
}

export interface ScriptedWebOptions {
  /** PEM. Without it the server speaks plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface ScriptedWeb {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string
  readonly address: string
  /** By path. */
  readonly files: Map<string, Uint8Array>
  /** By path: asked before `files`. */
  readonly routes: Map<string, (seen: WebRequestSeen) => WebReply>
  /** In the order in which they arrived. */
  readonly requests: RecordedRequest[]
  /** Makes requests that match go wrong, from now on. */
  fault(fault: Fault): void
  close(): Promise<void>
}

/** A server on a free port of 127.0.0.1, closed when `t` ends. */
export async function startScriptedWeb(t: Cleanup, options: ScriptedWebOptions = {}): Promise<ScriptedWeb> {
  const files: ScriptedWeb['files'] = new Map()
  const routes: ScriptedWeb['routes'] = new Map()
  const requests: RecordedRequest[] = []
  const faults = new FaultScript()
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const record = recordOf(request, response)
    requests.push(record)
    withFault({ request, response, record, fault: faults.next(record) }, async () => {
      request.resume()
      const url = new URL(request.url ?? '', 'http://web.invalid')
      const route = routes.get(url.pathname)
      const reply = route?.({ query: url.searchParams, headers: request.headers })
      if (reply !== undefined) response.writeHead(reply.status ?? 200, reply.headers).end(reply.body)
      else serveFile(files.get(url.pathname), request, response)
    })
  }
  const server = options.tls === undefined ? createServer(listener) : createSecureServer(options.tls, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  t.after(close)
  const address = `127.0.0.1:${port}`
  const url = `${options.tls === undefined ? 'http' : 'https'}://${address}`
  return { url, address, files, routes, requests, fault: (fault) => faults.add(fault), close }
}

function serveFile(bytes: Uint8Array | undefined, request: IncomingMessage, response: ServerResponse): void {
  if (bytes === undefined)
    return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>')
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`
  const headers = { 'content-type': 'application/octet-stream', 'accept-ranges': 'bytes', etag }
  if (request.method === 'HEAD') {
    return void response.writeHead(200, { ...headers, 'content-length': bytes.byteLength }).end()
  }
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
  const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === etag
  if (range === null || !isSame) return void response.writeHead(200, headers).end(bytes)
  const from = Number(range[1])
  const size = bytes.byteLength
  if (from >= size) return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
  const to = range[2] === '' ? size - 1 : Math.min(Number(range[2]), size - 1)
  response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${to}/${size}` })
  response.end(bytes.subarray(from, to + 1))
}
