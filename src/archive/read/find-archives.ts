/** The archives in a directory, by the names of their files. Nothing is opened. */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { parseVolumeName, partialSuffix, progressName, type VolumeName, volumeName } from '../format/volume-names.ts'
import type { VolumeFile } from './read-volumes.ts'

export interface FoundArchive {
  readonly directory: string
  /** `sallyport-v1-000003`, or `sallyport-v1-000003-repair-1f0c…` */
  readonly stem: string
  readonly sequence: number
  readonly isRepair: boolean
  /** By number. */
  readonly volumes: readonly VolumeFile[]
  /** Numbers below the highest for which there is no file. Only `openArchive` can tell what comes after it. */
  readonly missing: readonly number[]
  /** True while it is being written, or where that was interrupted. */
  readonly isUnfinished: boolean
}

/**
 * @returns by sequence; an archive before its repairs
 * @throws KnownError ARCHIVE_INVALID where two files claim one place, or a volume is no plain file; FILE_UNREADABLE
 */
export async function findArchives(directory: string): Promise<readonly FoundArchive[]> {
  const names = await namesIn(directory)
  const byStem = Map.groupBy(names.map(nameOfPiece).filter(isPresent), ({ stem }) => stem)
  const found: FoundArchive[] = []
  for (const [stem, pieces] of byStem) found.push(await describe(directory, stem, pieces))
  const order = found.toSorted((a, b) => a.sequence - b.sequence || (a.stem < b.stem ? -1 : 1))
  refuseTwins(order)
  return order
}

/** A volume, or a trace of one that is being written. */
interface Piece {
  readonly stem: string
  readonly file: string
  readonly name?: VolumeName
}

function nameOfPiece(file: string): Piece | undefined {
  const name = parseVolumeName(file)
  if (name) return { stem: name.stem, file, name }
  const partial = file.endsWith(partialSuffix) ? parseVolumeName(file.slice(0, -partialSuffix.length)) : undefined
  if (partial) return { stem: partial.stem, file }
  const stem = file.slice(0, file.lastIndexOf('.'))
  const isProgress = file === progressName(stem) && parseVolumeName(volumeName(stem, 1)) !== undefined
  return isProgress ? { stem, file } : undefined
}

async function describe(directory: string, stem: string, pieces: readonly Piece[]): Promise<FoundArchive> {
  const named = pieces.flatMap(({ file, name }) => (name ? [{ file, volume: name.volume }] : []))
  const volumes: VolumeFile[] = []
  for (const { file, volume } of named.toSorted((a, b) => a.volume - b.volume)) {
    const path = join(directory, file)
    if (file !== volumeName(stem, volume) || volume === 0)
      throw refused(path, 'its name is not one that is ever written')
    const status = await lstat(path)
    if (!status.isFile()) throw refused(path, 'it is no plain file')
    volumes.push({ volume, file, size: status.size })
  }
  const present = new Set(volumes.map(({ volume }) => volume))
  const highest = Math.min(volumes.at(-1)?.volume ?? 0, volumes.length + mostMissing)
  return {
    directory,
    stem,
    sequence: sequenceOf(stem),
    isRepair: stem.includes('-repair-'),
    volumes,
    missing: Array.from({ length: highest }, (_, index) => index + 1).filter((volume) => !present.has(volume)),
    isUnfinished: pieces.some(({ name }) => name === undefined),
  }
}

/** A name can claim a billion. */
const mostMissing = 100_000

function sequenceOf(stem: string): number {
  return parseVolumeName(volumeName(stem, 1))?.sequence ?? 0
}

/** `000003` and `0000003` are one number. */
function refuseTwins(found: readonly FoundArchive[]): void {
  const archives = found.filter(({ isRepair }) => !isRepair)
  const twin = archives.find((archive, index) => archive.sequence === archives[index + 1]?.sequence)
  if (twin)
    throw refused(join(twin.directory, `${twin.stem}-*.tar`), `there is another archive ${twin.sequence} beside it`)
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) throw cause
    throw new KnownError('FILE_UNREADABLE', `${directory} cannot be read as a directory with archives`, {
      details: { directory },
      cause,
    })
  }
}

function refused(path: string, why: string): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${path} is refused: ${why}`, { details: { file: path } })
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}
