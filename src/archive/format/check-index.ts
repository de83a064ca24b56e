/**
 * Places follow from sizes alone: what an index says is computed again, so that nothing in it overlaps, lies outside of the
 * volumes or makes a reader work without end.
 */
import { KnownError } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, type DigestAlgorithm } from '../../oci/digest.ts'
import type { StoredEntry } from '../read/stored-entry.ts'
import { type ArchiveBlob, type ArchiveIndex, frontEntries } from './archive-index.ts'
import { blobEntryName } from './entry-names.ts'
import { sizes } from './format.ts'
import { firstEntryOffset, Layout } from './layout.ts'
import type { ArchiveRecord } from './records.ts'
import { padded } from './tar-space.ts'

/** Every volume has room for its record, one block of content in parts, and an end record. */
const smallestReadable = firstEntryOffset + 4 * sizes.tarBlock + sizes.endRecord + sizes.tarEnd
/** A petabyte on the smallest media that anybody would carry. */
const mostVolumes = 100_000

/** Of a name only its length counts, and it is the same for all digests of an algorithm. */
const sampleNames: Readonly<Record<DigestAlgorithm, string>> = {
  sha256: blobEntryName(`sha256:${'0'.repeat(64)}`),
  sha512: blobEntryName(`sha512:${'0'.repeat(128)}`),
}

export interface CheckedIndex {
  readonly blobs: ReadonlyMap<Digest, ArchiveBlob>
  /** `archive.json`, `blobs.txt` and `plan.json`. */
  readonly front: readonly StoredEntry[]
  /** Gives places after everything that the index knows. */
  readonly layout: Layout
}

/**
 * @param origin names the archive in messages
 * @throws KnownError ARCHIVE_INVALID
 */
export function checkIndex(
  { record, blobs }: Omit<ArchiveIndex, 'id'>,
  { recordSize, origin }: { recordSize: number; origin: string },
): CheckedIndex {
  const refuse = (why: string) =>
    new KnownError('ARCHIVE_INVALID', `${origin}: its index is wrong: ${why}`, { details: { archive: origin } })
  const count = blobs.findLastIndex(({ place }) => place !== undefined) + 1
  refuseAbsurd(record, { bytes: recordSize + sizeOf(blobs.slice(0, count)), refuse })
  const layout = new Layout(record.volumeBytes)
  const { files } = record
  const entries = frontEntries(recordSize, { blobs: files.blobs.size, plan: files.plan.size })
  const front = entries.map((entry): StoredEntry => ({ ...entry, segments: layout.place(entry) }))
  const known = new Map<Digest, ArchiveBlob>()
  for (const [index, blob] of blobs.entries()) {
    const { digest, size, place } = blob
    if (known.has(digest)) throw refuse(`${digest} is there twice`)
    known.set(digest, blob)
    if (index >= count) continue
    if (!place) throw refuse(`${digest}, which is not carried, comes before what is`)
    const [begin] = layout.place({ name: sampleNames[algorithmOf(digest)], size })
    if (begin?.volume === place.volume && begin.offset === place.offset) continue
    const proper = `volume ${begin?.volume}, byte ${begin?.offset}`
    throw refuse(`${digest} at volume ${place.volume}, byte ${place.offset}; by the sizes it is at ${proper}`)
  }
  return { blobs: known, front, layout }
}

/** What would make the computing of places endless. */
function refuseAbsurd(
  { volumeBytes, files }: ArchiveRecord,
  { bytes, refuse }: { bytes: number; refuse: (why: string) => KnownError },
): void {
  if (volumeBytes % sizes.tarBlock !== 0 || volumeBytes < smallestReadable) {
    throw refuse(`volumes of ${volumeBytes} bytes`)
  }
  const all = bytes + files.blobs.size + files.plan.size
  if (all / (volumeBytes - smallestReadable + sizes.tarBlock) > mostVolumes) {
    throw refuse(`${all} bytes in volumes of ${volumeBytes}`)
  }
}

function sizeOf(blobs: readonly ArchiveBlob[]): number {
  return blobs.reduce((sum, { size }) => sum + padded(size), 0)
}
