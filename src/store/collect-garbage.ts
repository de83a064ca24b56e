/**
 * Frees what no manifest needs, also while registries serve the same store.
 *
 * Safe beside pushes without any lock, because both sides leave a trace first and look second:
 *
 *   a push    renews the blobs it found (their time becomes now), or puts its manifest into `staging/`; then it looks
 *             whether everything is there, and is refused where something is not
 *   this      moves a blob into `trash/`; then it looks whether it was renewed, or whether a manifest in `staging/`, or
 *             one recorded since the first look, names it; if so it moves the blob back
 *
 * Whichever comes second sees the other. What is younger than the grace period is left alone in any case, so a push of
 * many blobs has that long until its manifest. A collection that is killed leaves blobs in `trash/`; whoever opens the
 * store next moves them back.
 */
import { readdirSync, statSync } from 'node:fs'
import { type Digest, isDigest } from '../oci/digest.ts'
import type { BlobStore } from './blob-store.ts'
import { absentAsUndefined, removeFile } from './files.ts'
import { Repository, repositoryNames } from './repository.ts'
import { keptManifests, type Named, namesIn, stagedNames } from './roots.ts'

export interface GarbageOptions {
  /** Also remove manifests that no tag leads to. Mirrors of OpenShift are pulled by digest: leave it off for them. */
  readonly untagged?: boolean
  /** What is younger stays. */
  readonly graceMs: number
  /** Say what would be done, and do nothing. */
  readonly dryRun?: boolean
}

export interface GarbageReport {
  readonly manifestsRemoved: number
  readonly blobsFreed: number
  readonly bytesFreed: number
  readonly blobsKept: number
  readonly bytesKept: number
  readonly uploadsRemoved: number
}

interface StoredBlob {
  readonly digest: Digest
  readonly sizeBytes: number
  readonly changed: number
}

type Names = ReadonlyMap<string, ReadonlyMap<Digest, Named>>

/** @throws KnownError STORE_CORRUPT where a manifest cannot be read; nothing is freed then */
export async function collectGarbage(store: BlobStore, options: GarbageOptions): Promise<GarbageReport> {
  const before = store.clock.now() - options.graceMs
  const names = readNames(store)
  const manifests = findUnwanted(store, { names, before, untagged: options.untagged === true })
  const unwanted = new Set(manifests.map(({ repository, digest }) => `${repository}@${digest}`))
  const reachable = reach(names, (repository, digest) => !unwanted.has(`${repository}@${digest}`))
  const blobs = listBlobs(store)
  const candidates = blobs.filter(({ digest, changed }) => !reachable.has(digest) && changed < before)
  const freed = options.dryRun ? candidates : await free(store, { manifests, candidates, names, before })
  const bytes = (list: readonly StoredBlob[]) => list.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return {
    manifestsRemoved: manifests.length,
    blobsFreed: freed.length,
    bytesFreed: bytes(freed),
    blobsKept: blobs.length - freed.length,
    bytesKept: bytes(blobs) - bytes(freed),
    uploadsRemoved: options.dryRun ? 0 : store.removeAbandonedUploads(),
  }
}

/** Every blob that lies in the store. */
export function listBlobs(store: BlobStore): StoredBlob[] {
  const { blobs } = store.paths
  return (absentAsUndefined(() => readdirSync(blobs)) ?? []).flatMap((algorithm) =>
    readdirSync(`${blobs}/${algorithm}`).flatMap((hex) => {
      const digest = `${algorithm}:${hex}`
      const entry = statSync(`${blobs}/${algorithm}/${hex}`, { throwIfNoEntry: false })
      return entry === undefined || !isDigest(digest) ? [] : [{ digest, sizeBytes: entry.size, changed: entry.mtimeMs }]
    }),
  )
}

/** What the manifests of every repository name. With `known`, only what is new is read. */
export function readNames(store: BlobStore, known?: Names): Names {
  return new Map(
    repositoryNames(store).map((name) => [name, namesIn(store, new Repository(store, name), known?.get(name))]),
  )
}

/** Everything that the manifests for which `isKept` hold on to, themselves included. */
export function reach(names: Names, isKept: (repository: string, digest: Digest) => boolean): Set<Digest> {
  const reachable = new Set<Digest>()
  for (const [repository, manifests] of names) {
    for (const [digest, { blobs, children }] of manifests) {
      if (!isKept(repository, digest)) continue
      reachable.add(digest)
      // A child can be a mere blob; where it is a manifest that was recorded, it has an entry of its own.
      for (const one of [...blobs, ...children]) reachable.add(one)
    }
  }
  return reachable
}

interface ManifestPlace {
  readonly repository: string
  readonly digest: Digest
  readonly subject: Digest | undefined
}

function findUnwanted(
  store: BlobStore,
  { names, before, untagged }: { names: Names; before: number; untagged: boolean },
): ManifestPlace[] {
  if (!untagged) return []
  return [...names].flatMap(([name, manifests]) => {
    const repository = new Repository(store, name)
    const kept = keptManifests(repository, manifests)
    return [...manifests]
      .filter(([digest]) => !kept.has(digest) && repository.manifestChanged(digest) < before)
      .map(([digest, { subject }]) => ({ repository: name, digest, subject }))
  })
}

interface Sweep {
  readonly manifests: readonly ManifestPlace[]
  readonly candidates: readonly StoredBlob[]
  readonly names: Names
  readonly before: number
}

async function free(store: BlobStore, { manifests, candidates, names, before }: Sweep): Promise<StoredBlob[]> {
  for (const { repository, digest, subject } of manifests)
    await new Repository(store, repository).removeManifest(digest, subject, before)
  const taken = candidates.flatMap((blob) => {
    const trashed = store.takeAway(blob.digest)
    return trashed === undefined ? [] : [{ ...blob, trashed }]
  })
  try {
    const freed = judge(store, taken, { names, before })
    forgetBlobs(store, { names, before })
    return freed
  } finally {
    store.recoverTrash()
    await store.names.flush()
  }
}

/** Deletes what is in the trash and still not needed; what stays there is to be put back. */
function judge(
  store: BlobStore,
  taken: readonly (StoredBlob & { readonly trashed: string })[],
  { names, before }: { names: Names; before: number },
): StoredBlob[] {
  // First the staged manifests and then the recorded ones: a push goes the same way.
  const staged = stagedNames(store)
  const reachable = reach(readNames(store, names), () => true)
  const isNeeded = ({ digest, trashed }: { digest: Digest; trashed: string }) =>
    staged.has(digest) ||
    reachable.has(digest) ||
    (statSync(trashed, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= before
  return taken.filter((blob) => !isNeeded(blob) && removeFile(blob.trashed))
}

/** Takes blobs out of repositories in which no manifest names them. */
function forgetBlobs(store: BlobStore, { names, before }: { names: Names; before: number }): void {
  const current = readNames(store, names)
  for (const name of repositoryNames(store, '_blobs')) {
    const repository = new Repository(store, name)
    const needed = reach(new Map([[name, current.get(name) ?? new Map()]]), () => true)
    for (const digest of repository.blobs()) if (!needed.has(digest)) repository.removeUnlessRenewed(digest, before)
  }
}
