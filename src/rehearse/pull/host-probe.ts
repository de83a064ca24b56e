/**
 * One look at a registry host, as the first ping of a pull would take it: name, port, TLS, `/v2/`, and its clock.
 *
 * Source: containers/image `docker/docker_client.go:detectPropertiesHelper`.
 */
import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { hasSystemCode } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import { http, https, tls } from '../../host/web-modules.ts'
import { type ProxySettings, proxyFor } from '../../remote/proxy.ts'
import { createTunnelAgent } from '../../remote/tunnel-agent.ts'
import { judgeCertificate } from './judge-certificate.ts'
import type { PullFailure } from './pull-failure.ts'

export interface ProbeAccess {
  /** PEM texts of all that the bootstrap host trusts. */
  readonly roots: readonly string[]
  readonly proxies: ProxySettings
  readonly lookup: LookupFunction
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface ProbedHost {
  /** `host` or `host:port`. */
  readonly host: string
  /** Absent where no TLS connection came about. */
  readonly certificate?: X509Certificate
  /** What the server's `Date` header says, minus the clock here, in milliseconds. */
  readonly skewMs?: number
  /** Status of `/v2/`, where there was an answer. */
  readonly status?: number
  /** The proxy that the request takes. */
  readonly proxy?: string
  /** Why no image can come from here. */
  readonly failure?: PullFailure
}

/** @param insecure as registries.conf says of the endpoint: any certificate will do, and plain HTTP where there is no TLS */
export async function probeHost(host: string, insecure: boolean, access: ProbeAccess): Promise<ProbedHost> {
  const url = new URL(`https://${host}/v2/`)
  const proxy = proxyFor(url, access.proxies)
  const found = await ask(url, access, proxy)
  const result =
    insecure && found.failure !== undefined ? await ask(new URL(`http://${host}/v2/`), access, proxy) : found
  const accepted = insecure && found.certificate !== undefined ? { ...found, failure: httpFailure(found) } : result
  const { failure, ...rest } = accepted
  const said = failure && { ...failure, message: `pinging container registry ${host}: ${failure.message}` }
  return { host, ...rest, ...(proxy && { proxy: proxy.host }), ...(said && { failure: said }) }
}

type Found = Omit<ProbedHost, 'host' | 'proxy'>

async function ask(url: URL, access: ProbeAccess, proxy: URL | undefined): Promise<Found> {
  try {
    const { answer, certificate, chainError } = await exchange(url, access, proxy)
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    const now = access.clock.now()
    const date = Date.parse(answer.headers.date ?? '')
    const found: Found = {
      status: answer.statusCode ?? 0,
      ...(certificate && { certificate }),
      ...(!Number.isNaN(date) && { skewMs: date - now }),
    }
    const refused = certificate && judgeCertificate({ certificate, chainError }, { hostname, now })
    const failure = refused
      ? { ...refused, message: `Get "${url.href}": ${refused.message}` }
      : httpFailure(found, answer)
    return { ...found, ...(failure && { failure }) }
  } catch (error) {
    access.signal.throwIfAborted()
    const failure = connectionFailure(error, url)
    return { failure: { ...failure, message: `Get "${url.href}": ${failure.message}` } }
  }
}

interface Exchanged {
  readonly answer: IncomingMessage
  readonly certificate: X509Certificate | undefined
  readonly chainError: string | undefined
}

function exchange(url: URL, access: ProbeAccess, proxy: URL | undefined): Promise<Exchanged> {
  const { lookup, timeoutMs, signal } = access
  const isSecure = url.protocol === 'https:'
  const options = { lookup, rejectUnauthorized: false, ...(isSecure && { secureContext: contextOf(access) }) }
  const agent = isSecure
    ? proxy === undefined
      ? new (https().Agent)(options)
      : createTunnelAgent(options, proxy)
    : new http.Agent({ lookup })
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https() : http).request(url, { agent, signal, headers: { 'user-agent': 'sallyport' } })
    request.setTimeout(timeoutMs, () => request.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' })))
    request.once('error', (error) => {
      agent.destroy()
      reject(error)
    })
    request.once('response', (answer) => {
      const socket = answer.socket as TLSSocket
      const raw = isSecure ? socket.getPeerCertificate(true).raw : undefined
      const chainError = isSecure && !socket.authorized ? String(socket.authorizationError) : undefined
      answer.resume()
      answer.once('close', () => agent.destroy())
      resolve({ answer, certificate: raw && new X509Certificate(raw), chainError })
    })
    request.end()
  })
}

/** Go takes any certificate of the pool as the end of a chain, an intermediate too. */
function contextOf({ roots }: Pick<ProbeAccess, 'roots'>) {
  return tls().createSecureContext({ ca: [...roots], allowPartialTrustChain: true })
}

function httpFailure({ status = 0 }: Found, answer?: IncomingMessage): PullFailure | undefined {
  const type = answer?.headers['content-type'] ?? ''
  if (status === 401 || (status === 200 && !/html/i.test(type))) return undefined
  const said = `${status} ${answer?.statusMessage ?? ''}`.trim()
  if (status === 429) return { fault: 'rate-limited', message: `toomanyrequests: ${said}` }
  if (status === 407) return { fault: 'proxy', message: 'Proxy Authentication Required' }
  if (/html/i.test(type)) {
    return {
      fault: 'not-a-registry',
      message: `invalid status code from registry ${said}`,
      evidence: `it answered ${type}`,
    }
  }
  if (status >= 500) return { fault: 'registry-failing', message: `received unexpected HTTP status: ${said}` }
  return { fault: 'not-a-registry', message: `invalid status code from registry ${said}` }
}

/** What Go says about a connection that did not come about. */
export function connectionFailure(error: unknown, url: URL): PullFailure {
  const name = url.hostname
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const cause = error instanceof Error ? error : new Error(String(error))
  const address = addressOf(cause)
  const place = isIP(address) === 0 ? `${name}:${port}` : `${address}:${port}`
  if (hasSystemCode(cause, 'ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_NODATA'))
    return { fault: 'name-unresolved', message: `dial tcp: lookup ${name}: no such host` }
  if (hasSystemCode(cause, 'ECONNREFUSED'))
    return { fault: 'refused', message: `dial tcp ${place}: connect: connection refused` }
  if (hasSystemCode(cause, 'EHOSTUNREACH', 'ENETUNREACH'))
    return { fault: 'unreachable', message: `dial tcp ${place}: connect: no route to host` }
  if (hasSystemCode(cause, 'ETIMEDOUT', 'ERR_CONNECT_TIMEOUT', 'ERR_IDLE'))
    return { fault: 'timeout', message: `dial tcp ${place}: i/o timeout` }
  if (hasSystemCode(cause, 'ERR_PROXY')) return { fault: 'proxy', message: cause.message }
  if (hasSystemCode(cause, 'EPROTO') || /^ERR_SSL_/.test(codeOf(cause))) return tlsFailure(cause)
  if (hasSystemCode(cause, 'ECONNRESET', 'EPIPE')) return { fault: 'other', message: 'EOF', evidence: cause.message }
  return { fault: 'other', message: cause.message }
}

function tlsFailure(cause: Error): PullFailure {
  const isPlain = /wrong version number|packet length too long|http request/i.test(cause.message)
  return isPlain
    ? { fault: 'plain-http', message: 'http: server gave HTTP response to HTTPS client' }
    : { fault: 'tls', message: `remote error: tls: ${cause.message}` }
}

function addressOf(cause: Error): string {
  return 'address' in cause ? String(cause.address) : ''
}

function codeOf(cause: Error): string {
  return 'code' in cause ? String(cause.code) : ''
}
