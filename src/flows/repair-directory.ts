/**
 * The path of `sallyport archive repair DIR`: parity first, then what repairs brought, and what is still missing after both.
 *
 * Whatever is written is proven before, or follows from what is proven; afterwards the archives are what they were, byte for
 * byte.
 */
import { readdir } from 'node:fs/promises'
import type { Archive } from '../archive/read/archive.ts'
import { type FoundArchive, findArchives } from '../archive/read/find-archives.ts'
import { openArchive } from '../archive/read/read-archive.ts'
import { openRepairs } from '../archive/read/repaired-archive.ts'
import { type MendReport, mendArchive } from '../archive/repair/mend-archive.ts'
import { type ParityRepair, repairVolumes } from '../archive/repair/repair-volumes.ts'
import { writeParity } from '../archive/repair/write-parity.ts'
import { type ArchiveVerification, verifyArchive } from '../archive/verify/verify-archive.ts'
import { KnownError } from '../errors/known-error.ts'

export interface RepairDirectoryOptions {
  readonly signal: AbortSignal
  /** Called with the bytes that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

export interface DirectoryRepair {
  readonly stem: string
  /** Undefined where there is no parity that can be used. */
  readonly parity: ParityRepair | undefined
  /** Undefined where no repair was needed, or none is there. */
  readonly mended: MendReport | undefined
  /** Parity volumes that were damaged and were made again. */
  readonly renewedParity: readonly string[]
  /** Of the archive as it is now; undefined where not even one volume of it could be made. */
  readonly verification: ArchiveVerification | undefined
}

/** @throws KnownError ARCHIVE_UNFINISHED, ARCHIVE_INVALID, DISK_FULL, FILE_UNREADABLE */
export async function repairDirectory(
  directory: string,
  options: RepairDirectoryOptions,
): Promise<readonly DirectoryRepair[]> {
  const stems = await stemsIn(directory)
  const parity = new Map<string, ParityRepair | undefined>()
  for (const stem of stems) parity.set(stem, await repairVolumes(directory, stem, options))
  const repairs: DirectoryRepair[] = []
  // Repairs first: what they carry has to be whole when it is used.
  for (const stem of stems.toSorted((a, b) => Number(isRepair(b)) - Number(isRepair(a)))) {
    repairs.push(await repairOne(directory, { stem, parity: parity.get(stem) }, options))
  }
  return repairs.toSorted((a, b) => (a.stem < b.stem ? -1 : 1))
}

function isRepair(stem: string): boolean {
  return stem.includes('-repair-')
}

/** Also of archives of which only parity volumes are there. */
async function stemsIn(directory: string): Promise<readonly string[]> {
  const found = await findArchives(directory)
  const parity = (await readdir(directory)).flatMap(
    (file) => /^(sallyport-v1-.+)-parity-\d+\.tar$/.exec(file)?.[1] ?? [],
  )
  return [...new Set([...found.map(({ stem }) => stem), ...parity])].sort()
}

async function repairOne(
  directory: string,
  { stem, parity }: Pick<DirectoryRepair, 'stem' | 'parity'>,
  options: RepairDirectoryOptions,
): Promise<DirectoryRepair> {
  const beside = await findArchives(directory)
  const found = beside.find((one) => one.stem === stem)
  if (!found) return { stem, parity, mended: undefined, renewedParity: [], verification: undefined }
  const before = await verifyArchive(found, { ...options, beside })
  const mended = isDamaged(before) && !isForeign(before) ? await mend(found, beside, options) : undefined
  const verification = mended ? await verifyAgain(directory, stem, options) : before
  const isWhole = verification !== undefined && !isDamaged(verification)
  const isParityDamaged = parity !== undefined && parity.damagedParity.length > 0
  const renewed = isWhole && isParityDamaged ? await writeParity(directory, stem, parity.count, options) : undefined
  return { stem, parity, mended, renewedParity: renewed?.files ?? [], verification }
}

function isDamaged({ damage, archive }: ArchiveVerification): boolean {
  return archive === undefined || damage.ranges.length > 0
}

/** A file of another archive has the name of one of this: it is not to be written over. */
function isForeign({ damage }: ArchiveVerification): boolean {
  return damage.ranges.some(({ kind }) => kind === 'foreign')
}

async function verifyAgain(directory: string, stem: string, options: RepairDirectoryOptions) {
  const beside = await findArchives(directory)
  const found = beside.find((one) => one.stem === stem)
  return found && verifyArchive(found, { ...options, beside })
}

/** Undefined where the index, or the plan, can be had nowhere: then nothing can be put into its place. */
async function mend(
  found: FoundArchive,
  beside: readonly FoundArchive[],
  options: RepairDirectoryOptions,
): Promise<MendReport | undefined> {
  const archive = await openForMending(found, beside)
  if (!archive) return undefined
  try {
    const { id, record, holes, end, ending } = archive
    const front = { id, record, blobs: [...archive.blobs.values()], ...(await archive.readIndex()) }
    const planBytes = Buffer.from(await archive.readPlan())
    const { directory, stem } = found
    const content = (digest: Parameters<Archive['has']>[0]) =>
      archive.repairs.find((repair) => repair.has(digest))?.open(digest, { signal: options.signal })
    return await mendArchive(
      { directory, stem, front, planBytes, holes, end, checksum: ending?.checksum, content },
      options,
    )
  } catch (error) {
    if (error instanceof KnownError && error.code === 'ARCHIVE_DAMAGED') return undefined
    throw error
  } finally {
    await archive.close()
  }
}

async function openForMending(found: FoundArchive, beside: readonly FoundArchive[]): Promise<Archive | undefined> {
  try {
    return await openArchive(found, { allowDamage: true, repairs: await openRepairs(found, beside) })
  } catch (error) {
    const isDamage = error instanceof KnownError && ['ARCHIVE_DAMAGED', 'ARCHIVE_INCOMPLETE'].includes(error.code)
    if (isDamage) return undefined
    throw error
  }
}
