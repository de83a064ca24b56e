/** What an earlier run left in the directory of an archive. */
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import { partialSuffix, progressName, volumeName } from '../format/volume-names.ts'
import { type Progress, readProgress } from './write-progress.ts'

interface FoundVolume {
  readonly name: string
  readonly size: number
  /** It has its final name. */
  readonly isSealed: boolean
}

export interface LeftBehind {
  readonly progress: Progress | undefined
  readonly volumes: ReadonlyMap<number, FoundVolume>
}

/**
 * Looks, and changes nothing.
 *
 * @throws KnownError ARCHIVE_UNFINISHED, ARCHIVE_EXISTS where what is here is another archive
 */
export async function findLeftBehind(directory: string, stem: string, id: Digest): Promise<LeftBehind> {
  const progress = await readProgress(join(directory, progressName(stem)))
  const volumes = await findVolumes(directory, stem)
  if (progress && progress.id !== id) {
    throw new KnownError('ARCHIVE_UNFINISHED', `${directory} holds another archive ${stem}, which is not finished`, {
      details: { directory, stem, unfinished: progress.id, id },
    })
  }
  const finished = [...volumes.values()].find(({ isSealed }) => isSealed)
  if (!progress && finished) {
    throw new KnownError('ARCHIVE_EXISTS', `${directory} holds an archive ${stem} already: ${finished.name}`, {
      details: { directory, stem, file: finished.name },
    })
  }
  return { progress, volumes }
}

async function findVolumes(directory: string, stem: string): Promise<Map<number, FoundVolume>> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  })
  const found = new Map<number, FoundVolume>()
  for (const name of names) {
    const isSealed = !name.endsWith(partialSuffix)
    const volume = volumeOf(isSealed ? name : name.slice(0, -partialSuffix.length), stem)
    if (volume === undefined) continue
    const { size } = await stat(join(directory, name))
    found.set(volume, { name, size, isSealed })
  }
  return found
}

function volumeOf(name: string, stem: string): number | undefined {
  const digits = name.startsWith(`${stem}-`) ? name.slice(stem.length + 1, -'.tar'.length) : ''
  const volume = Number(digits)
  return volume > 0 && volumeName(stem, volume) === name ? volume : undefined
}

/** How many volumes, from the first, have their final names. */
export async function countSealed(directory: string, stem: string): Promise<number> {
  const volumes = await findVolumes(directory, stem)
  let sealed = 0
  while (volumes.get(sealed + 1)?.isSealed) sealed += 1
  return sealed
}

/** Takes the final names back from all volumes but the first `sealed`. */
export async function unseal(directory: string, { volumes }: LeftBehind, sealed: number): Promise<void> {
  for (const [volume, { name, isSealed }] of [...volumes].sort(([a], [b]) => b - a)) {
    const path = join(directory, name)
    if (isSealed && volume > sealed) await rename(path, `${path}${partialSuffix}`)
  }
}

/** Removes every volume but the first `last`. */
export async function removeAfter(directory: string, stem: string, last: number): Promise<void> {
  for (const [volume, { name }] of await findVolumes(directory, stem)) {
    if (volume > last) await rm(join(directory, name))
  }
}
