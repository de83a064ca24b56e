/**
 * What a workspace knows of archives: on the connected side those that were written, on the closed side those that were loaded.
 *
 *     archives|loaded/<target, or any>/<sequence>/
 *       state.json     what it is, when it was recorded, its end, and what of its content is missing
 *       archive.json   the index of the archive, as it was written
 *       blobs.txt
 *       plan.json
 *
 * Whatever is not recorded is carried again: losing a record costs bytes on the way, and never an image at the other side.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { type Finding, finding } from '../../errors/finding.ts'
import { hasSystemCode } from '../../errors/known-error.ts'
import { randomId } from '../../host/random.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { digestText } from '../../oci/digest-text.ts'
import { diskError } from '../../store/disk.ts'
import { type ArchiveRecord, EndRecord } from '../format/records.ts'

const DigestText = digestText()

const HistoryState = z.object({
  version: z.literal(1),
  /** Of the archive. */
  id: DigestText,
  kind: z.enum(['full', 'increment', 'repair']),
  sequence: z.number().int().positive(),
  parent: DigestText.optional(),
  target: z.string().optional(),
  recordedAt: z.iso.datetime(),
  volumes: EndRecord.shape.volumes,
  checksum: EndRecord.shape.checksum,
  /** Content that its index says it carries, and that did not get into it, or not out of it. */
  missing: z.array(DigestText),
})

/** One archive; its content is read by `sumHistory`. */
export interface HistoryEntry extends z.infer<typeof HistoryState> {
  /** Where its record lies. */
  readonly directory: string
}

export interface ArchiveHistory {
  /** For this target and for any; by sequence. */
  readonly archives: readonly HistoryEntry[]
  /** The highest number that was given for any target; 0 where there is none. The next archive has one more. */
  readonly lastSequence: number
  /** Records that cannot be read. */
  readonly findings: readonly Finding[]
}

export interface ArchiveToRecord {
  readonly front: {
    readonly record: ArchiveRecord
    readonly recordBytes: Uint8Array
    readonly blobsBytes: Uint8Array
  }
  /** The bytes of `plan.json`, in pieces. */
  readonly plan: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>
  readonly end: Pick<EndRecord, 'volumes' | 'checksum'>
  readonly missing: readonly Digest[]
  /** ISO 8601. */
  readonly recordedAt: string
}

export interface LoadToRecord extends ArchiveToRecord {
  /** The target, also of an archive that was made for any. */
  readonly loadedInto: string
}

/** The two histories in the state of a workspace, which may be one and the same directory for both sides of a gap. */
export function historyDirectories(state: string): { readonly written: string; readonly loaded: string } {
  return { written: join(state, 'archives'), loaded: join(state, 'loaded') }
}

/**
 * Notes an archive that was written whole, or loaded as far as it could be. The record appears as a whole or not at all.
 *
 * What it makes obsolete is forgotten: another archive with its number, and those after a full one, which is a new start.
 *
 * @param directory one of `historyDirectories`
 * @throws KnownError DISK_FULL
 */
export async function recordArchive(directory: string, archive: ArchiveToRecord | LoadToRecord): Promise<void> {
  const { record, recordBytes } = archive.front
  const { kind, sequence, parent, target } = record
  const state = HistoryState.parse({
    version: 1,
    ...{ id: digestOf(recordBytes), kind, sequence, parent, target, recordedAt: archive.recordedAt },
    ...{ volumes: archive.end.volumes, checksum: archive.end.checksum, missing: [...archive.missing].sort() },
  })
  const owner = 'loadedInto' in archive ? archive.loadedInto : target
  const folder = join(directory, targetFolder(owner))
  const staged = join(folder, `.${randomId()}`)
  for (const name of await namesIn(folder)) {
    // Of a run that was killed; the lock of the workspace keeps others out.
    if (name.startsWith('.')) await rm(join(folder, name), { recursive: true, force: true })
  }
  await mkdir(staged, { recursive: true })
  try {
    await writeFlushed(join(staged, 'archive.json'), [recordBytes])
    await writeFlushed(join(staged, 'blobs.txt'), [archive.front.blobsBytes])
    await writeFlushed(join(staged, 'plan.json'), archive.plan)
    await writeFlushed(join(staged, 'state.json'), [`${JSON.stringify(state)}\n`])
    for (const { directory: old } of obsolete(await readHistory(directory, owner), state)) await forget(old)
    // Also one that cannot be read, and is therefore not in the history.
    await forget(join(folder, folderName(sequence)))
    await rename(staged, join(folder, folderName(sequence)))
  } catch (error) {
    await rm(staged, { recursive: true, force: true })
    throw diskError(error, staged)
  }
}

