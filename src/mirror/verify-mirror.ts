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
import { blobsOf, parseManifest } from '../oci/manifest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { byDigest } from './closure.ts'
import type { DoneImage } from './done.ts'
import { chosenChildren, formatPlatform, parsePlatform } from './platform-choice.ts'
import type { PlatformChoice } from './selection.ts'

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
  /**
   * The images with findings by `DoneImage.destination`, each with its blobs whose bytes are wrong. What several images
   * of a repository share is looked at once, and stands with one of them.
   */
  readonly broken: ReadonlyMap<string, readonly Digest[]>
}

/** One image that must be at the target. */
interface Expected {
  readonly destination: Reference
  readonly digest: Digest
  /** How findings name it. */
  readonly source: string
  /** `DoneImage.destination` of the image, or of what this is attached to. */
  readonly image: string
  /** The only platforms of it that have to be there. */
  readonly platforms?: readonly PlatformChoice[]
}

const wrongBytes: ReadonlySet<string> = new Set(['BLOB_DIGEST_MISMATCH', 'BLOB_SIZE_MISMATCH'])
const mirrorAgain = 'Run sallyport mirror again with the same configuration: it moves what is missing.'
const resend =
  'Run sallyport mirror again with the same configuration: it sends this blob anew. If it is found again, the registry ' +
  'keeps what it has: delete the blob there, run its garbage collection, and mirror again.'

/** @throws KnownError only where the target as a whole does not answer; what is missing is a finding */
export async function verifyMirror(images: readonly DoneImage[], options: VerifyOptions): Promise<VerifyReport> {
  const walk = new Walk(options)
  const expected = images.flatMap((image): Expected[] => [
    {
      destination: parseReference(image.destination),
      digest: image.digest,
      source: `${image.why}: ${image.source}`,
      image: image.destination,
      ...(image.platforms && { platforms: image.platforms.map(parsePlatform) }),
    },
    ...image.attached.map(({ destination, digest }) => ({
      destination: parseReference(destination),
      digest: parseDigest(digest),
      source: `attached to ${image.why}: ${image.source}`,
      image: image.destination,
    })),
  ])
  await mapConcurrently(expected, 16, (image) => walk.image(image))
  return walk.report()
}

class Walk {
  readonly #options: VerifyOptions
  readonly #findings: Finding[] = []
  readonly #broken = new Map<string, Digest[]>()
  /** By `HOST/PATH DIGEST`: the same blob in the same repository is asked for once. */
  readonly #blobs = new Map<string, Promise<void>>()
  readonly #manifests = new Map<string, Promise<void>>()
  #images = 0
  #bytes = 0

  constructor(options: VerifyOptions) {
    this.#options = options
  }

  async image(expected: Expected): Promise<void> {
    const { destination, digest } = expected
    const name = formatReference(destination)
    const there = await this.#attempt(expected, () => this.#options.registry.resolve(destination, this.#options.signal))
    if (there.failed) return
    if (!there.value) this.#find(expected, { id: 'mirror.image-missing', summary: `${name} is not at the target` })
    else if (there.value.digest !== digest)
      this.#find(expected, { id: 'mirror.image-changed', summary: `${name} is ${there.value.digest}, not ${digest}` })
    await this.#manifest(byDigest(destination, digest), expected)
    this.#images += 1
    this.#options.onChecked?.(this.#counts())
  }

