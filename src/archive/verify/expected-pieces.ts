/** What every byte of an archive has to be, as far as its index tells: pieces of entries, in the order in which they lie. */
import type { Digest } from '../../oci/digest.ts'
import { layoutAfter } from '../format/archive-index.ts'
import { closingEntries, holesOf } from '../format/closing-entries.ts'
import { entryNames, sizes } from '../format/format.ts'
import { firstEntryOffset, type Segment } from '../format/layout.ts'
import type { Archive } from '../read/archive.ts'

/** An entry, whole: what is proven, or compared. */
export interface ExpectedEntry {
  readonly name: string
  /** Of its content; undefined for what follows from the index and from holes. */
  readonly digest?: Digest
  /** Its very bytes, where they are known. */
  readonly bytes?: Uint8Array
  readonly isBlob: boolean
  readonly segments: readonly Segment[]
}

export interface ExpectedPiece {
  readonly entry: ExpectedEntry
  readonly segment: Segment
}

export interface ExpectedEnd {
  /** Where the header of `end.json` is. */
  readonly volume: number
  readonly headerOffset: number
}

/** Everything but `volume.json` and `end.json`, and where the latter is. */
export function expectedContent(archive: Archive): {
  readonly entries: Iterable<ExpectedEntry>
  readonly end: ExpectedEnd
} {
  const [front] = archive.entries
  const index = { id: archive.id, record: archive.record, blobs: [...archive.blobs.values()] }
  const layout = layoutAfter(index, front?.size ?? 0)
  // Where holes.json cannot be read, it is taken for one that says nothing more than the index.
  const closing = closingEntries(index, archive.holes ?? holesOf(index, [], []))
  const found = new Map(archive.entries.map((entry) => [entry.name, entry.size]))
  const last = closing.map(({ name, bytes }): ExpectedEntry => {
    const size = found.get(name) ?? bytes.byteLength
    const isKnown = size === bytes.byteLength
    return { name, isBlob: false, segments: layout.place({ name, size }), ...(isKnown && { bytes }) }
  })
  const [end] = layout.place({ name: entryNames.end, size: sizes.endRecord, isWhole: true })
  const { volume = 1, headerOffset = firstEntryOffset } = end ?? {}
  return { entries: inOrder(archive, last), end: { volume, headerOffset } }
}

function* inOrder(archive: Archive, closing: readonly ExpectedEntry[]): Generator<ExpectedEntry> {
  const { files } = archive.record
  const digests = new Map<string, Digest>([
    [entryNames.archive, archive.id],
    [entryNames.blobs, files.blobs.digest],
    [entryNames.plan, files.plan.digest],
  ])
  for (const { name, segments } of archive.entries) {
    const digest = digests.get(name)
    if (digest) yield { name, digest, isBlob: false, segments }
  }
  for (const blob of archive.blobs.values()) {
    if (blob.place) yield { name: blob.digest, digest: blob.digest, isBlob: true, segments: archive.segmentsOf(blob) }
  }
  yield* closing
}
