/**
 * The index of an archive: `archive.json`, which says what it is, and `blobs.txt`, which says where everything lies.
 *
 * Both are known before the first byte is written, because a plan knows the size of every blob.
 */
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, digestOf, hasherFor, isDigest } from '../oci/digest.ts'
import { ArchiveRecord, entryNames, formatName, formatVersion } from './format.ts'
import { blobEntryName, Layout, type LayoutEntry, type Place, type Segment, segmentsAt } from './layout.ts'

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

/** The index as it is written. */
export interface ArchiveFront extends ArchiveIndex {
  readonly recordBytes: Uint8Array
  readonly blobsBytes: Uint8Array
}

export type ArchiveDraft = Omit<ArchiveRecord, 'format' | 'version' | 'totals' | 'files'> & {
  /** What is carried, in the order in which it is to lie: blobs, then manifests. */
  readonly carried: readonly Omit<ArchiveBlob, 'place'>[]
  readonly held: readonly Omit<ArchiveBlob, 'place'>[]
  /** The text of the plan, in pieces; called more than once. */
  readonly plan: () => Iterable<string>
}

const unknownDigest: Digest = `sha256:${'0'.repeat(64)}`

/** Pure: gives everything its place. */
export function composeFront({ carried, held, plan, ...header }: ArchiveDraft): ArchiveFront {
  const planFile = measure(plan())
  const blobsSize = [...carried, ...held].reduce((sum, blob) => sum + blobLine(blob).length, 0)
  const record = (blobsDigest: Digest): ArchiveRecord => ({
    format: formatName,
    version: formatVersion,
    ...header,
    totals: {
      blobs: carried.filter(({ mediaType }) => mediaType === undefined).length,
      manifests: carried.filter(({ mediaType }) => mediaType !== undefined).length,
      bytes: carried.reduce((sum, { size }) => sum + size, 0),
    },
    files: { blobs: { digest: blobsDigest, size: blobsSize }, plan: planFile },
  })
  // A digest has the same length whatever it is, so the size of the record is known before its content.
  const recordSize = recordText(record(unknownDigest)).byteLength
  const layout = new Layout(header.volumeBytes)
  for (const entry of frontEntries(recordSize, { blobs: blobsSize, plan: planFile.size })) layout.place(entry)
  const placed = carried.map((blob): ArchiveBlob => {
    const [first] = layout.place({ name: blobEntryName(blob.digest), size: blob.size })
    return first ? { ...blob, place: { volume: first.volume, offset: first.offset } } : blob
  })
  const blobs = [...placed, ...held]
  const blobsBytes = Buffer.from(blobs.map(blobLine).join(''))
  const final = record(digestOf(blobsBytes))
  const recordBytes = recordText(final)
  return { id: digestOf(recordBytes), record: final, blobs, recordBytes, blobsBytes }
}

function recordText(record: ArchiveRecord): Buffer {
  const { images, ...header } = record
  const lines = images.map((image) => JSON.stringify(image)).join(',\n')
  return Buffer.from(`${JSON.stringify(header).slice(0, -1)},"images":[\n${lines}\n]}\n`)
}

function measure(pieces: Iterable<string>): { digest: Digest; size: number } {
  const hash = hasherFor('sha256')
  let size = 0
  for (const piece of pieces) {
    hash.update(piece)
    size += Buffer.byteLength(piece)
  }
  return { digest: `sha256:${hash.digest('hex')}`, size }
}

/** `DIGEST SIZE VOLUME OFFSET TYPE`; numbers have fixed widths, so that a line has one length wherever its blob lies. */
function blobLine({ digest, size, place, mediaType }: ArchiveBlob): string {
  const { volume, offset } = place ?? { volume: 0, offset: 0 }
  const number = (value: number, digits: number) => String(value).padStart(digits, '0')
  return `${digest} ${number(size, 15)} ${number(volume, 9)} ${number(offset, 15)} ${mediaType ?? '-'}\n`
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

/** sha256 of a blob where its name tells it. */
export function sha256Of(digest: Digest): string | undefined {
  return algorithmOf(digest) === 'sha256' ? digest.slice('sha256:'.length) : undefined
}
