/**
 * Requests to registries: where the API is, who we are there, how many at once, what is tried again.
 *
 * One object for the whole process: connections, tokens and what was learnt about a host are shared by all images.
 */
import { KnownError } from '../errors/known-error.ts'
import type { Authorizer, AuthScope } from './authorizer.ts'
import { answerError, connectionError } from './failure.ts'
import type { HttpAnswer, HttpRequest, StreamedBody } from './http-message.ts'
import { HostPace, type Lane } from './pace.ts'
import { drainBody, readBody } from './read-body.ts'
import { exchangeFollowing } from './redirect.ts'
import { parseRetryAfter, type RetryContext, withRetries } from './retry.ts'
import type { Transport } from './transport.ts'

export interface RegistryRequest {
  readonly method: string
  readonly registry: string
  readonly repository?: string | undefined
  /** What follows `/v2/`, or a URL that the registry gave (an upload's location, the next page). */
  readonly path: string | URL
  /** Names image or blob in messages. */
  readonly subject: string
  /** What is done with `repository`; without it, no right is asked for: only the credentials are those of this path. */
  readonly actions?: 'pull' | 'pull,push' | '*'
  /** A second repository of the same registry, to read from: the source of a mount. */
  readonly mountFrom?: string
  readonly lane: Lane
  /** Any other status is an error. */
  readonly expect: readonly number[]
  readonly headers?: Readonly<Record<string, string>>
  /** A streamed body is sent once: its caller knows how to go on. */
  readonly body?: Uint8Array | StreamedBody | undefined
  readonly signal?: AbortSignal | undefined
  readonly answerTimeoutMs?: number
}

