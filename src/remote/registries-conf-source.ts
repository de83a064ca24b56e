/**
 * Reading through registries.conf: the endpoints of an image in the order that containers/image tries them; the one
 * whose manifest answers serves everything else of that image.
 *
 * Source: containers/image docker/docker_image_src.go:newImageSource.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ChunkStream } from '../oci/chunk-stream.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { RegistriesConf } from '../registries/registries-conf.ts'
import { type Endpoint, resolveEndpoints } from '../registries/resolve.ts'
import { iterateChunks } from './chunk-reader.ts'
import type { RegistryClient } from './client.ts'

/** A source that asks where `conf` sends it. Throws what `resolveEndpoints` throws, and the errors of every endpoint. */
export function withRegistriesConf(client: RegistryClient, conf: RegistriesConf): ContentSource {
  return new RedirectedSource(client, conf)
}

interface Outcome<T> {
  readonly endpoint: Endpoint
  readonly value: T
}

class RedirectedSource implements ContentSource {
  readonly #client: RegistryClient
  readonly #insecureClient: RegistryClient
  readonly #conf: RegistriesConf
  /** Which endpoint last served a repository, by the repository's own name. */
  readonly #served = new Map<string, Endpoint>()
  /** Which endpoint served an image, both as references. */
  readonly #servers = new Map<string, string>()

  constructor(client: RegistryClient, conf: RegistriesConf) {
    this.#client = client
    this.#insecureClient = client.insecurely()
    this.#conf = conf
  }

  async resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined> {
    return this.#firstFound(reference, signal, (endpoint) => this.#at(endpoint).resolve(endpoint.reference, signal))
  }

  async resolveBeside(subject: Reference, tag: string, signal?: AbortSignal): Promise<Descriptor | undefined> {
    const { endpoints } = resolveEndpoints(this.#conf, subject)
    const endpoint = await this.#serverOf(subject, endpoints, signal)
    return endpoint && this.#at(endpoint).resolveBeside(endpoint.reference, tag, signal)
  }

  async fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    return this.#firstFound(reference, signal, (endpoint) =>
      this.#at(endpoint).fetchManifest(endpoint.reference, signal),
    )
  }

  fetchBlob(repository: Reference, descriptor: Descriptor, options: FetchBlobOptions = {}): ChunkStream {
    const forEachChunk: ChunkStream['forEachChunk'] = async (consume, consumeOptions) => {
      let offset = options.offset ?? 0
      let isConsumersFault = false
      const counted: typeof consume = (chunk) => {
        offset += chunk.byteLength
        const blame = (error: unknown): never => {
          isConsumersFault = true
          throw error
        }
        try {
          return consume(chunk)?.catch(blame)
        } catch (error) {
          return blame(error)
        }
      }
      const wanted = { registry: repository.registry, repository: repository.repository, digest: descriptor.digest }
      await this.#first(wanted, this.#inOrderOfService(repository, descriptor.digest), async (endpoint) => {
        const stream = this.#at(endpoint).fetchBlob(endpoint.reference, descriptor, { ...options, offset })
        await stream.forEachChunk(counted, consumeOptions).catch((error: unknown) => {
          throw isConsumersFault ? new ConsumerFailure(error) : error
        })
      })
    }
    const stream: ChunkStream = { forEachChunk, [Symbol.asyncIterator]: () => iterateChunks(stream) }
    return stream
  }

  async referrers(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]> {
    const endpoints = this.#inOrderOfService(repository, subject)
    const { value } = await this.#first({ ...repository, digest: subject }, endpoints, (endpoint) =>
      this.#at(endpoint).referrers(endpoint.reference, subject, signal),
    )
    return value
  }

  async tags(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    return this.#firstFound(repository, signal, (endpoint) => this.#at(endpoint).tags(endpoint.reference, signal))
  }

  async locate(subject: Reference, signal?: AbortSignal): Promise<Reference | undefined> {
    const { endpoints } = resolveEndpoints(this.#conf, subject)
    return (await this.#serverOf(subject, endpoints, signal))?.reference
  }

  /** The endpoint that served `subject`; where it was not read in this process, the first that has it. */
  async #serverOf(
    subject: Reference,
    endpoints: readonly Endpoint[],
    signal: AbortSignal | undefined,
  ): Promise<Endpoint | undefined> {
    const name = formatReference(subject)
    if (!this.#servers.has(name)) await this.resolve(subject, signal)
    const server = this.#servers.get(name)
    return endpoints.find(({ reference }) => server === formatReference(reference))
  }

  #at(endpoint: Endpoint): RegistryClient {
    return endpoint.insecure ? this.#insecureClient : this.#client
  }

  /** Undefined only where every endpoint that is not blocked answered, and none has it. */
  async #firstFound<T>(
    reference: Reference,
    signal: AbortSignal | undefined,
    ask: (endpoint: Endpoint) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { endpoints } = resolveEndpoints(this.#conf, reference)
    const absent: Endpoint[] = []
    try {
      const { endpoint, value } = await this.#first(reference, endpoints, async (endpoint) => {
        const answer = await ask(endpoint)
        if (answer !== undefined) return answer
        absent.push(endpoint)
        throw notFound(endpoint)
      })
      this.#served.set(repositoryName(reference), endpoint)
      this.#servers.set(formatReference(reference), formatReference(endpoint.reference))
      return value
    } catch (error) {
      signal?.throwIfAborted()
      const asked = endpoints.filter(({ blockedBy }) => blockedBy === undefined)
      if (asked.length > 0 && absent.length === asked.length) return undefined
      throw error
    }
  }

  /** Endpoints by the repository's name and a digest, the one that served its manifest first. */
  #inOrderOfService(repository: Reference, digest: Digest): readonly Endpoint[] {
    const { registry, repository: path } = repository
    const { endpoints } = resolveEndpoints(this.#conf, { registry, repository: path, digest })
    const served = this.#served.get(repositoryName(repository))
    if (served === undefined) return endpoints
    const isServed = (one: Endpoint) => repositoryName(one.reference) === repositoryName(served.reference)
    const { tag: _, ...place } = served.reference
    return [{ ...served, reference: place }, ...endpoints.filter((one) => !isServed(one))]
  }

  async #first<T>(
    wanted: Reference,
    endpoints: readonly Endpoint[],
    ask: (endpoint: Endpoint) => Promise<T>,
  ): Promise<Outcome<T>> {
    const failures: { endpoint: Endpoint; error: KnownError }[] = []
    for (const endpoint of endpoints) {
      try {
        if (endpoint.blockedBy !== undefined) throw blocked(endpoint)
        return { endpoint, value: await ask(endpoint) }
      } catch (error) {
        if (error instanceof ConsumerFailure) throw error.error
        if (!(error instanceof KnownError) || error.code === 'INTERRUPTED') throw error
        failures.push({ endpoint, error })
      }
    }
    throw allFailed(wanted, failures)
  }
}

