/** What a repair list asks for, looked up in the index of the archive that it names. Pure. */
import { KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import { type ArchiveBlob, segmentsOfBlob } from '../format/archive-index.ts'
import { entryNames } from '../format/format.ts'
import type { ArchiveRecord } from '../format/records.ts'
import type { RepairList } from './repair-list.ts'

/** A document of the index of the damaged archive. */
export interface WantedRecord {
  readonly name: string
  readonly digest: Digest
}

export interface RepairContent {
  /** Carried as ordinary blobs: `repairs` of the new archive is the digest of the first, which names the other two. */
  readonly records: readonly WantedRecord[]
  /** Blobs and manifests, in the order of their places. */
  readonly content: readonly Omit<ArchiveBlob, 'place'>[]
}

interface Original {
  readonly id: Digest
  readonly record: ArchiveRecord
  readonly blobs: Iterable<ArchiveBlob>
  /** Content that the archive never had: zeros are in its place. */
  readonly holes: ReadonlySet<Digest>
}

/**
 * @throws KnownError REPAIR_LIST_INVALID where it asks for what this archive does not carry
 */
export function lookUpRepair(list: RepairList, { id, record, blobs, holes }: Original): RepairContent {
  const carried = new Map([...blobs].flatMap((blob) => (blob.place ? [[blob.digest, blob] as const] : [])))
  const { volumesFrom = Number.POSITIVE_INFINITY } = list
  const volumes = new Set(list.volumes)
  const isLost = (volume: number) => volumes.has(volume) || volume >= volumesFrom
  const wanted = new Set<Digest>()
  for (const { digest, size } of list.blobs) {
    if (carried.get(digest)?.size !== size) throw unknownContent(list, digest)
    wanted.add(digest)
  }
  if (volumes.size > 0 || list.volumesFrom !== undefined) {
    for (const blob of carried.values()) {
      const isHit = segmentsOfBlob(blob, record.volumeBytes).some(({ volume }) => isLost(volume))
      if (isHit && !holes.has(blob.digest)) wanted.add(blob.digest)
    }
  }
  const digests: Readonly<Record<RepairList['records'][number], Digest>> = {
    [entryNames.archive]: id,
    [entryNames.blobs]: record.files.blobs.digest,
    [entryNames.plan]: record.files.plan.digest,
  }
  return {
    records: list.records.map((name) => ({ name, digest: digests[name] })),
    content: [...carried.values()].filter(({ digest }) => wanted.has(digest)).map(withoutPlace),
  }
}

function withoutPlace({ digest, size, mediaType }: ArchiveBlob): Omit<ArchiveBlob, 'place'> {
  return { digest, size, ...(mediaType !== undefined && { mediaType }) }
}

function unknownContent({ archive }: RepairList, digest: Digest): KnownError {
  return new KnownError('REPAIR_LIST_INVALID', `The list asks for ${digest}, which ${archive.id} does not carry`, {
    details: { archive: archive.id, digest },
  })
}
