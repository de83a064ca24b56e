/** Which images need which content, as the manifests in an archive tell. */
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import { blobsOf, childrenOf, maxManifestBytes, parseManifest } from '../../oci/manifest.ts'
import type { ArchiveBlob } from '../format/archive-index.ts'
import type { Archive } from './archive.ts'

/**
 * Reads every manifest of the archive that is whole.
 *
 * @returns the sources of the images that need a blob or manifest, by its digest
 */
export async function imagesNeeding(archive: Archive): Promise<ReadonlyMap<Digest, readonly string[]>> {
  const manifests = [...archive.blobs.values()].filter(({ mediaType }) => mediaType !== undefined)
  const needs = new Map<Digest, readonly Digest[]>()
  await mapConcurrently(manifests, 8, async (manifest) => {
    if (archive.has(manifest.digest)) needs.set(manifest.digest, await readNeeds(archive, manifest))
  })
  const images = new Map<Digest, string[]>()
  for (const { source, digest } of archive.record.images) {
    for (const needed of reachable(digest, needs)) {
      const sources = images.get(needed) ?? []
      images.set(needed, sources)
      sources.push(source)
    }
  }
  return images
}

function reachable(root: Digest, needs: ReadonlyMap<Digest, readonly Digest[]>): ReadonlySet<Digest> {
  const found = new Set([root])
  // A set may grow while it is gone through.
  for (const digest of found) for (const next of needs.get(digest) ?? []) found.add(next)
  return found
}

/** Nothing for a manifest that is damaged: then nobody can say what it needs. */
async function readNeeds(archive: Archive, { digest, size, mediaType }: ArchiveBlob): Promise<readonly Digest[]> {
  if (size > maxManifestBytes) return []
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of archive.open(digest)) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (digestOf(bytes, algorithmOf(digest)) !== digest) return []
    const manifest = parseManifest(bytes, mediaType, digest)
    return [...blobsOf(manifest), ...childrenOf(manifest)].map((needed) => needed.digest)
  } catch (error) {
    if (error instanceof KnownError) return []
    throw error
  }
}
