/** Begins the files of an archive, or takes them over from an earlier run. */
import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { checkFreeSpace, freeSpaceAt } from '../../host/free-space.ts'
import { diskError } from '../../store/disk.ts'
import type { ArchiveFront } from '../format/compose-front.ts'
import { headerBytes, padded } from '../format/tar-space.ts'
import { progressName } from '../format/volume-names.ts'
import { hashFor, hashPlaced } from './entry-content.ts'
import { findLeftBehind, type LeftBehind, removeAfter, unseal } from './left-behind.ts'
import { PlacedWriter } from './placed-writer.ts'
import { proveDoubtful, recall, sealedVolumes } from './recall-entries.ts'
import { VolumeSealer } from './seal-volumes.ts'
import { ProgressFile } from './write-progress.ts'
import { WrittenClaims } from './written-claims.ts'
import { placeEntries, type WrittenEntries, type WrittenEntry } from './written-entries.ts'
import { WrittenVolumes } from './written-volumes.ts'

/** statfs(2), MSDOS_SUPER_MAGIC. */
const fatType = 0x4d44
const maxFatFile = 2 ** 32 - 1

interface Place {
  readonly directory: string
  readonly stem: string
  readonly front: ArchiveFront
  readonly plan: () => Iterable<string>
  readonly flushEveryBytes: number
}

/** An archive with its files at hand. */
export interface OpenArchive extends Place {
  readonly entries: WrittenEntries
  readonly volumes: WrittenVolumes
  readonly progress: ProgressFile
  readonly claims: WrittenClaims
  readonly sealer: VolumeSealer
  readonly resumed: { readonly blobs: number; readonly bytes: number }
}

/** @param lock keeps other processes out, and gives the way to let them in again */
export async function beginOrResume(
  place: Place,
  lock: () => Promise<() => Promise<void>>,
): Promise<{ open: OpenArchive; release: () => Promise<void> }> {
  await checkRoom(place)
  const release = await lock().catch((error: unknown) => {
    throw diskError(error, place.directory)
  })
  try {
    return { open: await takeOver(place), release }
  } catch (error) {
    await release()
    throw error
  }
}

/** What is still to be written, with room for the closing entries, whose size is known at the end only. */
async function checkRoom({ directory, stem, front }: Place): Promise<void> {
  const entries = placeEntries(front)
  const left = await findLeftBehind(directory, stem, front.id)
  const there = new Set([...recall(entries, left), ...(left.progress ? entries.front : [])])
  const missing = entries.all.filter((entry) => entry.state === 'missing' && !there.has(entry))
  const bytes = missing.reduce(
    (sum, { name, size, reached }) => sum + headerBytes(name, size) + padded(size) - reached,
    0,
  )
  const closing = 64 * 1024 + front.record.images.reduce((sum, { destination }) => sum + 300 + destination.length, 0)
  await checkFreeSpace([{ path: directory, neededBytes: bytes + closing, what: 'the archive' }])
  await checkFileSize(directory, Math.min(front.record.volumeBytes, front.record.totals.bytes))
}

async function checkFileSize(directory: string, largest: number): Promise<void> {
  const { path } = await freeSpaceAt(directory)
  const { type } = await statfs(path)
  if (type !== fatType || largest <= maxFatFile) return
  throw new KnownError('ARCHIVE_VOLUME_TOO_LARGE', `${path} is on a FAT disk, where a file has less than 4 GiB`, {
    details: { path, volumeBytes: largest },
  })
}

async function takeOver(place: Place): Promise<OpenArchive> {
  const { directory, stem, front } = place
  const entries = placeEntries(front)
  const left = await findLeftBehind(directory, stem, front.id)
  const doubtful = recall(entries, left)
  const sealed = left.progress ? sealedVolumes(entries, left) : 0
  await unseal(directory, left, sealed)
  await removeAfter(directory, stem, left.progress ? entries.layout.volume : 0)
  const volumes = new WrittenVolumes(directory, stem, sealed)
  try {
    await proveDoubtful(volumes, doubtful)
    const progress = await takeProgress(place, { left, entries, volumes })
    const dirty = doubtful.flatMap(({ segments }) => segments.map(({ volume }) => volume))
    const earlier = { count: left.progress?.count ?? 0, dirty }
    const claims = new WrittenClaims(volumes, progress, { ...earlier, flushEveryBytes: place.flushEveryBytes })
    await disclaim(entries, left, claims)
    const sealer = new VolumeSealer({
      front,
      entries,
      volumes,
      progress,
      sealed,
      checksum: left.progress?.sealed.get(sealed) ?? null,
      onSealed: (volume) => claims.sealed(volume),
    })
    return { ...place, entries, volumes, progress, claims, sealer, resumed: resumedOf(entries) }
  } catch (error) {
    volumes.close()
    throw error
  }
}

/** Index and plan come first: whoever finds the progress file finds them on the disk. */
async function takeProgress(
  { directory, stem, front, plan }: Place,
  { left, entries, volumes }: { left: LeftBehind; entries: WrittenEntries; volumes: WrittenVolumes },
): Promise<ProgressFile> {
  const path = join(directory, progressName(stem))
  const [record, blobs, planEntry] = entries.front
  if (!record || !blobs || !planEntry) throw new RangeError('an archive begins with its index and its plan')
  const to = { volumes, isBegun: left.progress !== undefined }
  await placeFront(record, () => [front.recordBytes], to)
  await placeFront(blobs, () => [front.blobsBytes], to)
  await placeFront(planEntry, () => encoded(plan()), to)
  if (left.progress) return ProgressFile.reopen(path, left.progress)
  const touched = new Set(entries.front.flatMap(({ segments }) => segments.map(({ volume }) => volume)))
  for (const volume of touched) await volumes.flush(volume)
  await rm(path, { force: true })
  const { volumeBytes } = front.record
  return ProgressFile.create(path, { id: front.id, recordSize: front.recordBytes.byteLength, volumeBytes })
}

/** Hashes an entry of the front, and writes it unless it is there already: somebody may have removed the first volume. */
async function placeFront(
  entry: WrittenEntry,
  content: () => Iterable<Uint8Array>,
  { volumes, isBegun }: { readonly volumes: WrittenVolumes; readonly isBegun: boolean },
): Promise<void> {
  const hash = hashFor(entry)
  for (const bytes of content()) hash.update(bytes)
  const { digest, sums } = hash.finish()
  entry.finish(sums)
  if (isBegun && (await hashPlaced(volumes, entry, entry.size)).finish().digest === digest) return
  const writer = new PlacedWriter(volumes, entry.segments)
  for (const bytes of content()) await writer.write(bytes)
  await writer.settle()
}

function* encoded(pieces: Iterable<string>): Generator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

/** Takes back what the progress file says and the volumes do not hold. */
async function disclaim(entries: WrittenEntries, { progress }: LeftBehind, claims: WrittenClaims): Promise<void> {
  for (const digest of progress?.written.keys() ?? []) {
    if (entries.blobs.get(digest)?.state === 'missing') await claims.reached(digest, 0)
  }
}

function resumedOf({ blobs }: WrittenEntries): { blobs: number; bytes: number } {
  const all = [...blobs.values()]
  const written = all.filter(({ state }) => state === 'written')
  const bytes = all.reduce((sum, { state, size, reached }) => sum + (state === 'written' ? size : reached), 0)
  return { blobs: written.length, bytes }
}
