/** What an earlier run left in the directory of an archive, and what of it can be gone on with. */
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { hashPlaced } from './entry-content.ts'
import { partialSuffix, progressName, volumeName } from './volume-names.ts'
import { type Progress, readProgress } from './write-progress.ts'
import type { WrittenEntries, WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

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

/** What is known of the entries without reading them; those that are to be hashed again stay as they are. */
export function recall(entries: WrittenEntries, { progress, volumes }: LeftBehind): readonly WrittenEntry[] {
  const doubtful: WrittenEntry[] = []
  const isSealedHere = (volume: number) => volumes.get(volume)?.isSealed === true && progress?.sealed.has(volume)
  for (const [digest, { sums, isFlushed }] of progress?.written ?? []) {
    const entry = entries.blobs.get(digest)
    if (!entry || !isThere(entry, entry.size, volumes)) continue
    const isOnDisk = isFlushed || entry.segments.every(({ volume }) => isSealedHere(volume))
    if (isOnDisk) entry.finish(sums)
    else doubtful.push(entry)
  }
  for (const [digest, offset] of progress?.reached ?? []) {
    const entry = entries.blobs.get(digest)
    if (entry && entry.state === 'missing' && isThere(entry, offset, volumes)) entry.reached = offset
  }
  return doubtful
}

function isThere({ segments }: WrittenEntry, length: number, volumes: LeftBehind['volumes']): boolean {
  return segments.every(({ volume, start, offset, length: whole }) => {
    const here = Math.min(whole, length - start)
    return here <= 0 || (volumes.get(volume)?.size ?? 0) >= offset + here
  })
}

/** Hashes again what was written and never flushed. */
export async function proveDoubtful(volumes: WrittenVolumes, doubtful: readonly WrittenEntry[]): Promise<void> {
  for (const entry of doubtful) {
    const { digest, sums } = (await hashPlaced(volumes, entry, entry.size)).finish()
    if (digest === entry.digest) entry.finish(sums)
  }
}

/**
 * How many volumes, from the first, are sealed and stay so. A volume with a hole that may be filled now does not, nor
 * does the one that the closing entries begin in.
 */
export function sealedVolumes(entries: WrittenEntries, { progress, volumes }: LeftBehind): number {
  const firstMissing = entries.blobs.values().find(({ state }) => state === 'missing')
  const limit = Math.min(firstMissing?.firstVolume ?? Number.POSITIVE_INFINITY, entries.layout.volume)
  let sealed = 0
  while (sealed + 1 < limit && volumes.get(sealed + 1)?.isSealed && progress?.sealed.has(sealed + 1)) sealed += 1
  return sealed
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
