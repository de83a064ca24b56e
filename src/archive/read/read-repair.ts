/** Documents of the index of an archive, out of a repair of it: they are ordinary blobs there. */
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import type { Archive } from './archive.ts'

/** As in every archive. */
const maxDocumentBytes = 256 * 1024 * 1024

/** Proven; undefined where no repair has it whole. */
export async function readFromRepair(repairs: readonly Archive[], digest: Digest): Promise<Buffer | undefined> {
  for (const repair of repairs) {
    const { size = Number.POSITIVE_INFINITY } = repair.blobs.get(digest) ?? {}
    if (!repair.has(digest) || size > maxDocumentBytes) continue
    const chunks: Uint8Array[] = []
    for await (const chunk of repair.open(digest)) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (digestOf(bytes, algorithmOf(digest)) === digest) return bytes
  }
  return undefined
}
