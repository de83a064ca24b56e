/**
 * The index of an archive: `archive.json`, which says what it is, and `blobs.txt`, which says where everything lies.
 *
 * Both are known before the first byte is written, because a plan knows the size of every blob.
 */
import { KnownError } from '../../errors/known-error.ts'
import { type Digest, isDigest } from '../../oci/digest.ts'
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

/**
 * Reads `blobs.txt`. Whether the places are the right ones, `checkIndex` tells.
 *
 * @throws KnownError ARCHIVE_INVALID
 */
export function parseBlobs(bytes: Uint8Array, origin: string): readonly ArchiveBlob[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const blobs: ArchiveBlob[] = []
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    if (end < 0) throw invalidIndex(origin, `${entryNames.blobs} is cut`)
    const blob = parseLine(text, start, end)
    if (!blob) throw invalidIndex(origin, `line ${blobs.length + 1} of ${entryNames.blobs} is none`)
    blobs.push(blob)
    start = end + 1
  }
  return blobs
}

/** It becomes a header of a request. */
const typePattern = /^[!-~]{1,255}$/

/** By position, without splitting: an index can have a million lines. */
function parseLine(text: string, start: number, end: number): ArchiveBlob | undefined {
  const first = text.indexOf(' ', start)
  if (first < 0 || end - first < 44) return undefined
  const digest = text.slice(start, first)
  const size = parseDigits(text, first + 1, 15)
  const volume = parseDigits(text, first + 17, 9)
  const offset = parseDigits(text, first + 27, 15)
  const type = text.slice(first + 43, end)
  const isSound = isDigest(digest) && size >= 0 && volume >= 0 && offset >= 0 && typePattern.test(type)
  if (!isSound) return undefined
  if (volume === 0) return type === '-' ? { digest, size } : { digest, size, mediaType: type }
  const place = { volume, offset }
  return type === '-' ? { digest, size, place } : { digest, size, mediaType: type, place }
}

/** A number of so many digits and the space after it; -1 where it is none. */
function parseDigits(text: string, start: number, digits: number): number {
  const end = start + digits
  let value = 0
  for (let index = start; index < end; index += 1) {
    const digit = text.charCodeAt(index) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return text.charCodeAt(end) === 0x20 ? value : -1
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
