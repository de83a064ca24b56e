/** Manifests and tags of registries (distribution-spec, "Pulling manifests", "Pushing Manifests", "Listing Tags"). */
import { KnownError } from '../errors/known-error.ts'
import type { RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf, isDigest } from '../oci/digest.ts'
import { maxManifestBytes, parseManifest } from '../oci/manifest.ts'
import { isManifestType, manifestAccept } from '../oci/media-type.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { Connections, RegistryRequest } from './connections.ts'
import type { HttpAnswer } from './http-message.ts'
import { nextPage } from './next-page.ts'
import { drainBody } from './read-body.ts'

const maxListBytes = 64 * 1024 * 1024

type ManifestRequest = Partial<RegistryRequest> & Pick<RegistryRequest, 'method' | 'expect'>

export class Manifests {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  /** By HEAD; by GET where a registry's HEAD does not tell enough. */
  async resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined> {
    const answer = await this.#send(reference, { method: 'HEAD', expect: [200, 404, 405, 501], signal })
    drainBody(answer)
    if (answer.status === 404) return undefined
    const digest = this.#headerDigest(reference, answer) ?? reference.digest
    const size = lengthOf(answer)
    const mediaType = bareType(answer)
    if (answer.status === 200 && digest !== undefined && size !== undefined && isManifestType(mediaType)) {
      return { mediaType, digest, size }
    }
    return (await this.fetch(reference, signal))?.descriptor
  }

  async fetch(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined> {
    const request = this.#request(reference, { method: 'GET', expect: [200, 404], signal })
    const { answer, bytes } = await this.#connections.read(request, maxManifestBytes)
    if (answer.status === 404) return undefined
    const origin = formatReference(reference)
    const announced = this.#headerDigest(reference, answer)
    const named = reference.digest ?? announced
    const digest = digestOf(bytes, named === undefined ? 'sha256' : algorithmOf(named))
    if (named !== undefined && named !== digest)
      throw wrongDigest(reference, { expected: named, actual: digest, answer })
    const { mediaType } = parseManifest(bytes, bareType(answer), origin)
    return { descriptor: { mediaType, digest, size: bytes.byteLength }, bytes }
  }

  /**
   * Stores a manifest under the tag of `reference`, or else under its digest.
   *
   * @returns true where the registry says that it took note of the manifest's `subject`
   */
  async push(reference: Reference, manifest: RawManifest, signal?: AbortSignal): Promise<boolean> {
    const { digest, mediaType } = manifest.descriptor
    const answer = await this.#send(
      { ...reference, digest },
      {
        method: 'PUT',
        actions: 'pull,push',
        path: `${reference.repository}/manifests/${reference.tag ?? digest}`,
        headers: { 'content-type': mediaType },
        body: manifest.bytes,
        expect: [201, 200, 202],
        answerTimeoutMs: 300_000,
        signal,
      },
    )
    drainBody(answer)
    const stored = answer.headers['docker-content-digest']
    if (typeof stored === 'string' && stored !== digest) {
      throw new KnownError(
        'BLOB_DIGEST_MISMATCH',
        `${formatReference(reference)}: ${reference.registry} stored ${stored} instead of ${digest}`,
        {
          details: { image: formatReference(reference), host: reference.registry, expected: digest, actual: stored },
          retryable: false,
          hint: 'This registry rewrites manifests, so that digests change. Turn the conversion off there, or use another registry.',
        },
      )
    }
    return answer.headers['oci-subject'] !== undefined
  }

