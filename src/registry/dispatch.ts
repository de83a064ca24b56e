/** One request: who asks, what for, who answers, and what is said when it goes wrong. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { KnownError } from '../errors/known-error.ts'
import { deleteBlob, getBlob, headBlob } from './blobs.ts'
import { answerJson, type Exchange, type RegistryContext } from './exchange.ts'
import type { Htpasswd } from './htpasswd.ts'
import { listRepositories, listTags } from './listings.ts'
import { deleteManifest, getManifest, putManifest } from './manifests.ts'
import { listReferrers } from './referrers.ts'
import { Refusal, refusalOf } from './refusal.ts'
import { parseRoute, type Route } from './route.ts'
import { cancelUpload, continueUpload, finishUpload, startUpload, uploadStatus } from './uploads.ts'

const realm = 'Sallyport registry'
/** An unread body up to this size is read and thrown away, so that the connection can be used again. */
const maxDrainedBytes = 1024 * 1024
const noQuery = new URLSearchParams()

/** Answers a request. Never rejects. */
export async function dispatch(
  context: RegistryContext,
  htpasswd: Htpasswd | undefined,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { method = 'GET', url = '/' } = request
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const exchange = { request, response, query: mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1)) }
  response.setHeader('Docker-Distribution-Api-Version', 'registry/2.0')
  try {
    if (htpasswd !== undefined) await requireLogin(htpasswd, request)
    const route = parseRoute(method, path)
    if (route === undefined) throw new Refusal('UNSUPPORTED', `there is nothing at ${path}`, { status: 404 })
    await handle(context, route, exchange)
    context.log.debug(`${method} ${path} ${response.statusCode}`)
  } catch (error) {
    refuse(context, exchange, { error, line: `${method} ${path}` })
  }
}

async function requireLogin(htpasswd: Htpasswd, { headers }: IncomingMessage): Promise<void> {
  const match = /^basic\s+([a-z0-9+/=]+)$/i.exec(headers.authorization ?? '')
  const [, username = '', password = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(match?.[1] ?? '', 'base64').toString('utf8')) ?? []
  if (match !== null && (await htpasswd.accepts(username, password))) return
  throw new Refusal('UNAUTHORIZED', match === null ? 'authentication required' : 'wrong user name or password', {
    headers: { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"` },
  })
}

type Handler = (context: RegistryContext, exchange: Exchange) => void | Promise<void>
type Methods = Readonly<Record<string, Handler>>

async function handle(context: RegistryContext, route: Route, exchange: Exchange): Promise<void> {
  const methods = methodsOf(route)
  const method = exchange.request.method ?? ''
  const handler = methods[method] ?? (method === 'HEAD' ? methods['GET'] : undefined)
  if (handler === undefined) {
    throw new Refusal('UNSUPPORTED', `${method} is not possible here`, {
      headers: { Allow: Object.keys(methods).join(', ') },
    })
  }
  if (context.readOnly && !['GET', 'HEAD'].includes(method)) {
    throw new Refusal('UNSUPPORTED', 'this registry is read-only', { headers: { Allow: 'GET, HEAD' } })
  }
  await handler(context, exchange)
}

function methodsOf(route: Route): Methods {
  switch (route.kind) {
    case 'base':
      return { GET: (_, exchange) => answerJson(exchange, {}) }
    case 'catalog':
      return { GET: listRepositories }
    case 'tags':
      return { GET: (context, exchange) => listTags(context, route.name, exchange) }
    case 'referrers':
      return { GET: (context, exchange) => listReferrers(context, route, exchange) }
    case 'blob':
      return {
        GET: (context, exchange) => getBlob(context, route, exchange),
        HEAD: (context, exchange) => headBlob(context, route, exchange),
        DELETE: (context, exchange) => deleteBlob(context, route, exchange),
      }
    case 'manifest':
      return {
        GET: (context, exchange) => getManifest(context, route, exchange),
        PUT: (context, exchange) => putManifest(context, route, exchange),
        DELETE: (context, exchange) => deleteManifest(context, route, exchange),
      }
    case 'uploads':
      return { POST: (context, exchange) => startUpload(context, route.name, exchange) }
    case 'upload':
      return {
        GET: (context, exchange) => uploadStatus(context, route, exchange),
        PATCH: (context, exchange) => continueUpload(context, route, exchange),
        PUT: (context, exchange) => finishUpload(context, route, exchange),
        DELETE: (context, exchange) => cancelUpload(context, route, exchange),
      }
  }
}

function refuse(context: RegistryContext, exchange: Exchange, failure: { error: unknown; line: string }): void {
  const { request, response } = exchange
  const refusal = refusalOf(failure.error) ?? unforeseen(context, failure)
  if (refusal.status >= 500) context.log.error(`${failure.line} ${refusal.status} ${describe(failure.error)}`)
  else context.log.debug(`${failure.line} ${refusal.status} ${refusal.message}`)
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = refusal.body()
  const headers: Record<string, string | number> = {
    ...refusal.headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  }
  if (!request.complete && !isShort(request)) headers['Connection'] = 'close'
  response.writeHead(refusal.status, headers).end(request.method === 'HEAD' ? undefined : body)
}

function isShort({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return false
  return Number(headers['content-length'] ?? 0) <= maxDrainedBytes
}

function unforeseen(context: RegistryContext, { error, line }: { error: unknown; line: string }): Refusal {
  if (!(error instanceof KnownError))
    context.log.error(`${line}: ${error instanceof Error ? error.stack : String(error)}`)
  return new Refusal('UNKNOWN', 'this registry failed; its log says why')
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
