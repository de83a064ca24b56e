/**
 * The path of `sallyport mirror --from file://DIR … docker://…`: every archive of a directory that was not loaded yet, in
 * order, straight into the registry; nothing is unpacked.
 */

import { historyDirectories, readHistory, recordLoad } from '../archive/history/archive-history.ts'
import { checkArchiveOrder, requireArchiveOrder } from '../archive/history/archive-order.ts'
import type { Archive } from '../archive/read/archive.ts'
import { archiveSource } from '../archive/read/archive-source.ts'
import { type FoundArchive, findArchives } from '../archive/read/find-archives.ts'
import { openWithRepairs } from '../archive/read/repaired-archive.ts'
import { type ImageSetConfiguration, parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { destinationAt } from '../mirror/archive-target.ts'
import { formatMirrorTarget, type MirrorTarget, targetRepository } from '../mirror/destination.ts'
import type { FailedImage } from '../mirror/failures.ts'
import { isMade } from '../mirror/made-content.ts'
import { notArrived } from '../mirror/not-arrived.ts'
import { parsePlan } from '../mirror/plan-file.ts'
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import { formatReference } from '../oci/reference.ts'
import { graphCacheDirectory, withGraphCache } from '../release/graph-cache.ts'
import { graphsFromDocuments } from '../release/graph-document.ts'
import type { GraphSource } from '../release/graph-source.ts'
import { signaturesFromDocuments } from '../trust/signature-documents.ts'
import type { SignatureSource } from '../trust/signature-source.ts'
import { type Documents, unpackDocuments } from './archive-documents.ts'
import type { MirrorServices } from './mirror-services.ts'
import { type MirrorRequest, type MirrorResult, mirrorToMirror } from './mirror-to-mirror.ts'
import { openOcMirrorSource } from './oc-mirror-source.ts'

export interface DiskToMirrorRequest extends Omit<MirrorRequest, 'config' | 'source' | 'isLocalSource'> {
  /** The target, which is also read: it holds what an increment does not carry. */
  readonly registry: ContentTarget & ContentSource
  readonly directory: string
  /** A part of what is in the archives; default: all of it, by the configuration that each was made with. */
  readonly config?: ImageSetConfiguration
  /** Load also what is out of order, or was made for another target. */
  readonly acceptOrder?: boolean
  /** Looks at an archive before anything of it is used; throws where it is not to be. */
  readonly inspect?: (archive: Archive) => Promise<void>
  readonly clock: Clock
}

export interface ArchiveLoad {
  /** Undefined for what oc-mirror wrote. */
  readonly archive?: Pick<Archive, 'id' | 'record' | 'found' | 'holes'>
  /** What was said about order and target. */
  readonly findings: readonly Finding[]
  readonly result: MirrorResult
}

/**
 * Loads what is pending; where nothing is, the last archive again, which moves nothing that is there.
 *
 * @returns one entry for each archive, in the order of loading; after one with failures, other than holes that it was made
 * with, the next ones are not begun. Each wants all images, so that the last tells what is missing now
 * @throws KnownError ARCHIVE_OUT_OF_ORDER, ARCHIVE_OTHER_TARGET, and what opening an archive throws
 */
export async function diskToMirror(request: DiskToMirrorRequest): Promise<readonly ArchiveLoad[]> {
  const all = await findArchives(request.directory)
  const found = all.filter(({ isRepair }) => !isRepair)
  if (found.length === 0) return [await loadOcMirror(request)]
  const loads: ArchiveLoad[] = []
  let foreign: unknown
  for (const one of await pending(found, request)) {
    try {
      // In a dry run nothing is noted, so that an archive after the first seems to come too early.
      const acceptOrder = request.acceptOrder === true || (request.isDryRun === true && loads.length > 0)
      const load = await loadArchive(one, all, { ...request, acceptOrder })
      loads.push(load)
      const holes = holesAt(request.target, load)
      if (load.result.failures.some((failed) => isMore(failed, holes))) break
    } catch (error) {
      // One disk may carry archives for several sites.
      if (!(error instanceof KnownError) || error.code !== 'ARCHIVE_OTHER_TARGET') throw error
      foreign = error
    }
  }
  if (loads.length === 0 && foreign) throw foreign
  return loads
}

/** Where at the target the images belong that the archive was made without. */
function holesAt(target: MirrorTarget, { archive }: ArchiveLoad): ReadonlySet<string> {
  const holes = archive?.holes?.images ?? archive?.record.failed ?? []
  return new Set(holes.map(({ destination }) => formatReference(destinationAt(target, destination))))
}

/** True for what is more than a hole, which a later archive fills. Both sides may find the same thing wrong. */
function isMore({ image, error }: FailedImage, holes: ReadonlySet<string>): boolean {
  return error.code !== 'ARCHIVE_INCOMPLETE' && !holes.has(formatReference(image.destination))
}

/** The archives that were not loaded whole, or else the last. */
async function pending(found: readonly FoundArchive[], request: DiskToMirrorRequest): Promise<readonly FoundArchive[]> {
  const loaded = await loadedInto(request)
  const whole = new Set(loaded.filter(({ missing }) => missing.length === 0).map(({ sequence }) => sequence))
  const last = loaded.at(-1)?.sequence ?? 0
  const open = found.filter(({ sequence }) => sequence > last || (sequence === last && !whole.has(sequence)))
  return open.length > 0 ? open : found.slice(-1)
}

async function loadedInto({ workspace, target }: DiskToMirrorRequest) {
  const { loaded } = historyDirectories(workspace.state)
  return (await readHistory(loaded, formatMirrorTarget(target))).archives
}

/** @param beside what else is in the directory: repairs of it */
async function loadArchive(
  found: FoundArchive,
  beside: readonly FoundArchive[],
  request: DiskToMirrorRequest,
): Promise<ArchiveLoad> {
  const archive = await openWithRepairs(found, beside)
  try {
    await request.inspect?.(archive)
    const order = checkArchiveOrder(await loadedInto(request), archive, formatMirrorTarget(request.target))
    const findings = requireArchiveOrder(order, request.acceptOrder === true)
    const { configuration } = archive.record
    const config =
      request.config ?? parseImageSetConfiguration({ file: `configuration of ${found.stem}`, text: configuration })
    const source = archiveSource([archive], {
      beyond: { source: request.registry, locate: (path) => targetRepository(request.target, path) },
    })
    const documents = unpackDocuments(archive.record, found.stem)
    const services = closedServices(request, {
      graphs: graphsFromDocuments(documents),
      signatures: signaturesFromDocuments(documents),
      documents,
    })
    const result = notCarried(await mirrorToMirror({ ...request, config, source, isLocalSource: true, services }))
    if (!request.isDryRun) await record(archive, result, request)
    return { archive, findings, result }
  } finally {
    await archive.close()
  }
}

interface Carried {
  readonly graphs: GraphSource
  readonly signatures: SignatureSource
  readonly documents?: Documents
}

/**
 * What the archive carries answers instead of the services of the connected side. The answers of the update graph are kept:
 * a deletion asks for them.
 */
function closedServices(
  { workspace, services = {}, clock }: DiskToMirrorRequest,
  { graphs, signatures, documents }: Carried,
): MirrorServices {
  const directory = graphCacheDirectory(workspace.root)
  return {
    ...services,
    graphs: withGraphCache(graphs, { directory, clock, report: () => undefined }),
    trust: services.trust?.with({ signatures, mayBeMissing: true }),
    charts: undefined,
    documents,
    making: undefined,
  }
}

/** On this side no name can be corrected: what an archive does not have is to be put into one. */
function notCarried(result: MirrorResult): MirrorResult {
  const failures = result.failures.map(({ image, error }) => {
    if (error.code !== 'MANIFEST_UNKNOWN') return { image, error }
    // Of an index it may be one of its images.
    const asked = typeof error.details['image'] === 'string' ? error.details['image'] : formatReference(image.source)
    // What is made on the other side has a name that nobody wrote.
    const name = isMade(image.source) ? image.why : asked
    const message = `${name} is neither in the archive nor at the target`
    const hint =
      'Ask for what the archive was made with, or have one made on the connected side with the configuration of this side.'
    return { image, error: new KnownError(error.code, message, { details: error.details, hint, cause: error }) }
  })
  return { ...result, failures }
}

async function record(archive: Archive, result: MirrorResult, request: DiskToMirrorRequest): Promise<void> {
  const { target, workspace, clock } = request
  const { ending } = archive
  // Without its last volume nobody can say that it was loaded.
  if (!ending) return
  const plan = await archive.readPlanBytes()
  const failed = new Set(result.failures.map(({ image }) => formatReference(image.destination)))
  const wanted = new Set(result.images.map(({ destination }) => formatReference(destination)))
  let isWanted = false
  const arrived = archive.record.images.filter(({ destination, attachedTo }) => {
    const name = formatReference(destinationAt(target, destination))
    // What is attached follows its image, and is in no configuration.
    if (attachedTo === undefined) isWanted = wanted.has(name)
    return isWanted && !failed.has(name)
  })
  const isAll = arrived.length === archive.record.images.length
  const carried = [...archive.blobs.values()].filter(({ place }) => place !== undefined).map(({ digest }) => digest)
  const roots = arrived.map(({ digest }) => digest)
  await recordLoad(historyDirectories(workspace.state).loaded, {
    front: { record: archive.record, ...(await archive.readIndex()) },
    plan: [plan],
    end: { volumes: ending.volumes, checksum: ending.checksum },
    // A plan of ten thousand images takes much memory, and says nothing new where all of them are there.
    missing: isAll
      ? (archive.holes?.blobs ?? [])
      : notArrived(carried, parsePlan(plan.toString('utf8'), archive.found.stem), roots),
    recordedAt: new Date(clock.now()).toISOString(),
    loadedInto: formatMirrorTarget(target),
  })
}

async function loadOcMirror(request: DiskToMirrorRequest): Promise<ArchiveLoad> {
  const { directory } = request
  const opened = await openOcMirrorSource(request)
  if (!opened) {
    throw new KnownError('ARCHIVE_INVALID', `${directory} holds no archive`, {
      details: { directory },
      hint: 'Name the directory with the files sallyport-v1-….tar, or with the mirror_….tar that oc-mirror v2 wrote.',
    })
  }
  const { source, config, findings } = opened
  const services = closedServices(request, opened)
  const result = notCarried(await mirrorToMirror({ ...request, config, source, isLocalSource: true, services }))
  return { findings, result }
}
