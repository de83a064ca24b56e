import type { ErrorCode } from '../errors/codes.ts'
import { KnownError } from '../errors/known-error.ts'
import { ExchangeError, type HttpAnswer, type HttpRequest } from './http-message.ts'
import { drainBody } from './read-body.ts'
import type { Transport } from './transport.ts'

export interface RedirectRules {
  readonly maxRedirects: number
  /** What a redirect that is not followed is reported as. */
  readonly refusal: ErrorCode
}

const registryRules: RedirectRules = { maxRedirects: 10, refusal: 'REGISTRY_PROTOCOL' }

/** Sockets that the server had closed while they were idle; there are never more of them than the pool holds. */
const maxStaleSockets = 64

/**
 * An exchange that goes where the server sends it (RFC 9110 15.4).
 *
 * Credentials stay behind: a redirect to another host, port or scheme is followed without `Authorization`. A body that
 * is streamed cannot be sent twice, so a redirect of such a request is handed to the caller.
 *
 * A connection that the server had closed while it was idle is replaced by another one at once.
 *
 * @throws KnownError what the rules say, on loops, and on a way from HTTPS to plain HTTP
 */
export async function exchangeFollowing(
  transport: Transport,
  first: HttpRequest,
  rules: RedirectRules = registryRules,
): Promise<HttpAnswer> {
  let request = first
  for (let hops = 0; hops <= rules.maxRedirects; hops += 1) {
    const answer = await exchangeFresh(transport, request)
    const location = redirectOf(answer)
    if (location === undefined || isStreamed(request)) return answer
    drainBody(answer)
    request = redirected(request, { location, status: answer.status, rules })
  }
  const { host, origin, pathname } = first.url
  throw new KnownError(rules.refusal, `${origin}${pathname}: more than ${rules.maxRedirects} redirects`, {
    details: { host, path: pathname },
  })
}

async function exchangeFresh(transport: Transport, request: HttpRequest): Promise<HttpAnswer> {
  for (let stale = 0; ; stale += 1) {
    try {
      return await transport.exchange(request)
    } catch (error) {
      const isStale = error instanceof ExchangeError && error.code === 'ERR_STALE_SOCKET'
      if (!isStale || isStreamed(request) || stale >= maxStaleSockets) throw error
    }
  }
}

function isStreamed({ body }: HttpRequest): boolean {
  return body !== undefined && !(body instanceof Uint8Array)
}

/** Where an answer sends us, or undefined where it does not. */
export function redirectOf({ status, headers, url }: HttpAnswer): URL | undefined {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  return URL.canParse(location, url) ? new URL(location, url) : undefined
}

interface Redirect {
  readonly location: URL
  readonly status: number
  readonly rules: RedirectRules
}

function redirected(request: HttpRequest, { location, status, rules }: Redirect): HttpRequest {
  if (request.url.protocol === 'https:' && location.protocol !== 'https:') {
    throw new KnownError(
      rules.refusal,
      `${request.url.origin}${request.url.pathname}: redirects from HTTPS to ${location.origin}, which is not followed`,
      { details: { host: request.url.host, path: request.url.pathname, redirect: location.host } },
    )
  }
  location.username = ''
  location.password = ''
  const isSameOrigin = location.origin === request.url.origin
  const headers = { ...request.headers }
  if (!isSameOrigin) delete headers['authorization']
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead || status === 307 || status === 308) return { ...request, url: location, headers }
  delete headers['content-type']
  return { ...request, url: location, headers, method: 'GET', body: undefined }
}
