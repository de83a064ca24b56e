/**
 * What one repository holds: which blobs and manifests, which tags, which referrers. All of it small files.
 *
 * Nothing is cached: a second process on the same store, or garbage collection, is seen at once.
 */
import { closeSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, isDigest } from '../oci/digest.ts'
import type { BlobStore } from './blob-store.ts'
import { withDirectory } from './disk.ts'
import { privateFile } from './file-modes.ts'
import { absentAsUndefined, readText, removeFile, touch } from './files.ts'
import type { RepositoryPaths } from './paths.ts'

/** A manifest that is about to be stored, with what it says about itself. */
export interface ManifestRecord {
  readonly digest: Digest
  readonly bytes: Uint8Array
  readonly mediaType: string
  readonly tags: readonly string[]
  /** Where it has a `subject`: that, and the descriptor under which it is listed there. */
  readonly referrer?: { readonly subject: Digest; readonly descriptor: Descriptor }
}

export class Repository {
  readonly name: string
  readonly #store: BlobStore
  readonly #paths: RepositoryPaths

  constructor(store: BlobStore, name: string) {
    this.name = name
    this.#store = store
    this.#paths = store.paths.repository(name)
  }

  /** True once something was pushed here and not all of it was deleted. */
  exists(): boolean {
    return isThere(this.#paths.manifests) || isThere(this.#paths.blobs)
  }

  hasBlob(digest: Digest): boolean {
    return isThere(this.#paths.blob(digest))
  }

  /** Makes a blob that the store has a blob of this repository. */
  addBlob(digest: Digest): void {
    const path = this.#paths.blob(digest)
    if (touch(path, this.#store.clock.now())) return
    const file = withDirectory(path, this.#store.names, () => openSync(path, 'a', privateFile))
    closeSync(file)
    this.#store.names.changed(path)
  }

  /** True where the blob is in this repository; it then stays so for the grace period of garbage collection. */
  renewBlob(digest: Digest): boolean {
    return touch(this.#paths.blob(digest), this.#store.clock.now())
  }

  /** Takes a blob out of this repository unless somebody renewed it since `before`. */
  removeUnlessRenewed(digest: Digest, before: number): boolean {
    return changedAt(this.#paths.blob(digest)) < before && this.removeBlob(digest)
  }

  removeBlob(digest: Digest): boolean {
    return this.#remove(this.#paths.blob(digest))
  }

  /** The media type of a manifest of this repository, or undefined where it has none of that digest. */
  mediaTypeOf(digest: Digest): string | undefined {
    return readText(this.#paths.manifest(digest))
  }

  /** True where the manifest is here; it is then safe from garbage collection for the grace period. */
  renewManifest(digest: Digest): boolean {
    return touch(this.#paths.manifest(digest), this.#store.clock.now())
  }

  /** What a tag stands for, or undefined where there is no such tag. */
  resolve(tag: string): Digest | undefined {
    const digest = readText(this.#paths.tag(tag))
    return digest !== undefined && isDigest(digest) ? digest : undefined
  }

  /**
   * Stores a manifest, lists it with its subject and sets its tags, in this order, and returns when all of it and
   * everything it names is on the disk.
   *
   * @param check called when the bytes can be seen by garbage collection and nothing else is there yet: what the
   *   manifest needs and `check` finds will not be taken away
   * @throws KnownError DISK_FULL, and what `check` throws
   */
  async putManifest(manifest: ManifestRecord, check: () => void): Promise<void> {
    const { digest, mediaType, referrer } = manifest
    const store = this.#store
    await store.putManifestBytes(manifest, check, async () => {
      await store.replaceFile(this.#paths.manifest(digest), mediaType)
      if (referrer !== undefined)
        await store.replaceFile(this.#paths.referrer(referrer.subject, digest), JSON.stringify(referrer.descriptor))
      for (const tag of manifest.tags) await store.replaceFile(this.#paths.tag(tag), digest)
      await store.names.flush()
    })
  }

  /** When a manifest was pushed or asked for by HEAD, in ms since the epoch; never, for one that is not here. */
  manifestChanged(digest: Digest): number {
    return changedAt(this.#paths.manifest(digest))
  }

  /**
   * Removes a manifest, the tags that stand for it, and its place in the list of its subject.
   *
   * @param before in ms since the epoch: nothing is done where the manifest was renewed since then
   */
  async removeManifest(digest: Digest, subject: Digest | undefined, before?: number): Promise<boolean> {
    if (before !== undefined && this.manifestChanged(digest) >= before) return false
    for (const tag of this.tags() ?? []) if (this.resolve(tag) === digest) this.#remove(this.#paths.tag(tag))
    if (subject !== undefined) this.#remove(this.#paths.referrer(subject, digest))
    const wasThere = this.#remove(this.#paths.manifest(digest))
    await this.#store.names.flush()
    return wasThere
  }

  async removeTag(tag: string): Promise<boolean> {
    const wasThere = this.#remove(this.#paths.tag(tag))
    await this.#store.names.flush()
    return wasThere
  }

  /** Every tag in ASCII order; undefined where there is no such repository. */
  tags(): string[] | undefined {
    return entries(this.#paths.tags)?.sort() ?? (this.exists() ? [] : undefined)
  }

  manifests(): Digest[] {
    return digestsUnder(this.#paths.manifests)
  }

  blobs(): Digest[] {
    return digestsUnder(this.#paths.blobs)
  }

  /** The descriptors of the manifests whose subject is `subject`, in the order of their digests. */
  referrers(subject: Digest): Descriptor[] {
    const directory = this.#paths.referrers(subject)
    return (entries(directory) ?? []).sort().flatMap((name) => {
      const text = readText(`${directory}/${name}`)
      return text === undefined ? [] : [JSON.parse(text) as Descriptor]
    })
  }

  #remove(path: string): boolean {
    const wasThere = removeFile(path)
    if (wasThere) this.#store.names.changed(path)
    return wasThere
  }
}

/** The names of all repositories that have manifests, or anything in another of their parts, in ASCII order. */
export function repositoryNames(store: BlobStore, part: '_manifests' | '_blobs' = '_manifests'): string[] {
  const { repositories } = store.paths
  const walk = (path: string): string[] => {
    const names = entries(join(repositories, path)) ?? []
    const below = names
      .filter((name) => !name.startsWith('_'))
      .flatMap((name) => walk(path === '' ? name : `${path}/${name}`))
    const isRepository = names.includes(part) && digestsUnder(join(repositories, path, part)).length > 0
    return isRepository ? [path, ...below] : below
  }
  return walk('').sort()
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function entries(directory: string): string[] | undefined {
  return absentAsUndefined(() => readdirSync(directory))
}

function digestsUnder(directory: string): Digest[] {
  return (entries(directory) ?? []).flatMap((algorithm) =>
    (entries(`${directory}/${algorithm}`) ?? []).map((hex) => `${algorithm}:${hex}`).filter((text) => isDigest(text)),
  )
}
