/** What an incremental archive does not carry, read back from the target that holds it. */
import { KnownError } from '../../errors/known-error.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import type { Digest } from '../../oci/digest.ts'
import type { Reference } from '../../oci/reference.ts'

/** The target itself, which holds what an increment does not carry. */
export interface BeyondArchive {
  readonly source: ContentSource
  /** The place at the target of a repository as an archive names it (`openshift/release`). */
  readonly locate: (repository: string) => Reference
}

/** The manifest, from the first of these repositories that has it. */
export async function manifestBeyond(
  { source, locate }: BeyondArchive,
  repositories: readonly string[],
  digest: Digest,
  signal?: AbortSignal,
): Promise<RawManifest | undefined> {
  for (const repository of repositories) {
    const manifest = await source.fetchManifest({ ...locate(repository), digest }, signal)
    if (manifest) return manifest
  }
  return undefined
}

/** The bytes of a blob, from the first of these repositories that has it; undefined where none does. */
export async function blobBeyond(
  { source, locate }: BeyondArchive,
  repositories: readonly string[],
  descriptor: Descriptor,
  options: FetchBlobOptions,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  for (const repository of repositories) {
    const chunks = source.fetchBlob(locate(repository), descriptor, options)[Symbol.asyncIterator]()
    try {
      const first = await chunks.next()
      return continued(first, chunks)
    } catch (error) {
      // Another repository of the target may have it.
      if (!(error instanceof KnownError && error.code === 'BLOB_UNKNOWN')) throw error
    }
  }
  return undefined
}

async function* continued(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value
    yield* { [Symbol.asyncIterator]: () => rest }
  } finally {
    await rest.return?.()
  }
}
