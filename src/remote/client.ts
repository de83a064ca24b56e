/**
 * The client of the distribution protocol: one object for all registries that a process talks to.
 *
 * Source: opencontainers/distribution-spec spec.md.
 */
import type { ChunkStream } from '../oci/chunk-stream.ts'
import type {
  ContentSource,
  ContentTarget,
  FetchBlobOptions,
  OpenBlob,
  PushBlobOptions,
  RawManifest,
} from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { type Reference, repositoryName } from '../oci/reference.ts'
import { Authorizer } from './authorizer.ts'
import type { UploadSettings } from './blob-upload.ts'
import { Blobs } from './blobs.ts'
import { listRepositories } from './catalog.ts'
import { Connections } from './connections.ts'
import type { CredentialsProvider } from './credentials.ts'
import { Manifests } from './manifests.ts'
import { type ConnectionSettings, openTransport, type TransportLimits } from './open-transport.ts'
import { Referrers } from './referrers.ts'
import { TokenService } from './token-service.ts'

/** Sizes in bytes. */
export interface ClientLimits extends TransportLimits {
  /** Blobs up to this size are uploaded in one request. */
  readonly monolithicBytes?: number
  /** Size of the chunks of larger ones. */
  readonly chunkBytes?: number
}

export interface RegistryClientOptions extends ConnectionSettings {
  readonly credentials: CredentialsProvider
  /** True for hosts whose certificate is not verified, and where plain HTTP will do when there is no HTTPS. */
  readonly isInsecure?: (registry: string) => boolean
  /** Hosts of token services that may receive the credentials of any registry (docs/adr/0004). */
  readonly tokenHosts?: readonly string[]
  readonly limits?: ClientLimits
}

export interface RegistryClient extends ContentSource, ContentTarget {
  fetchBlob(repository: Reference, descriptor: Descriptor, options?: FetchBlobOptions): ChunkStream
  tags(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined>
  /** Size in bytes of a blob, or undefined where this repository does not have it. */
  blobSize(repository: Reference, digest: Digest, signal?: AbortSignal): Promise<number | undefined>
  /**
   * Deletes a manifest by digest, and with it the tags that stand for it; or a tag alone where the reference has no digest.
   * What it named stays until the registry collects its garbage.
   *
   * @returns false where there was nothing to delete
   * @throws KnownError REGISTRY_DELETE_REFUSED
   */
  deleteManifest(reference: Reference, signal?: AbortSignal): Promise<boolean>
  /** Every repository of a registry, without the host; undefined where it does not tell them. */
  repositories(registry: string, signal?: AbortSignal): Promise<readonly string[] | undefined>
  /**
   * @param place `HOST[:PORT]`, or with the path whose credentials count: an auth file may have others for each path
   * @throws KnownError where the registry cannot be reached or does not let us in
   */
  ping(place: string, signal?: AbortSignal): Promise<void>
  /** The same connections and tokens, with every registry as if `isInsecure`: for a side with `tlsVerify: false`. */
  insecurely(): RegistryClient
  /** Lets go of idle connections. */
  close(): void
}

/** How a registry client is built: nothing is connected before the first request. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { log, limits = {} } = options
  const { transport, retries } = openTransport(options)
  const authorizer = new Authorizer({
    credentials: options.credentials,
    tokens: new TokenService(transport, retries),
    log,
    tokenHosts: options.tokenHosts ?? [],
  })
  const isInsecure = options.isInsecure ?? (() => false)
  return new DistributionClient(new Connections({ transport, authorizer, retries, isInsecure }), {
    monolithicBytes: limits.monolithicBytes ?? 32 * 1024 * 1024,
    chunkBytes: limits.chunkBytes ?? 64 * 1024 * 1024,
    refusesChunks: new Set(),
  })
}

/** A ping is answered with `{}`. */
const maxPingBytes = 1024 * 1024

class DistributionClient implements RegistryClient {
  readonly #connections: Connections
  readonly #uploads: UploadSettings
  readonly #manifests: Manifests
  readonly #blobs: Blobs
  readonly #referrers: Referrers

  constructor(connections: Connections, uploads: UploadSettings) {
    this.#connections = connections
    this.#uploads = uploads
    this.#manifests = new Manifests(connections)
    this.#blobs = new Blobs(connections, uploads)
    this.#referrers = new Referrers(connections, this.#manifests)
  }

  resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined> {
    return this.#manifests.resolve(reference, signal)
  }

  resolveBeside(
    { registry, repository }: Reference,
    tag: string,
    signal?: AbortSignal,
  ): Promise<Descriptor | undefined> {
    return this.resolve({ registry, repository, tag }, signal)
  }

  fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    return this.#manifests.fetch(reference, signal)
  }

  fetchBlob(repository: Reference, descriptor: Descriptor, options: FetchBlobOptions = {}): ChunkStream {
    return this.#blobs.fetch(repository, descriptor, options)
  }

  referrers(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]> {
    return this.#referrers.list(repository, subject, signal)
  }

  async hasBlob(repository: Reference, descriptor: Descriptor, signal?: AbortSignal): Promise<boolean> {
    const size = await this.#blobs.size(repository, descriptor.digest, signal)
    if (size === undefined) return false
    if (Number.isNaN(size) || size === descriptor.size) return true
    const name = `${repositoryName(repository)}@${descriptor.digest}`
    this.#connections.retries.log.warn(`${name} has ${size} bytes there instead of ${descriptor.size}; sent again`)
    return false
  }

  blobSize(repository: Reference, digest: Digest, signal?: AbortSignal): Promise<number | undefined> {
    return this.#blobs.size(repository, digest, signal)
  }

  mountBlob(repository: Reference, descriptor: Descriptor, from: Reference, signal?: AbortSignal): Promise<boolean> {
    return this.#blobs.mount({ repository, descriptor, options: signal === undefined ? {} : { signal } }, from)
  }

  pushBlob(
    repository: Reference,
    descriptor: Descriptor,
    open: OpenBlob,
    options: PushBlobOptions = {},
  ): Promise<void> {
    return this.#blobs.push({ repository, descriptor, open, options })
  }

  async pushManifest(reference: Reference, manifest: RawManifest, signal?: AbortSignal): Promise<void> {
    const knowsSubjects = await this.#manifests.push(reference, manifest, signal)
    if (!knowsSubjects) await this.#referrers.add(reference, manifest, signal)
  }

  tags(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    return this.#manifests.tags(repository, signal)
  }

  deleteManifest(reference: Reference, signal?: AbortSignal): Promise<boolean> {
    return this.#manifests.delete(reference, signal)
  }

  repositories(registry: string, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    return listRepositories(this.#connections, registry, signal)
  }

  async ping(place: string, signal?: AbortSignal): Promise<void> {
    const [registry = place, ...path] = place.split('/')
    const repository = path.length > 0 ? path.join('/') : undefined
    const request = { method: 'GET', registry, repository, path: '', subject: place, lane: 'request' } as const
    await this.#connections.read({ ...request, expect: [200], signal }, maxPingBytes)
  }

  insecurely(): RegistryClient {
    return new DistributionClient(this.#connections.insecurely(), this.#uploads)
  }

  close(): void {
    this.#connections.close()
  }
}
