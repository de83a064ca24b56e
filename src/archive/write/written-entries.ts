/** The entries of an archive that is being written, in the order of their places, and what is known of each. */
import { algorithmOf, type Digest, hexOf } from '../../oci/digest.ts'
import { frontEntries } from '../format/archive-index.ts'
import type { ArchiveFront } from '../format/compose-front.ts'
import { blobEntryName } from '../format/entry-names.ts'
import { Layout, type LayoutEntry, type Place, type Segment, segmentsAt } from '../format/layout.ts'

const sumOfHole = '0'.repeat(64)

interface EntryTitle {
  readonly size: number
  /** Of a blob or manifest. */
  readonly digest?: Digest
  /** Of any other entry. */
  readonly name?: string
}

/** Small, because there may be hundreds of thousands. */
export class WrittenEntry implements LayoutEntry {
  readonly size: number
  /** Of a blob or manifest. */
  readonly digest: Digest | undefined
  readonly #name: string | undefined
  /** Of the first piece; the others follow from it. */
  readonly #place: Place
  readonly #volumeBytes: number
  state: 'missing' | 'written' | 'hole' = 'missing'
  /** Bytes of a missing one that are in its place, not proven. */
  reached = 0
  #sums: readonly string[] | undefined

  constructor({ size, digest, name }: EntryTitle, place: Place, volumeBytes: number) {
    this.size = size
    this.digest = digest
    this.#name = name
    this.#place = place
    this.#volumeBytes = volumeBytes
  }

  get name(): string {
    return this.#name ?? blobEntryName(this.digest ?? '')
  }

  get segments(): readonly Segment[] {
    return segmentsAt(this, this.#place, this.#volumeBytes)
  }

  get firstVolume(): number {
    return this.#place.volume
  }

  /** What the checksum of its volume has for each piece: its sha256, or zeros for a hole. Undefined: not known yet. */
  get sums(): readonly string[] | undefined {
    if (this.state === 'hole') return this.segments.map(() => sumOfHole)
    return this.#sums ?? this.#ownSums
  }

  /** The same, where its name does not tell it. */
  get extraSums(): readonly string[] | undefined {
    return this.#sums
  }

  /** It is whole and proven. */
  finish(sums: readonly string[] | undefined): void {
    this.state = 'written'
    // Most are told by the name, and there are many.
    this.#sums = this.#ownSums ? undefined : sums
  }

  /** It is zeros. */
  leave(): void {
    this.state = 'hole'
  }

  get #ownSums(): readonly string[] | undefined {
    if (this.digest === undefined || algorithmOf(this.digest) !== 'sha256') return undefined
    return this.segments.length > 1 ? undefined : [hexOf(this.digest)]
  }
}

export interface WrittenEntries {
  /** Index and plan, then blobs, then manifests. */
  readonly all: readonly WrittenEntry[]
  /** Index and plan. */
  readonly front: readonly WrittenEntry[]
  readonly blobs: ReadonlyMap<Digest, WrittenEntry>
  /** Gives places to what comes after them. */
  readonly layout: Layout
}

export function placeEntries({ record, blobs, recordBytes }: ArchiveFront): WrittenEntries {
  const { volumeBytes, files } = record
  const layout = new Layout(volumeBytes)
  const sizes = { blobs: files.blobs.size, plan: files.plan.size }
  const front = frontEntries(recordBytes.byteLength, sizes).map((entry) => {
    const [first] = layout.place(entry)
    if (!first) throw new RangeError(`${entry.name} has no place`)
    return new WrittenEntry(entry, { volume: first.volume, offset: first.offset }, volumeBytes)
  })
  const carried = new Map<Digest, WrittenEntry>()
  for (const { digest, size, place } of blobs) {
    if (!place) continue
    layout.place({ name: blobEntryName(digest), size })
    carried.set(digest, new WrittenEntry({ digest, size }, place, volumeBytes))
  }
  return { all: [...front, ...carried.values()], front, blobs: carried, layout }
}