  /**
   * Deletes by digest, which takes its tags with it, or a tag alone where the reference has no digest.
   *
   * @returns false where there was nothing to delete
   * @throws KnownError REGISTRY_DELETE_REFUSED where the registry does not delete at all, or not by tag
   */
  async delete(reference: Reference, signal?: AbortSignal): Promise<boolean> {
    // `*`: Quay knows no action "delete" and refuses a scope that names it (containers/image docker_image.go:deleteImage).
    const request = { method: 'DELETE', actions: '*', expect: [200, 202, 204, 404], signal } as const
    const answer = await this.#send(reference, request).catch((error: unknown) => {
      throw saysUnsupported(error) ? deleteRefused(reference, error) : error
    })
    drainBody(answer)
    return answer.status !== 404
  }

  /** Every tag, in the registry's order; undefined where there is no such repository. */
  async tags(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    const tags: string[] = []
    let path: string | URL | undefined = `${repository.repository}/tags/list?n=1000`
    while (path !== undefined) {
      const request: RegistryRequest = this.#request(repository, { method: 'GET', path, expect: [200, 404], signal })
      const { answer, bytes } = await this.#connections.read(request, maxListBytes)
      if (answer.status === 404) return undefined
      path = nextPage(answer)
      tags.push(...readTags(bytes, repository))
    }
    return tags
  }

  #send(reference: Reference, request: ManifestRequest): Promise<HttpAnswer> {
    return this.#connections.send(this.#request(reference, request))
  }

  #request(reference: Reference, request: ManifestRequest): RegistryRequest {
    const { registry, repository, tag, digest } = reference
    return {
      registry,
      repository,
      path: `${repository}/manifests/${digest ?? tag ?? 'latest'}`,
      subject: formatReference(reference),
      actions: 'pull',
      lane: 'request',
      headers: { accept: manifestAccept },
      ...request,
    }
  }

  /** @throws KnownError BLOB_DIGEST_MISMATCH where the header names another manifest than was asked for */
  #headerDigest(reference: Reference, answer: HttpAnswer): Digest | undefined {
    const header = answer.headers['docker-content-digest']
    if (typeof header !== 'string' || !isDigest(header)) return undefined
    const { digest } = reference
    const isComparable = digest !== undefined && algorithmOf(digest) === algorithmOf(header)
    if (!isComparable || digest === header) return digest ?? header
    answer.body.destroy()
    throw wrongDigest(reference, { expected: digest, actual: header, answer })
  }
}

function wrongDigest(
  reference: Reference,
  { expected, actual, answer }: { expected: Digest; actual: Digest; answer: HttpAnswer },
): KnownError {
  const origin = formatReference(reference)
  const header = answer.headers['docker-content-digest']
  const who = reference.digest === undefined ? 'its Docker-Content-Digest header says' : 'the reference says'
  const what = header === actual ? 'its Docker-Content-Digest header says' : 'the bytes have'
  return new KnownError(
    'BLOB_DIGEST_MISMATCH',
    `${origin}: ${answer.url.host} sent another manifest: ${who} ${expected}, ${what} ${actual}`,
    {
      details: {
        image: origin,
        host: answer.url.host,
        status: answer.status,
        path: answer.url.pathname,
        expected,
        actual,
      },
    },
  )
}

/** distribution answers 400 with UNSUPPORTED, or with DIGEST_INVALID where a tag stands in the place of a digest. */
function saysUnsupported(error: unknown): error is KnownError {
  if (!(error instanceof KnownError)) return false
  const { status, registryCode } = error.details
  if (status === 405 || status === 501) return true
  return status === 400 && ['UNSUPPORTED', 'DIGEST_INVALID'].includes(String(registryCode))
}

function deleteRefused(reference: Reference, cause: KnownError): KnownError {
  const { registry, digest } = reference
  const image = formatReference(reference)
  const what = digest === undefined ? 'does not delete a tag by itself' : 'does not delete manifests'
  const { status } = cause.details
  return new KnownError('REGISTRY_DELETE_REFUSED', `${image}: ${registry} ${what} (DELETE answered ${status})`, {
    details: { image, host: registry, status },
    cause,
  })
}

function bareType({ headers }: HttpAnswer): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
}

function lengthOf({ headers }: HttpAnswer): number | undefined {
  const length = headers['content-length']
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
}

function readTags(body: Uint8Array, repository: Reference): readonly string[] {
  const invalid = (cause?: unknown) =>
    new KnownError('REGISTRY_PROTOCOL', `${repositoryName(repository)}: the list of tags is not a list of tags`, {
      details: { image: repositoryName(repository), host: repository.registry },
      cause,
    })
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder().decode(body))
  } catch (cause) {
    throw invalid(cause)
  }
  if (typeof document !== 'object' || document === null || !('tags' in document)) throw invalid()
  const tags: unknown = document.tags ?? []
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) throw invalid()
  return tags
}
