/**
 * The path of `sallyport mirror --repair LIST file://DIR`: what arrived damaged at the other side is carried again, and nothing
 * else.
 *
 * Makes an archive of kind `repair`. It carries the blobs and manifests that the list asks for. Where documents of the damaged
 * index are asked for, they are ordinary blobs in it too: `repairs`, the identity of the damaged archive, is the digest of its
 * `archive.json`, and that names the digests of its `blobs.txt` and `plan.json`.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArchiveBlob, parseBlobs, parseRecord } from '../archive/format/archive-index.ts'
import type { ArchiveDraft } from '../archive/format/compose-front.ts'
import type { ArchiveRecord } from '../archive/format/records.ts'
import type { ArchiveSigner } from '../archive/format/signature.ts'
import { type HistoryEntry, historyDirectories, readHistory } from '../archive/history/archive-history.ts'
import type { Archive } from '../archive/read/archive.ts'
import { findArchives } from '../archive/read/find-archives.ts'
import { openArchive } from '../archive/read/read-archive.ts'
import { isEmptyRepairList, type RepairList, repairStem } from '../archive/repair/repair-list.ts'
import { lookUpRepair, type RepairContent } from '../archive/repair/repair-wishes.ts'
import { ArchiveWriter, type SealedArchive } from '../archive/write/write-archive.ts'
import { KnownError } from '../errors/known-error.ts'
import { archiveTarget } from '../mirror/archive-target.ts'
import type { OnMirrorEvent } from '../mirror/events.ts'
import { LocalContent, withLocalManifests } from '../mirror/local-content.ts'
import type { MirrorPlan } from '../mirror/plan.ts'
import { parsePlan, planLines } from '../mirror/plan-file.ts'
import { planAgain } from '../mirror/repair-plan.ts'
import { type TransferReport, transfer } from '../mirror/transfer.ts'
import type { Workspace } from '../mirror/workspace.ts'
import { withWorkspaceLock } from '../mirror/workspace-lock.ts'
import type { ContentSource, OpenBlob } from '../oci/content.ts'
import { type Digest, digestOf } from '../oci/digest.ts'

export interface RepairRequest {
  readonly list: RepairList
  /** Of the side that made the archive: its history has the index and the plan. */
  readonly workspace: Workspace
  /** Where the repair is written. Volumes of the damaged archive that are there, or in `archives`, are read first. */
  readonly directory: string
  readonly archives?: readonly string[]
  readonly source: ContentSource
  /** Default: that of the damaged archive. */
  readonly volumeBytes?: number
  readonly signer?: ArchiveSigner
  readonly signal: AbortSignal
  readonly onEvent: OnMirrorEvent
  readonly concurrency?: number
}

export interface RepairResult extends SealedArchive {
  readonly id: Digest
  readonly record: ArchiveRecord
  /** `holes` of it could be had nowhere; this tells why. */
  readonly report: TransferReport
  /** Blobs and manifests that came from volumes of the damaged archive on this side. */
  readonly fromVolumes: number
}

/** What the history knows of the damaged archive. */
interface Original {
  readonly entry: HistoryEntry
  readonly record: ArchiveRecord
  readonly blobs: readonly ArchiveBlob[]
  readonly plan: MirrorPlan
  /** By digest: the documents of its index. */
  readonly documents: ReadonlyMap<Digest, Uint8Array>
}

/**
 * @throws KnownError REPAIR_LIST_INVALID where this workspace did not make the archive, or the list asks for what is not in it;
 * ARCHIVE_INVALID where the history is damaged; what could not be had is a hole in the result
 */
export async function writeRepair(request: RepairRequest): Promise<RepairResult> {
  if (isEmptyRepairList(request.list)) {
    throw new KnownError('REPAIR_LIST_INVALID', 'The list asks for nothing', {
      hint: 'Nothing has to be carried again for this archive: sallyport archive repair DIR puts the rest right.',
    })
  }
  return withWorkspaceLock(request.workspace, async () => {
    const original = await readOriginal(request)
    const holes = new Set(original.entry.missing)
    const wanted = lookUpRepair(request.list, { ...original, id: original.entry.id, holes })
    return carryAgain(request, original, wanted)
  })
}

async function readOriginal({ list: { archive }, workspace }: RepairRequest): Promise<Original> {
  const { archives } = await readHistory(historyDirectories(workspace.state).written, archive.target)
  const entry = archives.find(({ id }) => id === archive.id)
  if (!entry) {
    throw new KnownError(
      'REPAIR_LIST_INVALID',
      `This workspace did not make archive ${archive.sequence} (${archive.id})`,
      {
        details: { archive: archive.id, sequence: archive.sequence, workspace: workspace.root },
        hint: 'Name the workspace that made it with --workspace. Without its record, make a full archive instead: --full.',
      },
    )
  }
  const read = async (name: string, digest: Digest) => {
    const path = join(entry.directory, name)
    const bytes = await readFile(path)
    if (digestOf(bytes) === digest) return bytes
    throw new KnownError('ARCHIVE_INVALID', `${path} is damaged: it is not what was recorded`, {
      details: { file: path },
      hint: 'Make a full archive instead: --full.',
    })
  }
  const recordBytes = await read('archive.json', entry.id)
  const record = parseRecord(recordBytes, entry.directory)
  const { blobs: table, plan } = record.files
  const blobsBytes = await read('blobs.txt', table.digest)
  const planBytes = await read('plan.json', plan.digest)
  return {
    entry,
    record,
    blobs: parseBlobs(blobsBytes, entry.directory),
    plan: parsePlan(planBytes.toString('utf8'), entry.directory),
    documents: new Map([
      [entry.id, recordBytes],
      [table.digest, blobsBytes],
      [plan.digest, planBytes],
    ]),
  }
}

