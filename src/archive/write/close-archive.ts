/** The end of writing: holes, closing entries, and the last volumes. */
import { closeSync, fsync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Digest } from '../../oci/digest.ts'
import { layoutAfter } from '../format/archive-index.ts'
import { closingEntries, endRecord, holesOf } from '../format/closing-entries.ts'
import { entryNames, sizes } from '../format/format.ts'
import type { Segment } from '../format/layout.ts'
import type { ArchiveHole, ArchiveHoles } from '../format/records.ts'
import type { ArchiveSigner } from '../format/signature.ts'
import { progressName } from '../format/volume-names.ts'
import type { OpenArchive } from './begin-archive.ts'
import { hashFor, makeHole } from './entry-content.ts'
import { removeAfter } from './left-behind.ts'
import { PlacedWriter } from './placed-writer.ts'
import type { SealedArchive } from './write-archive.ts'
import { WrittenEntry } from './written-entries.ts'

const flushAll = promisify(fsync)

/** Everything but the end of the progress file. */
export async function closeArchive(
  archive: OpenArchive,
  images: readonly ArchiveHole[],
  signer: ArchiveSigner | undefined,
): Promise<SealedArchive> {
  const { front, volumes, sealer, claims } = archive
  await claims.settle()
  const blobs = await leaveHoles(archive)
  await sealer.sealReady()
  const holes = holesOf(front, images, blobs)
  const { closing, end } = await writeClosing(archive, holes)
  const checksum = await sealer.sealLast(closing, end, (total, sum) =>
    endRecord(front, { volumes: total, checksum: sum, holes }, signer),
  )
  // The names are on the disk before the progress file goes, which says that the archive is not finished.
  await flushDirectory(archive.directory)
  const files = Array.from({ length: end.volume }, (_, index) => volumes.path(index + 1))
  const bytes = (end.volume - 1) * front.record.volumeBytes + end.offset + end.length + sizes.tarEnd
  return { files, bytes, checksum, holes: blobs }
}

/** In the order of their places. */
async function leaveHoles({ entries, volumes, sealer, claims }: OpenArchive): Promise<Digest[]> {
  for (const entry of entries.blobs.values()) {
    if (entry.state !== 'missing') continue
    await makeHole(volumes, entry)
    sealer.settled(entry)
    if (entry.digest) await claims.reached(entry.digest, 0)
  }
  return [...entries.blobs].flatMap(([digest, { state }]) => (state === 'hole' ? [digest] : []))
}

interface PlacedClosing {
  readonly closing: readonly WrittenEntry[]
  readonly end: Segment
}

async function writeClosing(archive: OpenArchive, holes: ArchiveHoles): Promise<PlacedClosing> {
  const { directory, stem, front, volumes, sealer } = archive
  const layout = layoutAfter(front, front.recordBytes.byteLength)
  // An earlier attempt may have left closing entries of another length.
  sealer.rewind()
  volumes.close()
  await removeAfter(directory, stem, layout.volume)
  await volumes.cut(layout.volume, layout.position)
  const { volumeBytes } = front.record
  const closing: WrittenEntry[] = []
  for (const { name, bytes } of closingEntries(front, holes)) {
    const segments = layout.place({ name, size: bytes.byteLength })
    const [first] = segments
    if (!first) throw new RangeError(`${name} has no place`)
    const entry = new WrittenEntry({ name, size: bytes.byteLength }, first, volumeBytes)
    const writer = new PlacedWriter(volumes, segments)
    await writer.write(bytes)
    await writer.settle()
    const hash = hashFor(entry)
    hash.update(bytes)
    entry.finish(hash.finish().sums)
    closing.push(entry)
  }
  const [end] = layout.place({ name: entryNames.end, size: sizes.endRecord, isWhole: true })
  if (!end) throw new RangeError(`${entryNames.end} has no place`)
  return { closing, end }
}

/** From here on the archive is one. */
export async function removeProgress({ directory, stem }: OpenArchive): Promise<void> {
  await rm(join(directory, progressName(stem)), { force: true })
  await flushDirectory(directory)
}

async function flushDirectory(path: string): Promise<void> {
  const directory = openSync(path, 'r')
  try {
    await flushAll(directory)
  } finally {
    closeSync(directory)
  }
}
