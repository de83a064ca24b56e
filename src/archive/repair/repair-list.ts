/**
 * What has to be carried again: written where an archive arrived damaged, read where it was made.
 *
 * Only content is asked for. Tar headers, volume records, padding, `holes.json`, `oci-layout` and `index.json` need not be
 * carried: they follow from the index, and no blob is read by them.
 */
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { digestOf, hexOf } from '../../oci/digest.ts'
import { entryNames } from '../format/format.ts'
import { ArchiveRecord, VolumeRecord } from '../format/records.ts'
import { archiveStem } from '../format/volume-names.ts'

const formatName = 'sallyport-repair-list'
/** A line of a blob has some 150 bytes: room for 400,000 of them. */
const maxListBytes = 64 * 1024 * 1024

const indexNames = [entryNames.archive, entryNames.blobs, entryNames.plan] as const
const Size = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)

const WantedBlob = z.strictObject({
  digest: VolumeRecord.shape.id,
  size: Size,
  mediaType: z.string().max(255).optional(),
})
export type WantedBlob = z.infer<typeof WantedBlob>

const RepairList = z.strictObject({
  format: z.literal(formatName),
  version: z.literal(1),
  /** The archive that is damaged. */
  archive: z.strictObject({
    id: VolumeRecord.shape.id,
    sequence: VolumeRecord.shape.sequence,
    target: ArchiveRecord.shape.target,
  }),
  /** Bytes of all that is listed below; what lies in `volumes` comes on top. */
  bytes: Size,
  /** Entries of the index that are damaged. */
  records: z.array(z.enum(indexNames)).max(indexNames.length),
  /** Volumes of which nobody here knows what is in them, because the index is damaged: all that lies in them is wanted. */
  volumes: z.array(z.number().int().positive().max(100_000)).max(100_000),
  /** The same of this volume and all after it, where the end of the archive is missing too. */
  volumesFrom: z.number().int().positive().max(100_000).optional(),
  /** Blobs and manifests, by digest. */
  blobs: z.array(WantedBlob),
})
export type RepairList = z.infer<typeof RepairList>

export type RepairWishes = Pick<RepairList, 'archive' | 'records' | 'volumes' | 'volumesFrom' | 'blobs'>

/** The list in its one form: sorted, each thing once. Pure. */
export function composeRepairList({ archive, records, volumes, volumesFrom, blobs }: RepairWishes): RepairList {
  const byDigest = new Map(blobs.map((blob) => [blob.digest, blob]))
  const sorted = [...byDigest.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1))
  return {
    format: formatName,
    version: 1,
    archive,
    bytes: sorted.reduce((sum, { size }) => sum + size, 0),
    records: indexNames.filter((name) => records.includes(name)),
    volumes: [...new Set(volumes)].sort((a, b) => a - b),
    ...(volumesFrom !== undefined && { volumesFrom }),
    blobs: sorted,
  }
}

/** The same list gives the same text: a blob a line. */
export function renderRepairList({ blobs, ...header }: RepairList): string {
  const lines = blobs.map(({ digest, size, mediaType }) => JSON.stringify({ digest, size, mediaType }))
  return `${JSON.stringify(header).slice(0, -1)},"blobs":[${lines.map((line) => `\n${line}`).join(',')}\n]}\n`
}

/**
 * @param origin names the file in messages
 * @throws KnownError REPAIR_LIST_INVALID
 */
export function parseRepairList(text: string, origin: string): RepairList {
  if (text.length > maxListBytes) throw invalid(origin, `it has ${text.length} bytes; ${maxListBytes} are allowed`)
  const result = RepairList.safeParse(parseJson(text, origin))
  if (!result.success) {
    const [issue] = result.error.issues
    throw invalid(origin, `${issue?.path.join('.') || 'the list'}: ${issue?.message}`)
  }
  const composed = composeRepairList(result.data)
  if (JSON.stringify(composed) !== JSON.stringify(result.data)) {
    throw invalid(origin, 'it is not sorted, says something twice, or its bytes are not the sum of its sizes')
  }
  return composed
}

/** Name of the archive that answers this list. */
export function repairStem(list: RepairList): string {
  return archiveStem(list.archive.sequence, `repair-${hexOf(digestOf(renderRepairList(list))).slice(0, 8)}`)
}

/** True where nothing needs to be carried. */
export function isEmptyRepairList({ records, volumes, volumesFrom, blobs }: RepairList): boolean {
  return records.length + volumes.length + blobs.length === 0 && volumesFrom === undefined
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(origin, 'it is no JSON', cause)
  }
}

function invalid(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('REPAIR_LIST_INVALID', `${origin} is no list of repairs: ${why}`, {
    details: { file: origin },
    cause,
  })
}