/** As `recordArchive`, for a load: what an earlier load of the same archive brought is not missing. */
export async function recordLoad(directory: string, archive: LoadToRecord): Promise<void> {
  const id = digestOf(archive.front.recordBytes)
  const { archives } = await readHistory(directory, archive.loadedInto)
  const before = archives.find((entry) => entry.id === id)
  const missedBefore = new Set(before?.missing)
  const missing = before ? archive.missing.filter((digest) => missedBefore.has(digest)) : archive.missing
  await recordArchive(directory, { ...archive, missing })
}

/**
 * The archives for `target`, and those for any target; without `target` only the latter.
 *
 * @param directory one of `historyDirectories`
 */
export async function readHistory(directory: string, target: string | undefined): Promise<ArchiveHistory> {
  const own = [...new Set([targetFolder(undefined), targetFolder(target)])]
  const read = await Promise.all(own.map((name) => readFolder(join(directory, name))))
  const archives = read.flatMap((folder) => folder.archives).sort((a, b) => a.sequence - b.sequence)
  // Archives for several targets may lie in one directory, whose files are told apart by their numbers.
  const sequences = await Promise.all((await namesIn(directory)).map((name) => sequencesIn(join(directory, name))))
  return {
    archives,
    lastSequence: Math.max(0, ...sequences.flat()),
    findings: read.flatMap((folder) => folder.findings),
  }
}

async function readFolder(folder: string): Promise<Pick<ArchiveHistory, 'archives' | 'findings'>> {
  const archives: HistoryEntry[] = []
  const findings: Finding[] = []
  for (const sequence of await sequencesIn(folder)) {
    const directory = join(folder, folderName(sequence))
    const state = await readState(directory)
    if (state?.sequence === sequence) archives.push({ ...state, directory })
    else findings.push(damaged(directory, sequence))
  }
  return { archives, findings }
}

async function readState(directory: string): Promise<z.infer<typeof HistoryState> | undefined> {
  try {
    return HistoryState.parse(JSON.parse(await readFile(join(directory, 'state.json'), 'utf8')))
  } catch (error) {
    const isDamage = error instanceof SyntaxError || error instanceof z.ZodError
    if (isDamage || hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return undefined
    throw error
  }
}

function damaged(directory: string, sequence: number): Finding {
  return finding({
    id: 'archive.history-damaged',
    severity: 'warning',
    summary: `The record of archive ${sequence} in this workspace cannot be read; it counts as never made`,
    where: { file: directory },
    remedy: 'Nothing is lost: what it carried is carried again.',
  })
}

function obsolete({ archives }: ArchiveHistory, state: z.infer<typeof HistoryState>): readonly HistoryEntry[] {
  const isReplacing = archives.some(({ sequence, id }) => sequence === state.sequence && id !== state.id)
  return archives.filter(({ sequence, id }) => {
    if (sequence === state.sequence) return id !== state.id
    return sequence > state.sequence && (isReplacing || state.kind === 'full')
  })
}

/** Takes the name away first, so that no half of a record is ever seen. */
async function forget(directory: string): Promise<void> {
  const aside = join(directory, '..', `.${randomId()}`)
  try {
    await rename(directory, aside)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { recursive: true, force: true })
}

async function writeFlushed(path: string, content: ArchiveToRecord['plan']): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

async function sequencesIn(folder: string): Promise<number[]> {
  const names = await namesIn(folder)
  return names
    .filter((name) => /^\d{6,15}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

function folderName(sequence: number): string {
  return String(sequence).padStart(6, '0')
}

/** A name that no file system takes amiss, and that no two targets share. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return 'any'
  const name = `for-${encodeURIComponent(target)}`
  return name.length > 120 ? `${name.slice(0, 100)}-${digestOf(target).slice(-16)}` : name
}
