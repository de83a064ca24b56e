/** The index of an archive where it cannot be read as it should be: a header before it is damaged, or a repair has it. */
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import { parseBlobs, parseRecord } from '../format/archive-index.ts'
import { checkIndex } from '../format/check-index.ts'
import { partName } from '../format/entry-names.ts'
import { entryNames, sizes } from '../format/format.ts'
import { firstEntryOffset, Layout, type Segment } from '../format/layout.ts'
import type { Archive } from './archive.ts'
import type { ArchiveFrontPage } from './archive-front.ts'
import { readFromRepair } from './read-repair.ts'
import type { ReadVolumes } from './read-volumes.ts'

interface Recovery {
  readonly files: ReadVolumes
  /** What the volumes say which archive they belong to; may be empty. */
  readonly claimed: ReadonlySet<Digest>
  /** Of an archive with this sequence; not necessarily of this one. */
  readonly repairs: readonly Archive[]
}

/** More of a record than any real one has. */
const maxRecordBytes = 64 * 1024 * 1024

/**
 * Everything is proven: a record by what the volumes or a repair say is the identity, the table of blobs by the record.
 *
 * @returns undefined where the index can be had nowhere
 * @throws KnownError ARCHIVE_INVALID where a proven index is wrong
 */
export async function recoverFront(recovery: Recovery): Promise<ArchiveFrontPage | undefined> {
  const { files, claimed, repairs } = recovery
  const candidates = repairs.filter(({ record }) => claimed.size === 0 || claimed.has(record.repairs ?? 'sha256:'))
  const recordBytes = (await recordOf(candidates)) ?? (await recordWithoutHeader(files, claimed))
  if (!recordBytes) return undefined
  const origin = files.pathOf(1)
  const record = parseRecord(recordBytes, origin)
  const { digest, size } = record.files.blobs
  const layout = new Layout(record.volumeBytes)
  layout.place({ name: entryNames.archive, size: recordBytes.byteLength })
  const segments = layout.place({ name: entryNames.blobs, size })
  const table = (await readFromRepair(candidates, digest)) ?? (await readProven(files, segments, digest))
  if (!table) return undefined
  const blobs = parseBlobs(table, origin)
  const checked = checkIndex({ record, blobs }, { recordSize: recordBytes.byteLength, origin })
  const id = digestOf(recordBytes)
  return { id, record, blobs: checked.blobs, entries: checked.front, layout: checked.layout }
}

async function recordOf(repairs: readonly Archive[]): Promise<Uint8Array | undefined> {
  for (const repair of repairs) {
    const { repairs: id } = repair.record
    const bytes = id && (await readFromRepair([repair], id))
    if (bytes) return bytes
  }
  return undefined
}

/** `archive.json` begins at a fixed place, and ends where the header of `blobs.txt` begins. */
async function recordWithoutHeader(files: ReadVolumes, claimed: ReadonlySet<Digest>): Promise<Uint8Array | undefined> {
  const offset = firstEntryOffset + sizes.tarBlock
  const size = Math.min((files.sizeOf(1) ?? 0) - offset, maxRecordBytes)
  if (size <= 0) return undefined
  const bytes = Buffer.alloc(size)
  await files.read({ volume: 1, offset }, bytes)
  const names = [entryNames.blobs, partName(entryNames.blobs, 1)].map((name) => Buffer.from(`${name}\0`))
  for (let end = 0; end < size; end += sizes.tarBlock) {
    if (!names.some((name) => bytes.subarray(end, end + name.byteLength).equals(name))) continue
    const content = bytes.subarray(0, bytes.lastIndexOf('\n', end - 1) + 1)
    return claimed.has(digestOf(content)) ? content : undefined
  }
  return undefined
}

/** What lies at the places that follow from the sizes, if it is the right thing. */
async function readProven(
  files: ReadVolumes,
  segments: readonly Segment[],
  digest: Digest,
): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = []
  for (const { volume, offset, length } of segments) {
    if ((files.sizeOf(volume) ?? 0) < offset + length) return undefined
    const part = Buffer.alloc(length)
    await files.read({ volume, offset }, part)
    parts.push(part)
  }
  const bytes = Buffer.concat(parts)
  return digestOf(bytes, algorithmOf(digest)) === digest ? bytes : undefined
}