/** The reader of a blob gave up: no other endpoint would please it. */
class ConsumerFailure extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('the consumer of a blob failed')
    this.error = error
  }
}

function blocked(endpoint: Endpoint): KnownError {
  const name = formatReference(endpoint.reference)
  return new KnownError('REGISTRY_BLOCKED', `${name}: blocked by the entry for ${endpoint.blockedBy}`, {
    details: { image: name, host: endpoint.reference.registry, prefix: endpoint.blockedBy },
  })
}

function notFound(endpoint: Endpoint): KnownError {
  const name = formatReference(endpoint.reference)
  return new KnownError('MANIFEST_UNKNOWN', `${name}: ${endpoint.reference.registry} has no such manifest`, {
    details: { image: name, host: endpoint.reference.registry, status: 404 },
  })
}

/**
 * One error for all endpoints; its chain of causes has each with its own reason, in the order they were tried.
 *
 * The code is the one of the first mirror that was really asked: the last endpoint is the origin, which in a
 * disconnected place is expected to be out of reach.
 */
function allFailed(wanted: Reference, failures: readonly { endpoint: Endpoint; error: KnownError }[]): KnownError {
  const asked = failures.find(({ error }) => error.code !== 'REGISTRY_BLOCKED') ?? failures[0]
  if (asked === undefined) throw new Error('an image has no endpoint')
  if (failures.length === 1) return asked.error
  const details: Record<string, string | number> = { image: formatReference(wanted), endpoints: failures.length }
  let chain: KnownError | undefined
  for (const [index, { endpoint, error }] of [...failures.entries()].reverse()) {
    const place = endpoint.isMirror ? 'mirror' : 'source'
    details[`endpoint${index + 1}`] = formatReference(endpoint.reference)
    details[`code${index + 1}`] = error.code
    chain = new KnownError(error.code, `(${index + 1}) ${place}: ${error.message}`, { cause: chain, hint: error.hint })
  }
  const message = `${formatReference(wanted)}: none of ${failures.length} endpoints could serve it; ${asked.error.message}`
  return new KnownError(asked.error.code, message, {
    details,
    hint: asked.error.hint,
    cause: chain,
    retryable: failures.some(({ error }) => error.retryable),
  })
}