  async #manifest(reference: Reference, expected: Expected): Promise<void> {
    const key = [formatReference(reference), ...(expected.platforms ?? []).map(formatPlatform)].join(' ')
    const walk = this.#manifests.get(key) ?? this.#walkManifest(reference, expected)
    this.#manifests.set(key, walk)
    await walk
  }

  async #walkManifest(reference: Reference, expected: Expected): Promise<void> {
    const { registry, signal } = this.#options
    const answer = await this.#attempt(expected, () => registry.fetchManifest(reference, signal))
    if (answer.failed) return
    const name = formatReference(reference)
    if (!answer.value)
      return this.#find(expected, { id: 'mirror.manifest-missing', summary: `${name}: the manifest is missing` })
    const { bytes, descriptor } = answer.value
    const parsed = await this.#attempt(expected, async () => parseManifest(bytes, descriptor.mediaType, name))
    if (parsed.failed) return
    const manifest = parsed.value
    for (const child of chosenChildren(manifest, expected.platforms))
      await this.#manifest(byDigest(reference, child.digest), expected)
    await Promise.all(blobsOf(manifest).map((blob) => this.#blob(reference, blob, expected)))
  }

  async #blob(repository: Reference, blob: Descriptor, expected: Expected): Promise<void> {
    const key = `${repositoryName(repository)} ${blob.digest}`
    const check = this.#blobs.get(key) ?? this.#checkBlob(repository, blob, expected)
    this.#blobs.set(key, check)
    await check
  }

  async #checkBlob(repository: Reference, blob: Descriptor, expected: Expected): Promise<void> {
    const name = `${repositoryName(repository)}: blob ${blob.digest}`
    const { registry, signal, deep } = this.#options
    const there = await this.#attempt(expected, () => registry.blobSize(repository, blob.digest, signal))
    if (there.failed) return
    if (there.value === undefined)
      return this.#find(expected, { id: 'mirror.blob-missing', summary: `${name} (${blob.size} bytes) is missing` })
    if (!Number.isNaN(there.value) && there.value !== blob.size) {
      this.#wrongBlob(expected, blob.digest)
      const summary = `${name} has ${there.value} bytes, not ${blob.size}`
      return this.#find(expected, { id: 'mirror.blob-size', summary, remedy: resend })
    }
    if (deep) await this.#attempt(expected, () => this.#hash(repository, blob, expected))
  }

  async #hash(repository: Reference, blob: Descriptor, expected: Expected): Promise<void> {
    const { registry, signal } = this.#options
    const name = repositoryName(repository)
    try {
      for await (const chunk of verified(registry.fetchBlob(repository, blob, { signal }), blob, name)) {
        this.#bytes += chunk.byteLength
      }
    } catch (error) {
      const isWrong = error instanceof KnownError && wrongBytes.has(error.code)
      if (!isWrong) throw error
      this.#wrongBlob(expected, blob.digest)
      this.#find(expected, {
        id: 'mirror.blob-changed',
        summary: `${name}: blob ${blob.digest} has other bytes`,
        remedy: resend,
      })
    }
  }

  /** A failure that the registry answers with is a finding; one that stops everything is thrown. */
  async #attempt<T>(
    expected: Expected,
    action: () => Promise<T>,
  ): Promise<{ failed: true } | { failed: false; value: T }> {
    try {
      return { failed: false, value: await action() }
    } catch (error) {
      this.#options.signal.throwIfAborted()
      const isGeneral =
        error instanceof KnownError &&
        ['REGISTRY_UNREACHABLE', 'REGISTRY_TLS', 'REGISTRY_UNAUTHORIZED'].includes(error.code)
      if (!(error instanceof KnownError) || isGeneral) throw error
      this.#find(expected, { id: 'mirror.unreadable', summary: error.message, remedy: error.hint })
      return { failed: true }
    }
  }

  #wrongBlob({ image }: Expected, digest: Digest): void {
    this.#broken.set(image, [...(this.#broken.get(image) ?? []), digest])
  }

  #find({ source, image }: Expected, { id, summary, remedy = mirrorAgain }: Omit<Finding, 'severity'>): void {
    this.#findings.push(finding({ id, severity: 'error', summary: `${summary} (${source})`, remedy }))
    this.#broken.set(image, this.#broken.get(image) ?? [])
  }

  #counts(): VerifyCounts {
    return { images: this.#images, manifests: this.#manifests.size, blobs: this.#blobs.size, bytes: this.#bytes }
  }

  report(): VerifyReport {
    const findings = this.#findings.toSorted((a, b) => (a.summary < b.summary ? -1 : 1))
    return { ...this.#counts(), findings, broken: this.#broken }
  }
}
