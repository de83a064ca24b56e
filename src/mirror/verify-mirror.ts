/**
 * Is everything there? Walks what was mirrored at the target itself: every manifest by its digest, every blob by its
 * size, every attached signature; with `deep`, every byte.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, parseDigest } from '../oci/digest.ts'
import { blobsOf, childrenOf, parseManifest } from '../oci/manifest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { byDigest } from './closure.ts'
import type { DoneImage } from './done.ts'

export interface VerifyOptions {
  readonly registry: ContentSource & BlobSizes
  readonly signal: AbortSignal
  /** Read and hash every blob, instead of asking for its size. */
  readonly deep?: boolean
  readonly onChecked?: (checked: VerifyCounts) => void
}

/** Tells the size in bytes of a blob, undefined where it is not there, NaN where the registry does not say. */
interface BlobSizes {
  blobSize(repository: Reference, digest: Digest, signal?: AbortSignal): Promise<number | undefined>
}

export interface VerifyCounts {
  readonly images: number
  readonly manifests: number
  readonly blobs: number
  readonly bytes: number
}

export interface VerifyReport extends VerifyCounts {
  readonly findings: readonly Finding[]
}

/** One image that must be at the target. */
interface Expected {
  readonly destination: Reference
  readonly digest: Digest
  readonly source: string
}

/** @throws KnownError only where the target as a whole does not answer; what is missing is a finding */
export async function verifyMirror(images: readonly DoneImage[], options: VerifyOptions): Promise<VerifyReport> {
  const walk = new Walk(options)
  const expected = images.flatMap((image): Expected[] => [
    { destination: parseReference(image.destination), digest: image.digest, source: image.source },
    ...image.attached.map(({ destination, digest }) => ({
      destination: parseReference(destination),
      digest: parseDigest(digest),
      source: `what is attached to ${image.source}`,
    })),
  ])
  await mapConcurrently(expected, 16, (image) => walk.image(image))
  return walk.report()
}

class Walk {
  readonly #options: VerifyOptions
  readonly #findings: Finding[] = []
  /** By `HOST/PATH DIGEST`: the same blob in the same repository is asked for once. */
  readonly #blobs = new Map<string, Promise<void>>()
  readonly #manifests = new Map<string, Promise<void>>()
  #images = 0
  #bytes = 0

  constructor(options: VerifyOptions) {
    this.#options = options
  }

  async image({ destination, digest, source }: Expected): Promise<void> {
    const there = await this.#attempt(source, () => this.#options.registry.resolve(destination, this.#options.signal))
    if (there.failed) return
    if (!there.value) {
      this.#find('mirror.image-missing', `${formatReference(destination)} is not at the target (${source})`)
    } else if (there.value.digest !== digest) {
      const summary = `${formatReference(destination)} is ${there.value.digest}, not ${digest} (${source})`
      this.#find('mirror.image-changed', summary)
    }
    await this.#manifest(byDigest(destination, digest), source)
    this.#images += 1
    this.#options.onChecked?.(this.#counts())
  }

  async #manifest(reference: Reference, source: string): Promise<void> {
    const key = formatReference(reference)
    const walk = this.#manifests.get(key) ?? this.#walkManifest(reference, source)
    this.#manifests.set(key, walk)
    await walk
  }

  async #walkManifest(reference: Reference, source: string): Promise<void> {
    const { registry, signal } = this.#options
    const answer = await this.#attempt(source, () => registry.fetchManifest(reference, signal))
    if (answer.failed) return
    if (!answer.value) {
      this.#find('mirror.manifest-missing', `${formatReference(reference)}: the manifest is missing (${source})`)
      return
    }
    const { bytes, descriptor } = answer.value
    const name = formatReference(reference)
    const parsed = await this.#attempt(source, async () => parseManifest(bytes, descriptor.mediaType, name))
    if (parsed.failed) return
    const manifest = parsed.value
    for (const child of childrenOf(manifest)) await this.#manifest(byDigest(reference, child.digest), source)
    await Promise.all(blobsOf(manifest).map((blob) => this.#blob(reference, blob, source)))
  }

  async #blob(repository: Reference, blob: Descriptor, source: string): Promise<void> {
    const key = `${repositoryName(repository)} ${blob.digest}`
    const check = this.#blobs.get(key) ?? this.#checkBlob(repository, blob, source)
    this.#blobs.set(key, check)
    await check
  }

  async #checkBlob(repository: Reference, blob: Descriptor, source: string): Promise<void> {
    const name = repositoryName(repository)
    const { registry, signal, deep } = this.#options
    const there = await this.#attempt(source, () => registry.blobSize(repository, blob.digest, signal))
    if (there.failed) return
    if (there.value === undefined) {
      this.#find('mirror.blob-missing', `${name}: blob ${blob.digest} (${blob.size} bytes) is missing (${source})`)
      return
    }
    if (!Number.isNaN(there.value) && there.value !== blob.size) {
      this.#find(
        'mirror.blob-size',
        `${name}: blob ${blob.digest} has ${there.value} bytes, not ${blob.size} (${source})`,
      )
      return
    }
    if (deep) await this.#attempt(source, () => this.#hash(repository, blob))
  }

  async #hash(repository: Reference, blob: Descriptor): Promise<void> {
    const { registry, signal } = this.#options
    for await (const chunk of verified(
      registry.fetchBlob(repository, blob, { signal }),
      blob,
      repositoryName(repository),
    )) {
      this.#bytes += chunk.byteLength
    }
  }

  /** A failure that the registry answers with is a finding; one that stops everything is thrown. */
  async #attempt<T>(source: string, action: () => Promise<T>): Promise<{ failed: true } | { failed: false; value: T }> {
    try {
      return { failed: false, value: await action() }
    } catch (error) {
      this.#options.signal.throwIfAborted()
      const isGeneral =
        error instanceof KnownError &&
        ['REGISTRY_UNREACHABLE', 'REGISTRY_TLS', 'REGISTRY_UNAUTHORIZED'].includes(error.code)
      if (!(error instanceof KnownError) || isGeneral) throw error
      this.#find('mirror.unreadable', `${error.message} (${source})`, error.hint)
      return { failed: true }
    }
  }

  #find(
    id: string,
    summary: string,
    remedy = 'Run sallyport mirror again with the same configuration: it moves what is missing.',
  ): void {
    this.#findings.push(finding({ id, severity: 'error', summary, remedy }))
  }

  #counts(): VerifyCounts {
    return { images: this.#images, manifests: this.#manifests.size, blobs: this.#blobs.size, bytes: this.#bytes }
  }

  report(): VerifyReport {
    const findings = this.#findings.toSorted((a, b) => (a.summary < b.summary ? -1 : 1))
    return { ...this.#counts(), findings }
  }
}
