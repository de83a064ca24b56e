/** Reads what stands behind the last blob: what is missing, and how the archive ends. */
import type * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import { entryNames, sizes } from '../format/format.ts'
import { ArchiveHoles, EndRecord, VolumeRecord } from '../format/records.ts'
import { fileHeader } from '../tar/ustar.ts'
import type { ArchiveFrontPage } from './archive-front.ts'
import type { ReadVolumes } from './read-volumes.ts'
import { findEntry, readEntry, type StoredEntry } from './stored-entry.ts'

/** @throws KnownError ARCHIVE_DAMAGED, FILE_UNREADABLE */
export async function readVolumeRecord(files: ReadVolumes, volume: number): Promise<VolumeRecord> {
  const bytes = await recordAfterHeader(files, {
    name: entryNames.volume,
    volume,
    offset: sizes.tarBlock,
    size: sizes.volumeRecord,
  })
  const record = bytes && parsed(VolumeRecord, bytes)
  if (record) return record
  throw damaged(files.pathOf(volume), entryNames.volume, 'it is not there, or unreadable')
}

/** The end record, if `volume` is the last one and whole. */
export async function readEndRecord(files: ReadVolumes, volume: number): Promise<EndRecord | undefined> {
  const offset = (files.sizeOf(volume) ?? 0) - sizes.tarEnd - sizes.endRecord
  const bytes = await recordAfterHeader(files, { name: entryNames.end, volume, offset, size: sizes.endRecord })
  return bytes && parsed(EndRecord, bytes)
}

export interface ArchiveClose {
  /** Undefined where it is damaged, or in a volume that is missing. */
  readonly holes: ArchiveHoles | undefined
  /** `holes.json`, `oci-layout`, `index.json`, `end.json`, as far as they could be found. */
  readonly entries: readonly StoredEntry[]
  /** By what is in it; undefined where that could not be found out. The others have the size that the index says. */
  readonly lastVolumeSize: number | undefined
}

/**
 * @param front its layout is gone on with
 * @param refuse is told what is damaged; where it returns, what is left of it is read
 * @throws KnownError FILE_UNREADABLE
 */
export async function readClose(
  files: ReadVolumes,
  { layout }: ArchiveFrontPage,
  refuse: (problem: KnownError) => void,
): Promise<ArchiveClose> {
  const entries: StoredEntry[] = []
  try {
    for (const name of [entryNames.holes, entryNames.layout, entryNames.index]) {
      const found = await findEntry(files, name, { volume: layout.volume, offset: layout.position })
      entries.push({ ...found, segments: layout.place({ name, size: found.size }) })
    }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    // Volumes may be missing.
    if (error.code !== 'ARCHIVE_INCOMPLETE') refuse(error)
    return { holes: await readHoles(files, entries, refuse), entries, lastVolumeSize: undefined }
  }
  const end = { name: entryNames.end, size: sizes.endRecord, isWhole: true }
  entries.push({ ...end, segments: layout.place(end) })
  return { holes: await readHoles(files, entries, refuse), entries, lastVolumeSize: layout.position + sizes.tarEnd }
}

async function readHoles(
  files: ReadVolumes,
  [entry]: readonly StoredEntry[],
  refuse: (problem: KnownError) => void,
): Promise<ArchiveHoles | undefined> {
  if (!entry) return undefined
  const holes = parsed(ArchiveHoles, await readEntry(files, entry))
  const file = files.pathOf(entry.segments[0]?.volume ?? 1)
  if (!holes) refuse(damaged(file, entryNames.holes, 'it is unreadable'))
  return holes
}

async function recordAfterHeader(
  files: ReadVolumes,
  { name, volume, offset, size }: { name: string; volume: number; offset: number; size: number },
): Promise<Buffer | undefined> {
  const begin = offset - sizes.tarBlock
  if (begin < 0 || offset + size > (files.sizeOf(volume) ?? 0)) return undefined
  const bytes = Buffer.allocUnsafe(sizes.tarBlock + size)
  await files.read({ volume, offset: begin }, bytes)
  const isThere = fileHeader(name, size, { pax: false }).equals(bytes.subarray(0, sizes.tarBlock))
  return isThere ? bytes.subarray(sizes.tarBlock) : undefined
}

function parsed<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
  return schema.safeParse(parsedJson(bytes)).data
}

function damaged(file: string, entry: string, why: string): KnownError {
  return new KnownError('ARCHIVE_DAMAGED', `${file}: ${entry} is damaged: ${why}`, { details: { file, entry } })
}