export interface ConnectionsOptions {
  readonly transport: Transport
  readonly authorizer: Authorizer
  readonly retries: RetryContext
  /** True where certificates are not verified, and plain HTTP will do. */
  readonly isInsecure: (registry: string) => boolean
}

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #paces: Map<string, HostPace>
  readonly #origins = new Map<string, Promise<URL>>()

  constructor(options: ConnectionsOptions, shared?: Connections) {
    this.#options = options
    this.#paces = shared === undefined ? new Map() : shared.#paces
  }

  get retries(): RetryContext {
    return this.#options.retries
  }

  /** The same pools, tokens and paces, where no registry's certificate is verified. */
  insecurely(): Connections {
    return new Connections({ ...this.#options, isInsecure: () => true }, this)
  }

  close(): void {
    this.#options.transport.close()
  }

  /**
   * Resolves with an answer of an expected status. Its body must be read, drained or destroyed.
   *
   * @throws KnownError the REGISTRY_ codes, MANIFEST_UNKNOWN, BLOB_UNKNOWN
   */
  send(request: RegistryRequest): Promise<HttpAnswer> {
    if (isStreamed(request)) return this.#attempt(request, 1)
    return withRetries(this.#options.retries, (attempt) => this.#attempt(request, attempt), request.signal)
  }

  /**
   * The answer with its body, which is small by nature: a body that breaks off is asked for again.
   *
   * @throws KnownError as `send`, and REGISTRY_PROTOCOL for a body of more than `limit` bytes
   */
  read(request: RegistryRequest, limit: number): Promise<{ answer: HttpAnswer; bytes: Uint8Array }> {
    const once = async (attempt: number) => {
      const answer = await this.#attempt(request, attempt)
      try {
        return { answer, bytes: await readBody(answer, limit, request) }
      } catch (error) {
        const { subject, method } = request
        throw connectionError({ subject, method, url: answer.url, attempt }, error)
      }
    }
    return withRetries(this.#options.retries, once, request.signal)
  }

  /** One attempt, for a caller who keeps count himself. */
  async sendOnce(request: RegistryRequest, attempt: number): Promise<HttpAnswer> {
    return this.#attempt(request, attempt)
  }

  async #attempt(request: RegistryRequest, attempt: number): Promise<HttpAnswer> {
    const origin = await this.#origin(request)
    const url = request.path instanceof URL ? request.path : new URL(`/v2/${request.path}`, origin)
    const pace = this.#pace(url.host)
    const release = await pace.enter(request.lane, request.signal)
    const about = { subject: request.subject, method: request.method, url, attempt }
    try {
      const { answer, hint, isTokenOld } = await this.#authorized(request, url, origin)
      if (request.expect.includes(answer.status)) {
        pace.speedUp(request.lane)
        answer.body.onClose(release)
        return answer
      }
      const now = this.#options.retries.clock.now()
      if (answer.status === 429 || answer.status === 503) {
        pace.slowDown(Math.min(parseRetryAfter(answer.headers['retry-after'], now) ?? 0, maxPauseMs))
      }
      const error = await answerError(about, answer, now)
      release()
      throw hint === undefined && !isTokenOld ? error : explained(error, hint, isTokenOld)
    } catch (error) {
      release()
      throw connectionError(about, error)
    }
  }

  async #authorized(request: RegistryRequest, url: URL, origin: URL) {
    const scope = this.#scope(request, origin)
    const { authorizer } = this.#options
    const isOurs = url.origin === origin.origin
    let authorization = isOurs ? await authorizer.header(scope) : undefined
    for (let refusals = 0; ; refusals += 1) {
      const answer = await this.#exchange(request, url, authorization)
      if (answer.status !== 401 || !isOurs) return { answer, hint: undefined, isTokenOld: false }
      const isWorthIt =
        refusals < 2 && (await authorizer.challenged(scope, answer.headers['www-authenticate'], authorization))
      if (!isWorthIt) return { answer, hint: await authorizer.hint(scope), isTokenOld: false }
      if (isStreamed(request)) return { answer, hint: undefined, isTokenOld: true }
      drainBody(answer)
      authorization = await authorizer.header(scope)
    }
  }

  #exchange(request: RegistryRequest, url: URL, authorization: string | undefined): Promise<HttpAnswer> {
    const { method, body, signal, answerTimeoutMs } = request
    const length = body === undefined ? undefined : body instanceof Uint8Array ? body.byteLength : body.length
    const http: HttpRequest = {
      method,
      url,
      headers: {
        'user-agent': 'sallyport',
        ...(length !== undefined && { 'content-length': String(length) }),
        ...(length === undefined && method !== 'GET' && method !== 'HEAD' && { 'content-length': '0' }),
        ...request.headers,
        ...(authorization !== undefined && { authorization }),
      },
      body,
      signal,
      isInsecure: this.#options.isInsecure(request.registry),
      isBulk: request.lane === 'download',
      ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
    }
    return exchangeFollowing(this.#options.transport, http)
  }

  #scope(request: RegistryRequest, origin: URL): AuthScope {
    const { registry, repository, actions, mountFrom } = request
    return {
      registry,
      repository,
      origin,
      scopes: [
        ...(repository === undefined || actions === undefined ? [] : [`repository:${repository}:${actions}`]),
        ...(mountFrom === undefined || mountFrom === repository ? [] : [`repository:${mountFrom}:pull`]),
      ],
      isInsecure: this.#options.isInsecure(registry),
      signal: request.signal,
    }
  }

  #pace(host: string): HostPace {
    const known = this.#paces.get(host)
    if (known !== undefined) return known
    const pace = new HostPace(this.#options.retries.clock)
    this.#paces.set(host, pace)
    return pace
  }

  /** Where the API of a registry is. Found out once; a failure is forgotten, so that the next request asks again. */
  #origin({ registry, signal }: RegistryRequest): Promise<URL> {
    const known = this.#origins.get(registry)
    if (known !== undefined) return known
    const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry
    const secure = new URL(`https://${host}`)
    const found = this.#options.isInsecure(registry) ? this.#probe(secure) : Promise.resolve(secure)
    this.#origins.set(registry, found)
    found.catch(() => this.#origins.delete(registry))
    signal?.throwIfAborted()
    return found
  }

  /**
   * HTTPS with any certificate, else plain HTTP (containers/image docker_client.go:detectPropertiesHelper).
   *
   * @throws KnownError what is wrong with HTTP, where neither answers
   */
  async #probe(secure: URL): Promise<URL> {
    const plain = new URL(`http://${secure.host}`)
    try {
      return await this.#ping(secure)
    } catch (error) {
      this.#options.retries.log.debug(`${secure.host}: no HTTPS (${String(error)}); trying plain HTTP`)
    }
    try {
      return await this.#ping(plain)
    } catch (error) {
      const about = { subject: secure.host, method: 'GET', url: new URL('/v2/', plain), attempt: 1 }
      throw connectionError(about, error)
    }
  }

  async #ping(origin: URL): Promise<URL> {
    const request = { method: 'GET', url: new URL('/v2/', origin), headers: {}, isInsecure: true }
    await readBody(await this.#options.transport.exchange(request), maxPingBytes, { subject: origin.host })
    return origin
  }
}

/** A `Retry-After` beyond this ends the request that got it; the others need not wait for it. */
const maxPauseMs = 300_000

/** A ping is answered with `{}`, or with a page that says why not. */
const maxPingBytes = 1024 * 1024

function isStreamed({ body }: RegistryRequest): boolean {
  return body !== undefined && !(body instanceof Uint8Array)
}

function explained(error: KnownError, hint: string | undefined, isTokenOld: boolean): KnownError {
  return new KnownError(error.code, error.message, {
    details: { ...error.details },
    cause: error.cause,
    retryable: isTokenOld || error.retryable,
    ...(hint !== undefined && { hint }),
  })
}
