/** From what went wrong on the wire to an error that names image, host, status, request, attempt and next step. */

import type { ErrorCode } from '../errors/codes.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { parsedFields } from '../errors/parsed-json.ts'
import type { HttpAnswer } from './http-message.ts'
import { parseRetryAfter } from './retry.ts'

/** Who is asked: it decides about codes and hints. A registry where nothing is said. */
export type Peer = 'registry' | 'web'

/** What an error message says about a request. */
export interface RequestSubject {
  /** The image, repository or blob, as the user would write it; of a document of the web, what it is. */
  readonly subject: string
  readonly peer?: Peer
  readonly method: string
  readonly url: URL
  readonly attempt: number
}

/** Enough for any list of errors; a proxy's HTML page is cut here. */
const maxErrorBytes = 16 * 1024

/** The code for an answer that nobody can make sense of. */
export function protocolCode(peer: Peer | undefined): ErrorCode {
  return peer === 'web' ? 'WEB_INVALID' : 'REGISTRY_PROTOCOL'
}

function describe({ subject, peer, method, url, attempt }: RequestSubject) {
  const { host, pathname } = url
  const image = peer === 'web' ? undefined : subject
  return {
    what: `${subject}: ${method} ${url.origin}${pathname}`,
    times: attempt > 1 ? ` (attempt ${attempt})` : '',
    details: { image, host, method, path: pathname, attempt },
  }
}

/** The error for an answer that was not hoped for. Reads the body, because registries put their reason there. */
export async function answerError(request: RequestSubject, answer: HttpAnswer, now: number): Promise<KnownError> {
  const { what, times, details } = describe(request)
  const reason = readReason(await readStart(answer), answer.headers['content-type'])
  const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], now)
  const said = reason.text === '' ? '' : `: ${reason.text}`
  const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const code = request.peer === 'web' ? webCodeFor(answer.status) : codeFor(answer.status, reason.code)
  return new KnownError(code, `${what} answered ${answer.status}${said}${wait}${times}`, {
    details: {
      ...details,
      status: answer.status,
      ...(request.peer === 'web' ? { reason: reason.code } : { registryCode: reason.code }),
      retryAfterSeconds: retryAfterMs === undefined ? undefined : retryAfterMs / 1000,
    },
    retryable: isRetryable(answer.status) || isOwnTrouble(request, reason.code),
    ...(answer.status === 407 && {
      hint: 'The proxy wants a name and a password: put them into https_proxy and http_proxy as http://NAME:PASSWORD@HOST:PORT.',
    }),
  })
}

function codeFor(status: number, registryCode: string | undefined): ErrorCode {
  if (status === 401) return 'REGISTRY_UNAUTHORIZED'
  if (status === 403) return 'REGISTRY_DENIED'
  if (status === 404) return registryCode === 'BLOB_UNKNOWN' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN'
  if (status === 429) return 'REGISTRY_RATE_LIMITED'
  if (status === 407) return 'REGISTRY_UNREACHABLE'
  if (registryCode === 'DIGEST_INVALID') return 'BLOB_DIGEST_MISMATCH'
  return status >= 500 || status === 408 ? 'REGISTRY_FAILED' : 'REGISTRY_PROTOCOL'
}

function webCodeFor(status: number): ErrorCode {
  return status >= 500 || [407, 408, 429].includes(status) ? 'WEB_UNREACHABLE' : 'WEB_REFUSED'
}

function isRetryable(status: number): boolean {
  return [408, 429, 500, 502, 503, 504].includes(status)
}

/**
 * A manifest is proven before it is sent, so a registry that finds it wrong has misread something of its own: docker-registry
 * answers so while it reads a link file that it writes at the same moment (`registry/storage/driver/filesystem/driver.go`).
 */
function isOwnTrouble({ method, url }: RequestSubject, registryCode: string | undefined): boolean {
  return method === 'PUT' && url.pathname.includes('/manifests/') && registryCode === 'DIGEST_INVALID'
}

