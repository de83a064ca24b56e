/**
 * Pulls images as the bootstrap host would, without moving their layers: through its registries.conf, with its trust and
 * its credentials, manifest, config and every layer asked for at the endpoint that answers first.
 *
 * Places outside the closed network are never asked: there they are out of reach, and an answer here would hide a mirror
 * that lacks the image.
 */
import { KnownError } from '../../errors/known-error.ts'
import type { RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import type { Digest } from '../../oci/digest.ts'
import { blobsOf, type ImageManifest, parseManifest } from '../../oci/manifest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../../oci/reference.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { type Endpoint, resolveEndpoints } from '../../registries/resolve.ts'
import type { RegistryClient } from '../../remote/client.ts'
import type { CredentialsProvider } from '../../remote/credentials.ts'
import type { ProbedHost } from './host-probe.ts'
import { parseImageConfig } from './image-config.ts'
import { type FailedEndpoint, type PullFailure, pullMessage } from './pull-failure.ts'
import { registryFailure } from './registry-failure.ts'

export interface PulledImage {
  readonly kind: 'pulled'
  /** As it was asked for. */
  readonly reference: string
  /** Where it came from. */
  readonly endpoint: Reference
  readonly isMirror: boolean
  /** As registries.conf says of the endpoint. */
  readonly insecure: boolean
  /** Of what the reference stands for: of the index, where it is one. */
  readonly digest: Digest
  readonly manifest: ImageManifest
  /** As Go names it, from the config. */
  readonly architecture: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /** Of config and layers together, compressed. */
  readonly sizeBytes: number
  /** Endpoints that failed before. */
  readonly before: readonly FailedEndpoint[]
}

export interface FailedPull {
  readonly kind: 'failed'
  readonly reference: string
  /** `initializing source docker://REF: …`, as podman says it. */
  readonly message: string
  /** In the order they were tried, and those that would have been. */
  readonly endpoints: readonly FailedEndpoint[]
  /** The registries.conf rewriting that makes no reference ends a pull without any endpoint. */
  readonly error?: KnownError
}

export type Pull = PulledImage | FailedPull

export interface PullerOptions {
  readonly conf: RegistriesConf
  readonly client: RegistryClient
  readonly credentials: CredentialsProvider
  /** Looked at once for each host. */
  readonly probe: (host: string, insecure: boolean) => Promise<ProbedHost>
  /** True where a closed network has no way to. */
  readonly isOutside: (registry: string) => boolean
  /** Of the bootstrap host, as Go names it. */
  readonly architecture: string
  readonly signal: AbortSignal
}

export class ImagePuller {
  readonly #options: PullerOptions
  readonly #pulls = new Map<string, Promise<Pull>>()
  readonly #blobs = new Map<string, Promise<PullFailure | undefined>>()

  constructor(options: PullerOptions) {
    this.#options = options
  }

  /** The same answer for the same reference: nothing is asked twice. */
  pull(reference: string): Promise<Pull> {
    const known = this.#pulls.get(reference)
    if (known !== undefined) return known
    const pulled = this.#pull(reference)
    this.#pulls.set(reference, pulled)
    return pulled
  }

  /** What a tag stands for beside an image that was pulled (a sigstore attachment); undefined where it is not there. */
  async resolveBeside({ endpoint, insecure }: PulledImage, tag: string): Promise<Descriptor | undefined> {
    const { registry, repository } = endpoint
    return this.#clientFor({ insecure }).resolve({ registry, repository, tag }, this.#options.signal)
  }

  async #pull(text: string): Promise<Pull> {
    const failed: FailedEndpoint[] = []
    let endpoints: readonly Endpoint[]
    try {
      endpoints = this.#endpoints(text)
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      return { kind: 'failed', reference: text, message: error.message, endpoints: [], error }
    }
    for (const endpoint of endpoints) {
      const outcome = await this.#pullFrom(endpoint)
      if ('fault' in outcome) {
        const { reference, isMirror } = endpoint
        failed.push({ ...outcome, reference: formatReference(reference), host: reference.registry, isMirror })
        // From the first manifest on, everything comes from this endpoint (containers/image docker_image_src.go).
        if (outcome.isFinal) break
      } else return { kind: 'pulled', reference: text, before: failed, ...outcome }
    }
    return { kind: 'failed', reference: text, message: wholeMessage(text, failed), endpoints: failed }
  }

  #endpoints(text: string): readonly Endpoint[] {
    return resolveEndpoints(this.#options.conf, parseReference(text)).endpoints
  }

  #clientFor({ insecure }: Pick<Endpoint, 'insecure'>): RegistryClient {
    const { client } = this.#options
    return insecure ? client.insecurely() : client
  }

  async #pullFrom(endpoint: Endpoint): Promise<Found | (PullFailure & { readonly isFinal?: boolean })> {
    const { reference } = endpoint
    const { registry } = reference
    if (endpoint.blockedBy !== undefined) {
      return { fault: 'blocked', message: `registry ${registry} is blocked in /etc/containers/registries.conf` }
    }
    if (this.#options.isOutside(registry)) {
      const message = `pinging container registry ${registry}: Get "https://${registry}/v2/": dial tcp: i/o timeout`
      return { fault: 'outside', message, evidence: 'not asked: a closed network has no way there' }
    }
    const probed = await this.#options.probe(registry, endpoint.insecure)
    if (probed.failure !== undefined) return probed.failure
    try {
      return await this.#read(endpoint)
    } catch (error) {
      this.#options.signal.throwIfAborted()
      return registryFailure(error, { reference, credentials: this.#options.credentials })
    }
  }

  async #read(endpoint: Endpoint): Promise<Found | (PullFailure & { readonly isFinal?: boolean })> {
    const { reference } = endpoint
    const client = this.#clientFor(endpoint)
    const { signal, architecture } = this.#options
    const raw = await client.fetchManifest(reference, signal)
    if (raw === undefined) return manifestMissing(reference)
    const chosen = await this.#imageIn(raw, reference, client)
    if (chosen === undefined) {
      const message = `choosing an image from manifest list docker://${formatReference(reference)}: no image found in image index for architecture "${architecture}", variant "", OS "linux"`
      return { fault: 'platform-missing', message, isFinal: true }
    }
    const { manifest } = chosen
    const config = await this.#config(manifest, reference, client)
    if ('fault' in config) return { ...config, isFinal: true }
    const missing = await this.#firstMissing(blobsOf(manifest).slice(1), reference, client)
    if (missing !== undefined) return { ...missing, part: 'layer', isFinal: true }
    const sizeBytes = blobsOf(manifest).reduce((sum, { size }) => sum + size, 0)
    const { digest } = raw.descriptor
    const { isMirror, insecure } = endpoint
    return { endpoint: reference, isMirror, insecure, digest, manifest, sizeBytes, ...config }
  }

  async #config(
    { config }: ImageManifest,
    reference: Reference,
    client: RegistryClient,
  ): Promise<Awaited<ReturnType<typeof parseImageConfig>> | PullFailure> {
    const { signal, credentials } = this.#options
    try {
      return await parseImageConfig(client, { reference, config, signal })
    } catch (error) {
      signal.throwIfAborted()
      const failure = await registryFailure(error, { reference, credentials, blob: config })
      return { ...failure, message: `parsing image configuration: ${failure.message}`, part: 'config' }
    }
  }

  /** The image for this architecture; the reference itself where it is no index. */
  async #imageIn(raw: RawManifest, place: Reference, client: RegistryClient): Promise<ImageInIndex | undefined> {
    const name = formatReference(place)
    const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, name)
    if (manifest.kind === 'image') return { manifest }
    const { architecture, signal } = this.#options
    const child = manifest.manifests.find(({ platform }) => platform?.architecture === architecture)
    if (child === undefined) return undefined
    const { registry, repository } = place
    const reference = { registry, repository, digest: child.digest }
    const fetched = await client.fetchManifest(reference, signal)
    if (fetched === undefined) throw new KnownError('MANIFEST_UNKNOWN', `${name}: ${child.digest} is not there`)
    const image = parseManifest(fetched.bytes, fetched.descriptor.mediaType, formatReference(reference))
    return image.kind === 'image' ? { manifest: image } : undefined
  }

  async #firstMissing(
    blobs: readonly Descriptor[],
    place: Reference,
    client: RegistryClient,
  ): Promise<PullFailure | undefined> {
    const answers = await Promise.all(blobs.map((blob) => this.#blobFailure(blob, place, client)))
    return answers.find((failure) => failure !== undefined)
  }

  /** Images share layers: each is asked for once in a repository. */
  #blobFailure(blob: Descriptor, place: Reference, client: RegistryClient): Promise<PullFailure | undefined> {
    const key = `${repositoryName(place)} ${blob.digest}`
    const known = this.#blobs.get(key)
    if (known !== undefined) return known
    const asked = this.#askForBlob(blob, place, client)
    this.#blobs.set(key, asked)
    return asked
  }

  async #askForBlob(blob: Descriptor, place: Reference, client: RegistryClient): Promise<PullFailure | undefined> {
    const { signal, credentials } = this.#options
    const name = repositoryName(place)
    try {
      const size = await client.blobSize(place, blob.digest, signal)
      if (size === blob.size) return undefined
      if (size !== undefined) {
        const evidence = `${name} says that ${blob.digest} has ${size} bytes, and its manifest ${blob.size}`
        return { fault: 'content-damaged', message: `reading blob ${blob.digest}: unexpected EOF`, evidence }
      }
      const message = `reading blob ${blob.digest}: fetching blob: blob unknown to registry`
      return { fault: 'blob-missing', message, evidence: `HEAD of ${blob.digest} at ${name} answered 404` }
    } catch (error) {
      signal.throwIfAborted()
      return registryFailure(error, { reference: place, credentials, blob })
    }
  }
}

type Found = Pick<
  PulledImage,
  'endpoint' | 'isMirror' | 'insecure' | 'digest' | 'manifest' | 'architecture' | 'labels' | 'sizeBytes'
>

interface ImageInIndex {
  readonly manifest: ImageManifest
}

/** An error after the first manifest is the end, and no endpoint is named with it. */
function wholeMessage(text: string, failed: readonly FailedEndpoint[]): string {
  const last = failed.at(-1)
  const isInside =
    last?.fault === 'blob-missing' || last?.fault === 'content-damaged' || last?.fault === 'platform-missing'
  return isInside ? last.message : `initializing source docker://${text}: ${pullMessage(failed)}`
}

function manifestMissing(reference: Reference): PullFailure {
  const { tag, digest } = reference
  const message = `reading manifest ${digest ?? tag} in ${repositoryName(reference)}: manifest unknown`
  return { fault: 'manifest-missing', message, evidence: `GET of the manifest answered 404` }
}
