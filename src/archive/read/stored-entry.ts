/**
 * Entries whose size no index tells, because they are the index, or come after it: found by the tar headers before them.
 *
 * Nothing in a header is trusted: it has to be, byte for byte, the one that its name and size give.
 */
import { KnownError } from '../../errors/known-error.ts'
import { partName } from '../format/entry-names.ts'
import { sizes } from '../format/format.ts'
import { firstEntryOffset, type Place, type Segment } from '../format/layout.ts'
import { padded } from '../format/tar-space.ts'
import { fileHeader } from '../tar/ustar.ts'
import { DamagedEntry } from './damaged-entry.ts'
import type { ReadVolumes } from './read-volumes.ts'

export interface StoredEntry {
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly segments: readonly Segment[]
}

/** The documents of an archive are read whole; no real one comes near this. */
const maxDocumentBytes = 128 * 1024 * 1024

/**
 * Finds the entry `name` that begins at `place`, or at the start of the next volume where the rest of this one is too small.
 *
 * @throws KnownError ARCHIVE_DAMAGED where something else is there, ARCHIVE_INCOMPLETE, FILE_UNREADABLE
 */
export async function findEntry(files: ReadVolumes, name: string, place: Place): Promise<StoredEntry> {
  const at = roomAt(files, place) < sizes.tarBlock ? nextVolume(place) : place
  const whole = await segmentAt(files, name, at)
  if (whole) return { name, size: whole.length, segments: [whole] }
  const begin = await segmentAt(files, partName(name, 1), at)
  if (!begin) throw wrongEntry(files, name, at)
  const segments = [begin]
  for (let last = begin; fillsVolume(files, last); ) {
    const start = last.start + last.length
    const next = await segmentAt(files, partName(name, segments.length + 1), nextVolume(last))
    if (!next) break
    last = { ...next, start }
    segments.push(last)
  }
  return { name, size: segments.reduce((sum, { length }) => sum + length, 0), segments }
}

/** @throws KnownError ARCHIVE_INVALID where it is absurdly large, and as `findEntry` */
export async function readEntry(files: ReadVolumes, { name, size, segments }: StoredEntry): Promise<Buffer> {
  if (size > maxDocumentBytes) {
    throw new KnownError('ARCHIVE_INVALID', `${files.pathOf(1)}: ${name} claims ${size} bytes`, {
      details: { file: files.pathOf(1), size, limit: maxDocumentBytes },
    })
  }
  const bytes = Buffer.allocUnsafe(size)
  for (const { volume, offset, start, length } of segments) {
    await files.read({ volume, offset }, bytes.subarray(start, start + length))
  }
  return bytes
}

/** The piece whose header is at `place`, if it has this name; undefined where there is none. */
async function segmentAt(files: ReadVolumes, name: string, place: Place): Promise<Segment | undefined> {
  const room = roomAt(files, place)
  if (room < 0) return undefined
  const header = Buffer.allocUnsafe(sizes.tarBlock)
  await files.read(place, header)
  const length = Number.parseInt(header.toString('latin1', 124, 135), 8)
  const isSound = Number.isSafeInteger(length) && length >= 0 && fileHeader(name, length, { pax: false }).equals(header)
  if (!isSound || padded(length) > room) return undefined
  const { volume, offset: headerOffset } = place
  return { volume, name, headerOffset, offset: headerOffset + sizes.tarBlock, start: 0, length }
}

/** Bytes for content after a header at `place`; of a volume that is not there, without end. */
function roomAt(files: ReadVolumes, { volume, offset }: Place): number {
  return (files.sizeOf(volume) ?? Number.POSITIVE_INFINITY) - sizes.tarEnd - offset - sizes.tarBlock
}

function fillsVolume(files: ReadVolumes, { volume, offset, length }: Segment): boolean {
  return offset + length === (files.sizeOf(volume) ?? 0) - sizes.tarEnd
}

function nextVolume({ volume }: Place): Place {
  return { volume: volume + 1, offset: firstEntryOffset }
}

function wrongEntry(files: ReadVolumes, name: string, { volume, offset }: Place): KnownError {
  const file = files.pathOf(volume)
  const message = `${file} should have ${name} at byte ${offset}, and has something else there`
  return new DamagedEntry(message, { entry: name, file, pieces: [{ volume, offset, length: sizes.tarBlock }] })
}
