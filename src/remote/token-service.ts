/**
 * Bearer tokens: one request for everybody who needs the same token, renewed before it runs out.
 *
 * Source: distribution docs/spec/auth/token.md (GET) and oauth.md (POST, for identity tokens).
 */
import { KnownError } from '../errors/known-error.ts'
import { parsedFields } from '../errors/parsed-json.ts'
import type { Clock } from '../host/clock.ts'
import { basicAuthorization, type LoginCredentials } from './credentials.ts'
import { answerError, connectionError } from './failure.ts'
import type { HttpRequest } from './http-message.ts'
import { readBody } from './read-body.ts'
import { exchangeFollowing } from './redirect.ts'
import { type RetryContext, withRetries } from './retry.ts'
import type { Transport } from './transport.ts'

export interface TokenRequest {
  readonly realm: URL
  readonly service: string | undefined
  readonly scopes: readonly string[]
  readonly credentials: LoginCredentials | undefined
  /** For messages. */
  readonly registry: string
  readonly isInsecure: boolean
  readonly signal: AbortSignal | undefined
}

interface Token {
  readonly text: string
  /** From when on a new one is asked for. */
  readonly renewAt: number
}

/** What a token without `expires_in` is good for (token.md: "for compatibility … 60 seconds"). */
const defaultLifeSeconds = 60
const maxTokenBytes = 256 * 1024

export class TokenService {
  readonly #transport: Transport
  readonly #retries: RetryContext
  readonly #clock: Clock
  readonly #tokens = new Map<string, Token>()
  readonly #underway = new Map<string, Promise<Token>>()

  constructor(transport: Transport, retries: RetryContext) {
    this.#transport = transport
    this.#retries = retries
    this.#clock = retries.clock
  }

  /** @throws KnownError REGISTRY_UNAUTHORIZED and the other REGISTRY_ codes */
  async get(request: TokenRequest): Promise<string> {
    const key = keyOf(request)
    const known = this.#tokens.get(key)
    if (known !== undefined && this.#clock.now() < known.renewAt) return known.text
    const underway = this.#underway.get(key)
    if (underway !== undefined) return (await underway).text
    // Shared with whoever asks meanwhile, so the first caller's signal must not end it for the others.
    const asked = this.#fetch({ ...request, signal: undefined }).finally(() => this.#underway.delete(key))
    this.#underway.set(key, asked)
    const token = await asked
    this.#tokens.set(key, token)
    return token.text
  }

  /** The registry refused this token. */
  forget(text: string): void {
    for (const [key, token] of this.#tokens) if (token.text === text) this.#tokens.delete(key)
  }

  #fetch(request: TokenRequest): Promise<Token> {
    return withRetries(this.#retries, (attempt) => this.#fetchOnce(request, attempt))
  }

  async #fetchOnce(request: TokenRequest, attempt: number): Promise<Token> {
    const http = toHttp(request)
    const subject = { subject: `${request.registry} (token)`, method: http.method, url: http.url, attempt }
    try {
      const asked = this.#clock.now()
      const answer = await exchangeFollowing(this.#transport, http)
      if (answer.status !== 200) throw refused(await answerError(subject, answer, asked), request)
      const body = await readBody(answer, maxTokenBytes, subject)
      return this.#parse(body, asked, subject.subject)
    } catch (error) {
      throw connectionError(subject, error)
    }
  }

  #parse(body: Uint8Array, asked: number, subject: string): Token {
    const document = parsedFields(new TextDecoder().decode(body)) ?? {}
    const text = document['token'] ?? document['access_token']
    if (typeof text !== 'string' || text === '') {
      throw new KnownError('REGISTRY_PROTOCOL', `${subject}: the token service answered without a token`)
    }
    const seconds = document['expires_in']
    const life = typeof seconds === 'number' && seconds > 0 ? seconds : defaultLifeSeconds
    // A fifth of its life early, so that a token does not run out between our clock and the registry's.
    return { text, renewAt: asked + life * 800 }
  }
}

function keyOf({ realm, service, scopes, credentials }: TokenRequest): string {
  return JSON.stringify([realm.href, service, scopes.toSorted(), credentials?.key, credentials?.username])
}

function toHttp({ realm, service, scopes, credentials, isInsecure, signal }: TokenRequest): HttpRequest {
  if (credentials?.kind === 'identity-token') {
    const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'sallyport' })
    form.set('refresh_token', credentials.token)
    form.set('scope', scopes.join(' '))
    if (service !== undefined) form.set('service', service)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { method: 'POST', url: realm, headers, body: Buffer.from(form.toString()), isInsecure, signal }
  }
  const url = new URL(realm)
  if (service !== undefined) url.searchParams.set('service', service)
  for (const scope of scopes) url.searchParams.append('scope', scope)
  if (credentials === undefined) return { method: 'GET', url, headers: {}, isInsecure, signal }
  url.searchParams.set('account', credentials.username)
  const headers = { authorization: basicAuthorization(credentials.username, credentials.password) }
  return { method: 'GET', url, headers, isInsecure, signal }
}

/** A token service says 401, 403 or 400 when it does not like the credentials: the same thing to a user. */
function refused(error: KnownError, request: TokenRequest): KnownError {
  if (error.retryable || error.details['status'] === 404) return error
  const who = request.credentials === undefined ? 'anonymously' : `as ${request.credentials.username}`
  return new KnownError('REGISTRY_UNAUTHORIZED', `${error.message} (asked ${who})`, {
    details: { ...error.details },
    cause: error,
  })
}