async function readStart({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    await body.forEachChunk((chunk) => {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size > maxErrorBytes) throw new Error('that is enough to see what went wrong')
      return undefined
    })
  } catch {
    // The status is the news; a body that is too long or breaks off on top of it adds nothing.
    body.destroy()
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Reason {
  readonly code?: string | undefined
  readonly text: string
}

/**
 * distribution-spec, "Error Codes": `{"errors": [{"code", "message", "detail"}]}`; an update service says
 * `{"kind", "value"}` (openshift/cincinnati `commons/src/errors.rs`).
 */
function readReason(body: string, contentType = ''): Reason {
  const first = firstError(body)
  if (first !== undefined) {
    const code = textOf(first, 'code') ?? textOf(first, 'kind')
    const message = textOf(first, 'message') ?? textOf(first, 'value')
    return { code, text: [code, message].filter(Boolean).join(': ').slice(0, 400) }
  }
  if (/html/i.test(contentType) || body.trimStart().startsWith('<')) return { text: 'with an HTML page' }
  return { text: body.trim().slice(0, 200) }
}

function firstError(body: string): object | undefined {
  const document = parsedFields(body)
  if (document === undefined) return undefined
  const first: unknown = Array.isArray(document['errors']) ? document['errors'][0] : document
  return typeof first === 'object' && first !== null ? first : undefined
}

function textOf(object: object, name: string): string | undefined {
  const value: unknown = Reflect.get(object, name)
  return typeof value === 'string' ? value : undefined
}

const tlsCodes = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
  'INVALID_CA',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'EPROTO',
]

/** The error for an exchange that ended without an answer, or in the middle of one. */
export function connectionError(request: RequestSubject, error: unknown): unknown {
  if (error instanceof KnownError || !(error instanceof Error) || !('code' in error)) return error
  const { what, times, details } = describe(request)
  const options = { details: { ...details, systemCode: String(error.code) }, cause: error }
  const isWeb = request.peer === 'web'
  if (isTlsFailure(error)) return tlsError(request, error, options)
  if (hasSystemCode(error, 'ERR_IDLE')) {
    return new KnownError(isWeb ? 'WEB_UNREACHABLE' : 'REGISTRY_STALLED', `${what}: ${error.message}${times}`, options)
  }
  const isDead = hasSystemCode(error, 'ENOTFOUND')
  const why = isDead ? `the name ${request.url.hostname} does not resolve` : plainReason(error)
  const code = isWeb ? 'WEB_UNREACHABLE' : 'REGISTRY_UNREACHABLE'
  return new KnownError(code, `${what}: ${why}${times}`, { ...options, retryable: !isDead })
}

function isTlsFailure(error: Error): boolean {
  return hasSystemCode(error, ...tlsCodes) || ('code' in error && String(error.code).startsWith('ERR_SSL_'))
}

function plainReason(error: Error): string {
  if (hasSystemCode(error, 'ECONNREFUSED')) return 'connection refused: nothing listens on that port'
  if (hasSystemCode(error, 'ECONNRESET', 'EPIPE')) return 'the connection was cut'
  return error.message
}

function tlsError(
  request: RequestSubject,
  error: Error,
  options: { details: Record<string, string | number | undefined>; cause: Error },
): KnownError {
  const { what, times } = describe(request)
  const { host, hostname } = request.url
  const isWeb = request.peer === 'web'
  const code = isWeb ? 'WEB_TLS' : 'REGISTRY_TLS'
  if (hasSystemCode(error, 'EPROTO') || /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST)/.test(codeOf(error))) {
    return new KnownError(code, `${what}: the server does not speak TLS${times}`, {
      ...options,
      hint: isWeb
        ? `If ${host} serves plain HTTP on purpose, write the URL with http://. Otherwise check the port.`
        : `If ${host} serves plain HTTP on purpose, mark it insecure (insecure = true in registries.conf, or --dest-tls-verify=false). Otherwise check the port.`,
    })
  }
  const hint = hasSystemCode(error, 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID')
    ? `Renew the certificate of ${host}, or correct the clock of this machine.`
    : hasSystemCode(error, 'ERR_TLS_CERT_ALTNAME_INVALID')
      ? `The certificate is for other names than ${hostname}. Use a name that it contains, or issue it again.`
      : isWeb
        ? `Name the CA of ${host}, or of the proxy that looks into TLS, with --ca FILE or SSL_CERT_FILE.`
        : `Put the CA of this registry into /etc/containers/certs.d/${host}/ca.crt, or name it with SSL_CERT_FILE.`
  return new KnownError(code, `${what}: the certificate is not trusted: ${error.message}${times}`, {
    ...options,
    hint,
  })
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
