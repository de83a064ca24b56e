/** Mends the volumes of an archive from its parity volumes. */
import { type FileHandle, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import { diskError } from '../../store/disk.ts'
import { VolumeRecord } from '../format/records.ts'
import { volumeName } from '../format/volume-names.ts'
import { openBlocks, readBlock } from './block-file.ts'
import { archiveFiles } from './parity-names.ts'
import { closeParity, openParity, type ParityFile } from './read-parity.ts'
import { type Patient, RowRepair, rebuildingSuffix } from './repair-rows.ts'

export interface RepairOptions {
  readonly signal: AbortSignal
  /** Called with the bytes of the volumes that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

export interface RepairedVolume {
  readonly volume: number
  /** Name of the file. */
  readonly file: string
  readonly wasMissing: boolean
  /** Bytes that were written. */
  readonly rebuiltBytes: number
  /** Bytes that parity could not bring back: 0 where the volume is whole again. */
  readonly lostBytes: number
}

export interface ParityRepair {
  /** The volumes that were damaged, in order. */
  readonly volumes: readonly RepairedVolume[]
  /** Names of the parity volumes that are damaged or missing, wholly or in part. */
  readonly damagedParity: readonly string[]
  /** How many parity volumes the archive has for each group. */
  readonly count: number
}

/**
 * Finds every block of every volume that is not as it was when the parity was made, and makes it again. Each block is proven
 * by its checksum before it is written: into its volume where that is there, else into a new one, which gets its name at the
 * end. Interrupted, it goes on by being called again.
 *
 * What cannot be brought back stays as it is, and is told in the result.
 *
 * @returns undefined where no parity volume of this archive can be used
 * @throws KnownError ARCHIVE_INVALID where the parity is of another archive, DISK_FULL, FILE_UNREADABLE
 */
export async function repairVolumes(
  directory: string,
  stem: string,
  options: RepairOptions,
): Promise<ParityRepair | undefined> {
  const parity = await openParity(directory, stem)
  try {
    const [first] = parity.usable
    if (!first) return undefined
    await checkIdentity(directory, stem, first)
    const volumes: RepairedVolume[] = []
    const damagedParity = new Set(parity.unusable)
    for (let group = 1; group <= first.record.groups; group += 1) {
      const members = parity.usable.filter(({ record }) => record.group === group)
      const repair = await repairGroup(directory, members, options)
      volumes.push(...repair.volumes)
      for (const name of repair.damagedParity) damagedParity.add(name)
    }
    volumes.sort((a, b) => a.volume - b.volume)
    return { volumes, damagedParity: [...damagedParity], count: first.record.count }
  } catch (error) {
    throw diskError(error, directory)
  } finally {
    await closeParity(parity.usable)
  }
}

async function repairGroup(
  directory: string,
  parity: readonly ParityFile[],
  options: RepairOptions,
): Promise<Pick<ParityRepair, 'volumes' | 'damagedParity'>> {
  const [first] = parity
  if (!first) return { volumes: [], damagedParity: [] }
  const patients: Patient[] = []
  try {
    for (const { volume, size } of first.record.volumes) {
      const path = join(directory, volumeName(first.record.stem, volume))
      const file = await openBlocks(path, 'read')
      const wasMissing = file === undefined
      patients.push({ volume, size, path, wasMissing, file, output: undefined, rebuiltBytes: 0, lostBytes: 0 })
    }
    const rows = new RowRepair(patients, parity)
    await rows.run(options)
    for (const patient of patients) await finish(patient)
    return { volumes: patients.filter(wasDamaged).map(resultOf), damagedParity: rows.damagedParity }
  } finally {
    for (const { file, output, wasMissing, path } of patients) {
      await file?.close()
      await output?.close()
      if (wasMissing) await rm(path + rebuildingSuffix, { force: true })
    }
  }
}

/** Flushes, cuts what is too long, and gives a new volume its name. What is too short stays so: a size is only a claim. */
async function finish(patient: Patient): Promise<void> {
  const { file, path, size, wasMissing } = patient
  const isTooLong = file !== undefined && (await file.stat()).size > size
  if (isTooLong) {
    patient.output ??= await openBlocks(path, 'write')
    patient.rebuiltBytes = Math.max(1, patient.rebuiltBytes)
    await patient.output?.truncate(size)
  }
  await patient.output?.sync()
  if (wasMissing && patient.output) await rename(path + rebuildingSuffix, path)
}

function wasDamaged({ wasMissing, rebuiltBytes, lostBytes }: Patient): boolean {
  return wasMissing || rebuiltBytes > 0 || lostBytes > 0
}

function resultOf({ volume, path, wasMissing, rebuiltBytes, lostBytes }: Patient): RepairedVolume {
  return { volume, file: path.slice(path.lastIndexOf('/') + 1), wasMissing, rebuiltBytes, lostBytes }
}

/** What belongs to another archive must not be written over, nor its parity be used. */
async function checkIdentity(directory: string, stem: string, { record }: ParityFile): Promise<void> {
  const { volumes } = await archiveFiles(directory, stem)
  for (const name of volumes.values()) {
    const file = await openBlocks(join(directory, name), 'read')
    const id = file && (await readId(file))
    await file?.close()
    if (id === undefined || isNearly(id, record.id)) continue
    throw new KnownError(
      'ARCHIVE_INVALID',
      `${name} and the parity volumes in ${directory} are of different archives`,
      {
        details: { file: join(directory, name), archive: id, parity: record.id },
        hint: 'One of them has the number of the other. Move what does not belong here to another directory; nothing was changed.',
      },
    )
  }
}

async function readId(file: FileHandle): Promise<string | undefined> {
  return VolumeRecord.safeParse(parsedJson(await readBlock(file, new Uint8Array(512), 512))).data?.id
}

/** A damaged byte or two in the identity do not make another archive. */
function isNearly(a: string, b: string): boolean {
  return a.length === b.length && [...a].filter((character, index) => character !== b[index]).length <= 4
}
