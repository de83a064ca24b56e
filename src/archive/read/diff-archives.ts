/** What differs between two archives. Pure. */
import type { Digest } from '../../oci/digest.ts'
import type { ArchiveBlob } from '../format/archive-index.ts'
import type { ArchiveImage } from '../format/records.ts'
import type { Archive } from './archive.ts'

interface Content {
  readonly count: number
  readonly bytes: number
}

export interface ArchiveDiff {
  readonly before: Pick<Archive, 'id'> & { readonly sequence: number }
  readonly after: ArchiveDiff['before']
  readonly images: {
    readonly added: readonly ArchiveImage[]
    readonly removed: readonly ArchiveImage[]
    readonly changed: readonly (ArchiveImage & { readonly before: Digest })[]
    readonly same: number
  }
  /** Blobs and manifests, carried or held by the target. */
  readonly content: { readonly added: Content; readonly removed: Content; readonly same: Content }
  /** What each of the two brings itself. */
  readonly carried: { readonly before: Content; readonly after: Content }
}

type Side = Pick<Archive, 'id' | 'record' | 'blobs'>

/** Images are compared by where they go. */
export function diffArchives(before: Side, after: Side): ArchiveDiff {
  const known = byDestination(before)
  const wanted = byDestination(after)
  const list = [...wanted.values()]
  const changed = list.flatMap((image) => {
    const was = known.get(image.destination)
    return was && was.digest !== image.digest ? [{ ...image, before: was.digest }] : []
  })
  const added = list.filter(({ destination }) => !known.has(destination))
  return {
    before: { id: before.id, sequence: before.record.sequence },
    after: { id: after.id, sequence: after.record.sequence },
    images: {
      added,
      removed: [...known.values()].filter(({ destination }) => !wanted.has(destination)),
      changed,
      same: list.length - added.length - changed.length,
    },
    content: {
      added: sum(after.blobs, ({ digest }) => !before.blobs.has(digest)),
      removed: sum(before.blobs, ({ digest }) => !after.blobs.has(digest)),
      same: sum(after.blobs, ({ digest }) => before.blobs.has(digest)),
    },
    carried: {
      before: sum(before.blobs, ({ place }) => place !== undefined),
      after: sum(after.blobs, ({ place }) => place !== undefined),
    },
  }
}

function byDestination({ record }: Side): ReadonlyMap<string, ArchiveImage> {
  return new Map(record.images.map((image) => [image.destination, image]))
}

function sum(blobs: ReadonlyMap<Digest, ArchiveBlob>, isCounted: (blob: ArchiveBlob) => boolean): Content {
  const counted = [...blobs.values()].filter(isCounted)
  return { count: counted.length, bytes: counted.reduce((total, { size }) => total + size, 0) }
}
