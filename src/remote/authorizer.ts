/**
 * `Authorization` headers for a registry: remembers its challenge, gets bearer tokens, keeps them until they are old.
 *
 * Source: distribution docs/spec/auth/{token,oauth}.md. Who may receive credentials: docs/adr/0004.
 */
import { KnownError } from '../errors/known-error.ts'
import type { Log } from '../host/log.ts'
import { type Challenge, parseChallenges } from './challenge.ts'
import { basicAuthorization, type Credentials, type CredentialsProvider, type LoginCredentials } from './credentials.ts'
import { mayReceiveCredentials } from './realm-trust.ts'
import type { TokenService } from './token-service.ts'

export interface AuthorizerOptions {
  readonly credentials: CredentialsProvider
  readonly tokens: TokenService
  readonly log: Log
  /** Hosts of token services that may receive credentials of any registry. */
  readonly tokenHosts: readonly string[]
}

/** For whom a request is made. */
export interface AuthScope {
  /** As the user writes it, which is how credentials are kept. */
  readonly registry: string
  /** Where its API is. */
  readonly origin: URL
  readonly repository: string | undefined
  /** `repository:NAME:pull`, … */
  readonly scopes: readonly string[]
  readonly isInsecure: boolean
  readonly signal: AbortSignal | undefined
}

export class Authorizer {
  readonly #options: AuthorizerOptions
  readonly #challenges = new Map<string, Challenge>()
  readonly #warned = new Set<string>()

  constructor(options: AuthorizerOptions) {
    this.#options = options
  }

  /** The header to send, or undefined as long as the registry has not asked for one. */
  async header(scope: AuthScope): Promise<string | undefined> {
    const challenge = this.#challenges.get(scope.origin.origin)
    if (challenge === undefined) return undefined
    const credentials = await this.#options.credentials.find(scope.registry, scope.repository)
    if (challenge.scheme === 'basic') return basicHeader(credentials)
    if (credentials?.kind === 'registry-token') return `Bearer ${credentials.token}`
    return this.#bearer(challenge, credentials, scope)
  }

  /**
   * Takes note of a 401. True when it is worth asking again.
   *
   * @param sent the header that was refused
   */
  async challenged(scope: AuthScope, wwwAuthenticate: string | undefined, sent: string | undefined): Promise<boolean> {
    const challenges = parseChallenges(wwwAuthenticate ?? '')
    const challenge =
      challenges.find((one) => one.scheme === 'bearer') ?? challenges.find((one) => one.scheme === 'basic')
    if (challenge === undefined) return false
    const isNew = !isSame(this.#challenges.get(scope.origin.origin), challenge)
    this.#challenges.set(scope.origin.origin, challenge)
    if (sent?.startsWith('Bearer ')) this.#options.tokens.forget(sent.slice('Bearer '.length))
    const next = await this.header(scope)
    return next !== undefined && (isNew || next !== sent)
  }

  /** What to tell a user who was refused. */
  async hint(scope: AuthScope): Promise<string | undefined> {
    const credentials = await this.#options.credentials.find(scope.registry, scope.repository)
    const challenge = this.#challenges.get(scope.origin.origin)
    const where = scope.repository === undefined ? scope.registry : `${scope.registry}/${scope.repository}`
    if (credentials === undefined) {
      return `No credentials for ${where} were found. Log in (podman login ${scope.registry}), or name the file: --authfile or REGISTRY_AUTH_FILE.`
    }
    const realm = challenge === undefined ? undefined : realmOf(challenge)
    if (realm !== undefined && !(await this.#isTrusted(realm, scope))) {
      return `The credentials for ${credentials.key} were not sent, because ${scope.registry} names a token service on another host, ${realm.host}. If you trust it, add an entry for ${realm.host} to the auth file.`
    }
    return `The credentials kept for ${credentials.key} were refused. Log in again: podman login ${scope.registry}.`
  }

  async #bearer(challenge: Challenge, own: LoginCredentials | undefined, scope: AuthScope): Promise<string> {
    const realm = realmOf(challenge)
    if (realm === undefined) {
      throw new KnownError('REGISTRY_PROTOCOL', `${scope.registry}: asks for a bearer token without saying where`, {
        details: { host: scope.registry },
      })
    }
    const isTrusted = own !== undefined && (await this.#isTrusted(realm, scope))
    if (own !== undefined && !isTrusted) {
      this.#warnOnce(`${scope.registry}: credentials are not sent to ${realm.host}; asking anonymously`)
    }
    const token = await this.#options.tokens.get({
      realm,
      service: challenge.parameters['service'],
      scopes: mergeScopes(scope.scopes, challenge.parameters['scope']),
      credentials: isTrusted ? own : undefined,
      registry: scope.registry,
      isInsecure: scope.isInsecure,
      signal: scope.signal,
    })
    return `Bearer ${token}`
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#options.log.warn(message)
  }

  async #isTrusted(realm: URL, scope: AuthScope): Promise<boolean> {
    const { tokenHosts, credentials } = this.#options
    if (mayReceiveCredentials(realm, scope.origin, tokenHosts)) return true
    const isDowngrade = scope.origin.protocol === 'https:' && realm.protocol !== 'https:'
    if (isDowngrade) return false
    return credentials.names ? credentials.names(realm.host) : (await credentials.find(realm.host)) !== undefined
  }
}

function basicHeader(credentials: Credentials | undefined): string | undefined {
  return credentials?.kind === 'password' ? basicAuthorization(credentials.username, credentials.password) : undefined
}

function realmOf(challenge: Challenge): URL | undefined {
  const realm = challenge.parameters['realm'] ?? ''
  if (!URL.canParse(realm)) return undefined
  const url = new URL(realm)
  // A realm is the server's word: a name and password in it are not ours to send.
  url.username = ''
  url.password = ''
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/** Ours, or where a request has none (a ping), what the registry asks for. */
function mergeScopes(ours: readonly string[], asked: string | undefined): readonly string[] {
  if (ours.length > 0) return ours
  return asked === undefined ? [] : asked.split(' ').filter(Boolean)
}

function isSame(one: Challenge | undefined, other: Challenge): boolean {
  return (
    one !== undefined &&
    one.scheme === other.scheme &&
    one.parameters['realm'] === other.parameters['realm'] &&
    one.parameters['service'] === other.parameters['service']
  )
}
