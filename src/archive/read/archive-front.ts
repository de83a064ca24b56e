/** Reads what stands in front of an archive: who it is, what is wanted, and where everything lies. */
import { KnownError } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, digestOf } from '../../oci/digest.ts'
import { type ArchiveBlob, parseBlobs, parseRecord } from '../format/archive-index.ts'
import { checkImages } from '../format/check-images.ts'
import { checkIndex } from '../format/check-index.ts'
import { entryNames } from '../format/format.ts'
import { firstEntryOffset, type Layout, type Place } from '../format/layout.ts'
import type { ArchiveRecord } from '../format/records.ts'
import { padded } from '../format/tar-space.ts'
import { DamagedEntry } from './damaged-entry.ts'
import type { ReadVolumes } from './read-volumes.ts'
import { findEntry, readEntry, type StoredEntry } from './stored-entry.ts'

export interface ArchiveFrontPage {
  readonly id: Digest
  readonly record: ArchiveRecord
  readonly blobs: ReadonlyMap<Digest, ArchiveBlob>
  /** `archive.json`, `blobs.txt`, `plan.json`, in this order. */
  readonly entries: readonly StoredEntry[]
  /** Gives places after everything that the index knows. */
  readonly layout: Layout
}

/**
 * @param claimed what the volumes say which archive they belong to
 * @throws KnownError ARCHIVE_INVALID, ARCHIVE_DAMAGED, ARCHIVE_INCOMPLETE, FILE_UNREADABLE
 */
export async function readFront(files: ReadVolumes, claimed: ReadonlySet<Digest>): Promise<ArchiveFrontPage> {
  const first = files.pathOf(1)
  if (files.sizeOf(1) === undefined) throw withoutIndex(first)
  const recordEntry = await findEntry(files, entryNames.archive, { volume: 1, offset: firstEntryOffset })
  const recordBytes = await readEntry(files, recordEntry)
  const id = digestOf(recordBytes)
  if (!claimed.has(id)) {
    throw damaged(files, recordEntry, { expected: [...claimed].join(' or '), actual: id })
  }
  const record = parseRecord(recordBytes, first)
  checkImages(record.images, first)
  const tableEntry = await findEntry(files, entryNames.blobs, endOf(recordEntry))
  const { digest, size } = record.files.blobs
  const table = tableEntry.size === size ? await readEntry(files, tableEntry) : undefined
  const actual = table && digestOf(table, algorithmOf(digest))
  if (!table || actual !== digest) {
    throw damaged(files, tableEntry, { expected: digest, actual: actual ?? `${tableEntry.size} bytes` })
  }
  const blobs = parseBlobs(table, first)
  const checked = checkIndex({ record, blobs }, { recordSize: recordEntry.size, origin: first })
  return { id, record, blobs: checked.blobs, entries: checked.front, layout: checked.layout }
}

/** Where the next entry begins, if it fits. */
function endOf({ segments }: StoredEntry): Place {
  const last = segments.at(-1)
  return { volume: last?.volume ?? 1, offset: last ? last.offset + padded(last.length) : firstEntryOffset }
}

function withoutIndex(file: string): KnownError {
  return new KnownError(
    'ARCHIVE_INCOMPLETE',
    `${file} is not there: without volume 1 nothing of the archive can be read`,
    {
      details: { file, volume: 1 },
    },
  )
}

function damaged(files: ReadVolumes, { name, segments }: StoredEntry, found: { expected: string; actual: string }) {
  const file = files.pathOf(segments[0]?.volume ?? 1)
  const message = `${file}: ${name} is damaged: expected ${found.expected}, found ${found.actual}`
  return new DamagedEntry(message, { entry: name, file, pieces: segments })
}
