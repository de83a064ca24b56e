/** The archive that was begun in a directory and is not sealed, read back to go on with it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { type ArchiveIndex, parseBlobs, parseRecord } from '../format/archive-index.ts'
import type { ArchiveDraft } from '../format/compose-front.ts'
import { entryNames } from '../format/format.ts'
import { Layout } from '../format/layout.ts'
import { progressName } from '../format/volume-names.ts'
import { countSealed } from './left-behind.ts'
import { type Progress, readProgress } from './write-progress.ts'
import { WrittenEntry } from './written-entries.ts'
import { WrittenVolumes } from './written-volumes.ts'

export interface UnfinishedArchive {
  readonly stem: string
  readonly index: ArchiveIndex
  readonly planText: string
  /** Opens the same archive again. */
  readonly draft: ArchiveDraft
}

const suffix = progressName('')

/**
 * @returns the first by name, where there are several; undefined where there is none
 * @throws KnownError ARCHIVE_DAMAGED where what was written of its index is not there any more
 */
export async function readUnfinished(directory: string): Promise<UnfinishedArchive | undefined> {
  for (const name of await progressFiles(directory)) {
    const progress = await readProgress(join(directory, name))
    if (progress) return readFront(directory, name.slice(0, -suffix.length), progress)
  }
  return undefined
}

async function progressFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  })
  return names.filter((name) => name.startsWith('sallyport-v1-') && name.endsWith(suffix)).sort()
}

async function readFront(directory: string, stem: string, progress: Progress): Promise<UnfinishedArchive> {
  const { id, recordSize, volumeBytes } = progress
  const volumes = new WrittenVolumes(directory, stem, await countSealed(directory, stem))
  const layout = new Layout(volumeBytes)
  const read = async (name: string, { digest, size }: { digest: Digest; size: number }) => {
    const [first] = layout.place({ name, size })
    const bytes = first && (await readWhole(volumes, new WrittenEntry({ name, size }, first, volumeBytes)))
    if (bytes && digestOf(bytes) === digest) return bytes
    throw new KnownError('ARCHIVE_DAMAGED', `${join(directory, stem)}: ${name} is not what was written`, {
      details: { directory, stem, entry: name },
      hint: `Delete the files that begin with ${stem} and run the command again: it begins anew.`,
    })
  }
  try {
    const record = parseRecord(await read(entryNames.archive, { digest: id, size: recordSize }), stem)
    const blobs = parseBlobs(await read(entryNames.blobs, record.files.blobs), stem)
    const planText = (await read(entryNames.plan, record.files.plan)).toString('utf8')
    const index: ArchiveIndex = { id, record, blobs }
    return { stem, index, planText, draft: draftOf(index, planText) }
  } finally {
    volumes.close()
  }
}

async function readWhole(volumes: WrittenVolumes, entry: WrittenEntry): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(entry.size)
  for (const { volume, offset, start, length } of entry.segments) {
    await volumes.read(volume, whole.subarray(start, start + length), offset)
  }
  return whole
}

function draftOf({ record, blobs }: ArchiveIndex, planText: string): ArchiveDraft {
  const { format: _format, version: _version, totals: _totals, files: _files, ...header } = record
  const known = (isCarried: boolean) =>
    blobs.filter((blob) => (blob.place !== undefined) === isCarried).map(({ place: _, ...blob }) => blob)
  return { ...header, carried: known(true), held: known(false), plan: () => [planText] }
}
