/** How an archive ends, and the checksum of every volume, from the pieces of its content. Pure. */
import { digestOf, hasherFor, hexOf } from '../../oci/digest.ts'
import { layoutAfter } from './archive-index.ts'
import { closingEntries, volumeRecord } from './closing-entries.ts'
import type { ArchiveFront } from './compose-front.ts'
import { entryNames, sizes } from './format.ts'
import type { Segment } from './layout.ts'
import type { ArchiveHoles } from './records.ts'

/** A piece of an entry, as it has to be. */
export interface Piece {
  readonly segment: Segment
  /** Of the whole entry. */
  readonly size: number
  readonly name: string
  /** sha256; undefined where content is lost. */
  readonly sum: string | undefined
}

export interface ClosingPlan {
  readonly holes: ArchiveHoles
  /** Pieces of the entries at the end, with their bytes. */
  readonly documents: readonly { readonly segment: Segment; readonly bytes: Uint8Array }[]
  readonly end: Segment
  readonly volumes: readonly {
    readonly volume: number
    /** Undefined where the checksum of the volume before cannot be told. */
    readonly record: Uint8Array | undefined
    readonly pieces: readonly Piece[]
  }[]
  /** Of the last volume; undefined where content is lost. */
  readonly checksum: string | undefined
}

/**
 * @param before pieces of all entries up to the last manifest, in order
 * @param holes what is missing in the archive
 */
export function planClosing(front: ArchiveFront, before: readonly Piece[], holes: ArchiveHoles): ClosingPlan {
  const layout = layoutAfter(front, front.recordBytes.byteLength)
  const pieces = [...before]
  const documents: { segment: Segment; bytes: Uint8Array }[] = []
  for (const { name, bytes } of closingEntries(front, holes)) {
    for (const segment of layout.place({ name, size: bytes.byteLength })) {
      const part = bytes.subarray(segment.start, segment.start + segment.length)
      documents.push({ segment, bytes: part })
      pieces.push({ segment, size: bytes.byteLength, name: segment.name, sum: hexOf(digestOf(part)) })
    }
  }
  const [end] = layout.place({ name: entryNames.end, size: sizes.endRecord, isWhole: true })
  if (!end) throw new RangeError(`${entryNames.end} has no place`)
  const byVolume = Map.groupBy(pieces, ({ segment }) => segment.volume)
  const volumes: ClosingPlan['volumes'][number][] = []
  let previous: string | null | undefined = null
  for (let volume = 1; volume <= end.volume; volume += 1) {
    const record: Uint8Array | undefined = previous === undefined ? undefined : volumeRecord(front, volume, previous)
    const own = byVolume.get(volume) ?? []
    volumes.push({ volume, record, pieces: own })
    previous = record && checksumOf(record, own)
  }
  return { holes, documents, end, volumes, checksum: previous ?? undefined }
}

/** sha256 of the lines that `sha256sum` would print of the entries; undefined where one of them is not known. */
function checksumOf(record: Uint8Array, pieces: readonly Piece[]): string | undefined {
  const checksum = hasherFor('sha256').update(`${hexOf(digestOf(record))}  ${entryNames.volume}\n`)
  for (const { sum, name } of pieces) {
    if (sum === undefined) return undefined
    checksum.update(`${sum}  ${name}\n`)
  }
  return checksum.digest('hex')
}