async function carryAgain(request: RepairRequest, original: Original, wanted: RepairContent): Promise<RepairResult> {
  const { list, directory, workspace, signal, signer, onEvent, concurrency } = request
  const plan = planAgain(original.plan, new Set(wanted.content.map(({ digest }) => digest)))
  onEvent({ type: 'mirror.planned', totals: plan.totals })
  const draft = draftOf(request, original, { wanted, plan })
  const writer = await ArchiveWriter.open({
    directory,
    stem: repairStem(list),
    draft,
    signal,
    ...(signer && { signer }),
  })
  try {
    for (const { digest } of wanted.records) {
      const bytes = original.documents.get(digest) ?? Buffer.alloc(0)
      await push(writer, { digest, size: bytes.byteLength }, async function* (offset) {
        yield bytes.subarray(offset)
      })
    }
    const fromVolumes = await pushFromVolumes(writer, request, { original, wanted })
    const local = new LocalContent(workspace)
    const report = await transfer(plan, {
      ...{ source: withLocalManifests(request.source, local), target: writer, local, signal, onEvent },
      ...(concurrency !== undefined && { concurrency }),
    })
    const sealed = await writer.seal([])
    return { ...sealed, id: writer.front.id, record: writer.front.record, report, fromVolumes }
  } finally {
    await writer.close()
  }
}

function draftOf(
  { list, volumeBytes }: RepairRequest,
  { entry, record, documents }: Original,
  { wanted, plan }: { wanted: RepairContent; plan: MirrorPlan },
): ArchiveDraft {
  const recordBlobs = wanted.records.map(({ digest }) => ({ digest, size: documents.get(digest)?.byteLength ?? 0 }))
  const largestFirst = (a: { size: number }, b: { size: number }) => b.size - a.size
  const blobs = wanted.content.filter(({ mediaType }) => mediaType === undefined)
  const manifests = wanted.content.filter(({ mediaType }) => mediaType !== undefined)
  return {
    kind: 'repair',
    sequence: list.archive.sequence,
    repairs: entry.id,
    repaired: { volumes: entry.volumes, checksum: entry.checksum },
    ...(record.target !== undefined && { target: record.target }),
    volumeBytes: volumeBytes ?? record.volumeBytes,
    configuration: '',
    carried: [...[...recordBlobs, ...blobs].sort(largestFirst), ...manifests],
    held: [],
    images: [],
    plan: () => planLines(plan),
  }
}

/** What is still here need not be read from a registry. A volume that is damaged here too gives nothing. */
async function pushFromVolumes(
  writer: ArchiveWriter,
  { directory, archives = [], signal }: RepairRequest,
  { original, wanted }: { original: Original; wanted: RepairContent },
): Promise<number> {
  let count = 0
  for (const place of new Set([directory, ...archives])) {
    const archive = await openOriginal(place, original.entry.id)
    if (!archive) continue
    try {
      for (const blob of wanted.content) {
        if (!archive.has(blob.digest)) continue
        const open: OpenBlob = (offset) => archive.open(blob.digest, { offset, signal })
        if (await pushIfSound(writer, blob, open)) count += 1
        signal.throwIfAborted()
      }
    } finally {
      await archive.close()
    }
  }
  return count
}

/** Undefined where the archive is not in this directory, or cannot be read. */
async function openOriginal(directory: string, id: Digest): Promise<Archive | undefined> {
  try {
    for (const found of await findArchives(directory)) {
      if (found.isUnfinished || found.isRepair) continue
      const archive = await openArchive(found, { allowDamage: true })
      if (archive.id === id) return archive
      await archive.close()
    }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
  }
  return undefined
}

async function pushIfSound(writer: ArchiveWriter, blob: Wanted, open: OpenBlob): Promise<boolean> {
  try {
    await push(writer, blob, open)
    return true
  } catch (error) {
    if (error instanceof KnownError && error.code !== 'DISK_FULL') return false
    throw error
  }
}

type Wanted = Pick<ArchiveBlob, 'digest' | 'size'>

async function push(writer: ArchiveWriter, { digest, size }: Wanted, open: OpenBlob): Promise<void> {
  const place = { registry: archiveTarget.registry, repository: 'repair' }
  await writer.pushBlob(place, { mediaType: 'application/octet-stream', digest, size }, open)
}
