/** From what verification found to the list of what has to be carried again. */

import { entryNames } from '../format/format.ts'
import type { Archive } from '../read/archive.ts'
import { findDamageWithoutIndex } from '../verify/damage-without-index.ts'
import type { ArchiveVerification } from '../verify/verify-archive.ts'
import { composeRepairList, type RepairList, type WantedBlob } from './repair-list.ts'

interface RequestOptions {
  readonly signal: AbortSignal
  readonly onBytes?: (bytes: number) => void
}

/**
 * The smallest list: blobs and manifests that are damaged or lie in missing volumes, and damaged documents of the index. What a
 * repair beside the archive brought is not in it, since verification counts it as there.
 *
 * @throws KnownError ARCHIVE_DAMAGED where nothing tells which archive this is
 */
export async function requestRepair(
  { found, archive, damage }: ArchiveVerification,
  options: RequestOptions,
): Promise<RepairList> {
  if (!archive) return composeRepairList(await findDamageWithoutIndex(found, options))
  const { id, record } = archive
  const names = [entryNames.archive, entryNames.blobs, entryNames.plan] as const
  return composeRepairList({
    archive: { id, sequence: record.sequence, ...(record.target !== undefined && { target: record.target }) },
    records: names.filter((name) => damage.entries.includes(name)),
    volumes: [],
    blobs: damage.blobs.map((digest) => describe(archive, digest)),
  })
}

function describe({ blobs }: Pick<Archive, 'blobs'>, digest: WantedBlob['digest']): WantedBlob {
  const { size = 0, mediaType } = blobs.get(digest) ?? {}
  return { digest, size, ...(mediaType !== undefined && { mediaType }) }
}
