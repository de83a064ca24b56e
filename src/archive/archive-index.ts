/**
 * The index of an archive: `archive.json`, which says what it is, and `blobs.txt`, which says where everything lies.
 *
 * Both are known before the first byte is written, because a plan knows the size of every blob.
 */
import { KnownError } from '../errors/known-error.ts'
import { type Digest, isDigest } from '../oci/digest.ts'
import { blobEntryName } from './entry-names.ts'
import { entryNames } from './format.ts'
import { Layout, type LayoutEntry, type Place, type Segment, segmentsAt } from './layout.ts'
import { ArchiveRecord } from './records.ts'

/** A blob or a manifest that the archive knows. */
export interface ArchiveBlob {
  readonly digest: Digest
  readonly size: number
  /** Of a manifest; undefined for any other blob. */
  readonly mediaType?: string
  /** Of its first byte; undefined for what is not carried, because the target holds it. */
  readonly place?: Place
}

export interface ArchiveIndex {
  /** Digest of `archive.json`. */
  readonly id: Digest
  readonly record: ArchiveRecord
  /** Carried ones first, in the order of their places; then those that are not carried. */
  readonly blobs: readonly ArchiveBlob[]
}

/**
 * Reads `archive.json`.
 *
 * @param origin names the file in messages
 * @throws KnownError ARCHIVE_INVALID
 */
export function parseRecord(bytes: Uint8Array, origin: string): ArchiveRecord {
  let document: unknown
  try {
    document = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch (cause) {
    throw invalidIndex(origin, `${entryNames.archive} is no JSON`, cause)
  }
  const result = ArchiveRecord.safeParse(document)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalidIndex(origin, `${entryNames.archive}: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** @throws KnownError ARCHIVE_INVALID, also where a place is outside the archive */
export function parseBlobs(bytes: Uint8Array, origin: string): readonly ArchiveBlob[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n')
  if (lines.pop() !== '') throw invalidIndex(origin, `${entryNames.blobs} is cut`)
  return lines.map((line, index) => {
    const [digest = '', size = '', volume = '', offset = '', type = '', ...more] = line.split(' ')
    const blob = { digest, size: Number(size), volume: Number(volume), offset: Number(offset) }
    const isSound =
      isDigest(digest) &&
      line.length === digest.length + 43 + type.length &&
      more.length === 0 &&
      type !== '' &&
      [blob.size, blob.volume, blob.offset].every((value) => Number.isSafeInteger(value) && value >= 0)
    if (!isSound) throw invalidIndex(origin, `line ${index + 1} of ${entryNames.blobs} is none`)
    return {
      digest: digest as Digest,
      size: blob.size,
      ...(type !== '-' && { mediaType: type }),
      ...(blob.volume > 0 && { place: { volume: blob.volume, offset: blob.offset } }),
    }
  })
}

function invalidIndex(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${origin}: ${why}`, { details: { file: origin }, cause })
}

/** The entries before the first blob. */
export function frontEntries(recordSize: number, files: { blobs: number; plan: number }): readonly LayoutEntry[] {
  return [
    { name: entryNames.archive, size: recordSize },
    { name: entryNames.blobs, size: files.blobs },
    { name: entryNames.plan, size: files.plan },
  ]
}

/** Where the pieces of a carried blob are; empty for one that is not carried. */
export function segmentsOfBlob({ digest, size, place }: ArchiveBlob, volumeBytes: number): readonly Segment[] {
  return place ? segmentsAt({ name: blobEntryName(digest), size }, place, volumeBytes) : []
}

/** Gives places after everything that the index knows. */
export function layoutAfter({ record, blobs }: ArchiveIndex, recordSize: number): Layout {
  const layout = new Layout(record.volumeBytes)
  const { blobs: table, plan } = record.files
  for (const entry of frontEntries(recordSize, { blobs: table.size, plan: plan.size })) layout.place(entry)
  for (const { digest, size, place } of blobs) if (place) layout.place({ name: blobEntryName(digest), size })
  return layout
}
