/** Reads what lies in one repository of a registry, as far as a deletion has to know it. */
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { blobsOf, childrenOf, parseManifest } from '../oci/manifest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { byDigest } from './closure.ts'
import type { RepositoryState, StoredManifest, Unwanted } from './plan-deletion.ts'

export interface ReadRepositoryOptions {
  /** Says what is there now. */
  readonly registry: Pick<ContentSource, 'resolve' | 'referrers'> & Pick<ContentTarget, 'tags'>
  /** Gives manifests by digest; may have them at hand. */
  readonly manifests: Pick<ContentSource, 'fetchManifest'>
  readonly signal: AbortSignal
  /** Digests that may lie there without a tag. */
  readonly digests: readonly Digest[]
  /** Look for referrers of what these would delete. */
  readonly referrersOf: readonly Unwanted[]
}

/** @throws KnownError the REGISTRY_ codes, MANIFEST_INVALID */
export async function readRepository(repository: Reference, options: ReadRepositoryOptions): Promise<RepositoryState> {
  const { registry, signal, digests, referrersOf } = options
  const at = { registry: repository.registry, repository: repository.repository }
  const names = await registry.tags(at, signal)
  if (names === undefined && digests.length === 0) {
    return { tags: new Map(), manifests: new Map(), referrers: new Map() }
  }
  const resolved = await mapConcurrently(names ?? [], 32, async (tag) => {
    // A tag that was deleted since is none.
    const digest = (await registry.resolve({ ...at, tag }, signal))?.digest
    return digest === undefined ? [] : [[tag, digest] as const]
  })
  const tags = new Map(resolved.flat())
  const present = await mapConcurrently([...new Set(digests)], 32, async (digest) => {
    const isThere = (await registry.resolve({ ...at, digest }, signal)) !== undefined
    return isThere ? [digest] : []
  })
  const walk = new Walk(at, options)
  await walk.visit([...new Set([...tags.values(), ...present.flat()])])
  const unwanted = referrersOf.flatMap(({ name }) => ('tag' in name ? (tags.get(name.tag) ?? []) : name.digest))
  const referrers = await walk.referrersBelow(unwanted)
  return { tags, manifests: walk.manifests, referrers }
}

class Walk {
  readonly manifests = new Map<Digest, StoredManifest>()
  readonly #repository: Reference
  readonly #options: ReadRepositoryOptions
  readonly #seen = new Set<Digest>()

  constructor(repository: Reference, options: ReadRepositoryOptions) {
    this.#repository = repository
    this.#options = options
  }

  async visit(digests: readonly Digest[]): Promise<void> {
    const fresh = digests.filter((digest) => !this.#seen.has(digest))
    for (const digest of fresh) this.#seen.add(digest)
    if (fresh.length === 0) return
    const read = await mapConcurrently(fresh, 32, (digest) => this.#read(digest))
    await this.visit([...new Set(read.flatMap((manifest) => manifest?.children ?? []))])
  }

  /** Referrers of what lies below `roots`, and of these, by subject. */
  async referrersBelow(roots: readonly Digest[]): Promise<ReadonlyMap<Digest, readonly Digest[]>> {
    const referrers = new Map<Digest, readonly Digest[]>()
    const pending = new Set(roots)
    while (pending.size > 0) {
      const batch = [...pending].filter((digest) => !referrers.has(digest) && this.manifests.has(digest))
      pending.clear()
      const found = await mapConcurrently(batch, 16, (digest) =>
        this.#options.registry.referrers(this.#repository, digest, this.#options.signal),
      )
      for (const [index, digest] of batch.entries()) {
        const attached = (found[index] ?? []).map((one) => one.digest)
        referrers.set(digest, attached)
        await this.visit(attached)
        for (const one of [...attached, ...(this.manifests.get(digest)?.children ?? [])]) pending.add(one)
      }
    }
    return referrers
  }

  async #read(digest: Digest): Promise<StoredManifest | undefined> {
    const { manifests, signal } = this.#options
    const reference = byDigest(this.#repository, digest)
    const raw = await manifests.fetchManifest(reference, signal)
    // An index may name images of platforms that were never brought here.
    if (!raw) return undefined
    const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(reference))
    const stored: StoredManifest = {
      size: raw.bytes.byteLength,
      children: childrenOf(manifest).map((child) => child.digest),
      blobs: blobsOf(manifest),
      ...(manifest.subject && { subject: manifest.subject.digest }),
    }
    this.manifests.set(digest, stored)
    return stored
  }
}
