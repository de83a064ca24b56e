import { KnownError } from '../errors/known-error.ts'
import type { HttpAnswer, HttpRequest } from './http-message.ts'
import { drainBody } from './read-body.ts'
import type { Transport } from './transport.ts'

const maxRedirects = 10

/**
 * An exchange that goes where the server sends it (RFC 9110 15.4).
 *
 * Credentials stay behind: a redirect to another host, port or scheme is followed without `Authorization`. A body that
 * is streamed cannot be sent twice, so a redirect of such a request is handed to the caller.
 *
 * @throws KnownError REGISTRY_PROTOCOL on loops, and on a way from HTTPS to plain HTTP
 */
export async function exchangeFollowing(transport: Transport, first: HttpRequest): Promise<HttpAnswer> {
  let request = first
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const answer = await transport.exchange(request)
    const location = redirectOf(answer)
    const isStreamed = request.body !== undefined && !(request.body instanceof Uint8Array)
    if (location === undefined || isStreamed) return answer
    drainBody(answer)
    request = redirected(request, location, answer.status)
  }
  throw new KnownError(
    'REGISTRY_PROTOCOL',
    `${first.url.origin}${first.url.pathname}: more than ${maxRedirects} redirects`,
    {
      details: { host: first.url.host, path: first.url.pathname },
    },
  )
}

/** Where an answer sends us, or undefined where it does not. */
export function redirectOf({ status, headers, url }: HttpAnswer): URL | undefined {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  return URL.canParse(location, url) ? new URL(location, url) : undefined
}

function redirected(request: HttpRequest, location: URL, status: number): HttpRequest {
  if (request.url.protocol === 'https:' && location.protocol !== 'https:') {
    throw new KnownError(
      'REGISTRY_PROTOCOL',
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
