/** What the manifests of a store hold on to: the first half of garbage collection, and the whole of `stat`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { type Digest, isDigest } from '../oci/digest.ts'
import { blobsOf, childrenOf, parseManifest } from '../oci/manifest.ts'
import type { BlobStore } from './blob-store.ts'
import { readText } from './files.ts'
import type { Repository } from './repository.ts'

/** The digests that a manifest of a repository names, apart from its own. */
export interface Named {
  readonly blobs: readonly Digest[]
  readonly children: readonly Digest[]
  readonly subject: Digest | undefined
}

/**
 * What each manifest of a repository names.
 *
 * @throws KnownError STORE_CORRUPT where one cannot be read: what it names is then unknown, so nothing may be freed
 */
export function namesIn(
  store: BlobStore,
  repository: Repository,
  known?: ReadonlyMap<Digest, Named>,
): Map<Digest, Named> {
  const digests = repository.manifests()
  return new Map(digests.map((digest) => [digest, known?.get(digest) ?? readNamed(store, repository, digest)]))
}

function readNamed(store: BlobStore, repository: Repository, digest: Digest): Named {
  const where = `${repository.name}@${digest}`
  const text = readText(store.paths.blob(digest))
  try {
    const manifest = parseManifest(Buffer.from(text ?? ''), repository.mediaTypeOf(digest), where)
    return {
      blobs: blobsOf(manifest).map((blob) => blob.digest),
      children: childrenOf(manifest).map((child) => child.digest),
      subject: manifest.subject?.digest,
    }
  } catch (cause) {
    if (!(cause instanceof KnownError)) throw cause
    throw new KnownError(
      'STORE_CORRUPT',
      `${where}: the manifest ${text === undefined ? 'is missing' : 'is damaged'}`,
      {
        hint: 'Push this image again, or delete this manifest from the registry; nothing was freed.',
        cause,
      },
    )
  }
}

/**
 * Everything that manifests on their way in name (see `BlobStore.putManifestBytes`). One that is not whole yet has not
 * looked for its blobs either, and will miss those that are gone.
 */
export function stagedNames(store: BlobStore): Set<Digest> {
  const { staging } = store.paths
  const all = readdirSync(staging)
    .filter((name) => name.endsWith('.manifest'))
    .flatMap((name) => digestsIn(readText(join(staging, name)) ?? ''))
  return new Set(all)
}

/** Every digest in a text, whatever it stands for there. */
function digestsIn(text: string): Digest[] {
  return (text.match(/sha(?:256:[a-f0-9]{64}|512:[a-f0-9]{128})/g) ?? []).flatMap((found) =>
    isDigest(found) ? [found] : [],
  )
}

/** The manifests that a tag leads to: itself, the children of an index, and what refers to any of these. */
export function keptManifests(repository: Repository, names: ReadonlyMap<Digest, Named>): Set<Digest> {
  const referrers = Map.groupBy([...names], ([, { subject }]) => subject)
  const kept = new Set<Digest>()
  const pending = (repository.tags() ?? []).flatMap((tag) => repository.resolve(tag) ?? [])
  for (let digest = pending.pop(); digest !== undefined; digest = pending.pop()) {
    if (kept.has(digest)) continue
    kept.add(digest)
    const attached = (referrers.get(digest) ?? []).map(([referrer]) => referrer)
    pending.push(...(names.get(digest)?.children ?? []), ...attached)
  }
  return kept
}
