import { readdirSync, statSync } from 'node:fs'
import type { Digest } from '../oci/digest.ts'
import type { BlobStore } from './blob-store.ts'
import { listBlobs, reach, readNames } from './collect-garbage.ts'
import { Repository } from './repository.ts'

export interface RepositoryStatistics {
  readonly name: string
  readonly manifests: number
  readonly tags: number
  /** Blobs that its manifests name, and that are here. */
  readonly blobs: number
  /** What this repository would take alone, manifests included. */
  readonly bytes: number
}

export interface StoreStatistics {
  readonly repositories: readonly RepositoryStatistics[]
  readonly manifests: number
  readonly tags: number
  readonly blobs: number
  /** What lies on the disk. */
  readonly uniqueBytes: number
  /** What lies there once and is used by several repositories: the sum of all repositories would be that much more. */
  readonly sharedBytes: number
  /** What no manifest names: garbage collection frees it when it is old enough. */
  readonly unreferencedBytes: number
  readonly uploads: number
  readonly uploadBytes: number
}

/** What is in a store. @throws KnownError STORE_CORRUPT where a manifest cannot be read */
export function readStatistics(store: BlobStore): StoreStatistics {
  const names = readNames(store)
  const sizes = new Map(listBlobs(store).map(({ digest, sizeBytes }) => [digest, sizeBytes]))
  const total = (digests: Iterable<Digest>) => sum([...digests].map((digest) => sizes.get(digest) ?? 0))
  const repositories = [...names].map(([name, manifests]): RepositoryStatistics => {
    const needed = reach(new Map([[name, manifests]]), () => true)
    const tags = new Repository(store, name).tags()?.length ?? 0
    const blobs = [...needed].filter((digest) => sizes.has(digest) && !manifests.has(digest)).length
    return { name, manifests: manifests.size, tags, blobs, bytes: total(needed) }
  })
  const reachable = total(reach(names, () => true))
  const uploads = readdirSync(store.paths.uploads)
  return {
    repositories,
    manifests: sum(repositories.map(({ manifests }) => manifests)),
    tags: sum(repositories.map(({ tags }) => tags)),
    blobs: sizes.size,
    uniqueBytes: total(sizes.keys()),
    sharedBytes: sum(repositories.map(({ bytes }) => bytes)) - reachable,
    unreferencedBytes: total(sizes.keys()) - reachable,
    uploads: uploads.length,
    uploadBytes: sum(uploads.map((id) => statSync(store.paths.upload(id), { throwIfNoEntry: false })?.size ?? 0)),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
