/** From what is to be carried to the index, with a place for everything. Pure. */
import { type Digest, digestOf, hasherFor } from '../../oci/digest.ts'
import { type ArchiveBlob, type ArchiveIndex, frontEntries } from './archive-index.ts'
import { blobEntryName } from './entry-names.ts'
import { formatName, formatVersion } from './format.ts'
import { Layout } from './layout.ts'
import type { ArchiveRecord } from './records.ts'

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
