/** What of an unfinished archive can be gone on with. */
import { hashPlaced } from './entry-content.ts'
import type { LeftBehind } from './left-behind.ts'
import type { WrittenEntries, WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

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
