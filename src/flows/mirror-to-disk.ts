/**
 * The path of `sallyport mirror … file://DIR`: select, resolve, leave out what the other side holds, and write the rest into
 * an archive, straight from the source.
 *
 * An archive that was interrupted is gone on with by its own plan: tags may have moved in the meantime.
 */
import { join } from 'node:path'
import type { ArchiveImage, ArchiveRecord } from '../archive/format/records.ts'
import type { ArchiveSigner } from '../archive/format/signature.ts'
import { archiveStem } from '../archive/format/volume-names.ts'
import { type ArchiveBase, type BaseOptions, openBase } from '../archive/history/archive-base.ts'
import { historyDirectories, recordArchive } from '../archive/history/archive-history.ts'
import { readUnfinished, type UnfinishedArchive } from '../archive/write/unfinished-archive.ts'
import { ArchiveWriter, type SealedArchive } from '../archive/write/write-archive.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { onlyCarried } from '../mirror/archive-plan.ts'
import { archiveTarget, relativeDestination } from '../mirror/archive-target.ts'
import type { ResolvedImage } from '../mirror/closure.ts'
import { recordFailed } from '../mirror/failed.ts'
import { exitStatusOf, type FailurePolicy, failurePolicyOf } from '../mirror/failure-policy.ts'
import { type FailedImage, Failures } from '../mirror/failures.ts'
import { LocalContent, withLocalManifests } from '../mirror/local-content.ts'
import { withMadeContent } from '../mirror/made-content.ts'
import { mappingText } from '../mirror/mapping.ts'
import { carriedInVain } from '../mirror/not-arrived.ts'
import { type MirrorPlan, selectedOf } from '../mirror/plan.ts'
import { parsePlan } from '../mirror/plan-file.ts'
import { coversPlatforms } from '../mirror/platform-choice.ts'
import { resolveImages } from '../mirror/resolve-images.ts'
import type { SelectedImage } from '../mirror/selection.ts'
import { type TransferReport, transfer } from '../mirror/transfer.ts'
import { writeWhole } from '../mirror/workspace.ts'
import { withWorkspaceLock } from '../mirror/workspace-lock.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { type RecordingGraphs, recordingGraphs } from '../release/graph-document.ts'
import type { Documents } from './archive-documents.ts'
import { keptMadeImages } from './kept-made.ts'
import type { AnyMirrorRequest } from './mirror-request.ts'
import { imageChecks, type MirrorServices } from './mirror-services.ts'
import { selectPlanned } from './planned-selection.ts'
import { holesOf, type PreparedArchive, prepareArchive, type WantedContent } from './prepared-archive.ts'
import { type Retry, selectWanted, type WantedSelection } from './select-wanted.ts'

export interface MirrorToDiskRequest extends AnyMirrorRequest {
  /** The text of the configuration, to travel with the archive. */
  readonly configuration: string
  readonly directory: string
  /** What the other side holds. */
  readonly base: BaseOptions
  /** Size of every volume but the last, in bytes; a multiple of 512. */
  readonly volumeBytes: number
  readonly signer?: ArchiveSigner
  readonly clock: Clock
}

export interface MirrorToDiskResult {
  /** What is carried. */
  readonly plan: MirrorPlan
  /** Images that the other side holds whole. */
  readonly proven: number
  readonly blocked: readonly SelectedImage[]
  readonly failures: readonly FailedImage[]
  readonly policy: FailurePolicy
  readonly retry?: Retry
  /** What of the history could not be used, and what else was noticed. */
  readonly findings: readonly Finding[]
  readonly report?: TransferReport
  readonly exitStatus: number
  /** Of a dry run. */
  readonly files: readonly string[]
  /** Absent in a dry run, and where there is nothing that the other side does not hold. */
  readonly archive?: WrittenArchive
}

export interface WrittenArchive extends SealedArchive {
  readonly id: Digest
  readonly record: ArchiveRecord
}

type Written = Pick<MirrorToDiskResult, 'failures' | 'exitStatus' | 'report' | 'archive'>

interface Wanted extends WantedContent {
  /** What travels beside images. */
  readonly documents: Documents
}

type Noticed = Pick<WantedSelection, 'blocked' | 'retry' | 'findings'>

/**
 * @throws KnownError when nothing could be begun; what failed for single images is in the result, and is a hole in the
 * archive
 */
export async function mirrorToDisk(request: MirrorToDiskRequest): Promise<MirrorToDiskResult> {
  return withWorkspaceLock(request.workspace, () => new DiskRun(request).run())
}

class DiskRun {
  readonly #request: MirrorToDiskRequest
  readonly #local: LocalContent
  #source: ContentSource
  readonly #failures: Failures
  readonly #policy: FailurePolicy
  readonly #services: MirrorServices
  /** The answers of the update graph, which travel along. */
  readonly #graphs: RecordingGraphs | undefined

  constructor(request: MirrorToDiskRequest) {
    const { services = {} } = request
    this.#request = request
    this.#graphs = services.graphs && recordingGraphs(services.graphs)
    this.#services = { ...services, graphs: this.#graphs }
    this.#local = new LocalContent(request.workspace)
    this.#source = withLocalManifests(request.source, this.#local)
    this.#failures = new Failures(request.onEvent)
    this.#policy = request.policy ?? failurePolicyOf(request.config.failurePolicy)
  }

  async run(): Promise<MirrorToDiskResult> {
    const { workspace, directory, isDryRun, base: options, plan: given } = this.#request
    const unfinished = isDryRun ? undefined : await readUnfinished(directory)
    const base = await openBase(historyDirectories(workspace.state).written, options)
    if (unfinished) return this.#goOn(unfinished, base)
    const wanted = given ? await this.#selectPlanned(given) : await this.#selectWanted(base)
    const { images, whole, resolved, blocked, retry, findings } = wanted
    const prepared = this.#prepare(wanted, base)
    const noticed = [...base.findings, ...findings, ...(this.#services.trust?.findings ?? [])]
    const about = { findings: noticed, policy: this.#policy, ...(retry && { retry }) }
    const result = { ...about, plan: prepared.plan, proven: whole.size, blocked }
    if (isDryRun) return { ...result, ...this.#outcome(), files: await this.#writeMapping(images, resolved) }
    const isNothingNew = prepared.draft.carried.length === 0 && resolved.length === 0
    if (isNothingNew) return { ...result, ...this.#outcome(), files: [] }
    return { ...result, ...(await this.#write(prepared)), files: [] }
  }

  async #selectPlanned(plan: MirrorPlan): Promise<Wanted & Noticed> {
    const { workspace, signal } = this.#request
    const run = { workspace, signal, services: this.#services, failures: this.#failures }
    const planned = await selectPlanned(plan, { ...run, target: archiveTarget, source: this.#source })
    this.#source = planned.source
    const { images, resolved } = planned
    return { images, resolved, whole: new Map(), documents: new Map(), blocked: [], findings: [] }
  }

  async #selectWanted(base: ArchiveBase): Promise<Wanted & Noticed> {
    const selection = await this.#select()
    const whole = await this.#heldWhole(selection.images, base)
    return { ...selection, whole, resolved: await this.#resolveAll(selection.images.filter((one) => !whole.has(one))) }
  }

  #resolveAll(images: readonly SelectedImage[]): Promise<ResolvedImage[]> {
    const { signal, onEvent, withoutAttached = false } = this.#request
    const failures = this.#failures
    const check = imageChecks(this.#services)
    return resolveImages(images, { source: this.#source, signal, onEvent, failures, withoutAttached, check })
  }

  /** As oc-mirror leaves them after a dry run: every image, and those that are not at the other side. */
  async #writeMapping(images: readonly SelectedImage[], resolved: readonly ResolvedImage[]): Promise<string[]> {
    const { workspace, isByPlatform } = this.#request
    const missing = resolved.filter(({ attachedTo }) => attachedTo === undefined).map(({ selected }) => selected)
    const detail = isByPlatform ? resolved : []
    const [all, lacking] = [join(workspace.dryRun, 'mapping.txt'), join(workspace.dryRun, 'missing.txt')]
    await writeWhole(all, mappingText(images, detail))
    await writeWhole(lacking, mappingText(missing, detail))
    return [all, lacking]
  }

  async #select(): Promise<WantedSelection> {
    const { config, workspace, signal, isRetry = false } = this.#request
    const policy = this.#policy
    const context = { config, target: archiveTarget, workspace, signal, policy, isRetry, local: this.#local }
    const selection = await selectWanted({ ...context, source: this.#source, services: this.#services })
    this.#source = withMadeContent(this.#source, selection.made)
    for (const { image, error } of selection.unreadable) this.#failures.add(image, error)
    return selection
  }

  /** The images of which the other side has everything, with their records in its last archive. */
  async #heldWhole(
    images: readonly SelectedImage[],
    base: ArchiveBase,
  ): Promise<Map<SelectedImage, readonly ArchiveImage[]>> {
    const { signal } = this.#request
    const found = await mapConcurrently(images, 32, async (image) => {
      const known = base.wholeImage(formatReference(image.source), relativeDestination(image.destination))
      if (!known) return undefined
      const digest = image.source.digest ?? (await this.#resolve(image))
      signal.throwIfAborted()
      const [first] = known
      const isWhole = digest === first?.digest && coversPlatforms(first?.platforms, image.platforms)
      return isWhole ? ([image, known] as const) : undefined
    })
    return new Map(found.filter((entry) => entry !== undefined))
  }

  /** An image that nothing can be learned of is not proven; what is wrong with it is told when it is resolved. */
  async #resolve({ source }: SelectedImage): Promise<Digest | undefined> {
    try {
      return (await this.#source.resolve(source, this.#request.signal))?.digest
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      return undefined
    }
  }

  #documents(found: Documents): Documents {
    const { trust } = this.#services
    return new Map([...(this.#graphs?.documents() ?? []), ...(trust?.documents() ?? []), ...found])
  }

  #prepare({ documents, ...wanted }: Wanted, base: ArchiveBase): PreparedArchive {
    const { onEvent, configuration, volumeBytes } = this.#request
    const about = { configuration, volumeBytes, documents: this.#documents(documents), failures: this.#failures.list }
    const prepared = prepareArchive(wanted, base, about)
    onEvent({ type: 'mirror.planned', totals: prepared.plan.totals })
    return prepared
  }

  /** With the plan of the archive that was begun here. */
  async #goOn(unfinished: UnfinishedArchive, base: ArchiveBase): Promise<MirrorToDiskResult> {
    const { configuration, directory, onEvent } = this.#request
    const { draft, planText, stem } = unfinished
    // It is in the history already where only its last file was left to be taken away.
    const isOurs = draft.sequence === base.sequence + 1 || draft.sequence === base.sequence
    if (draft.configuration !== configuration || !isOurs) {
      throw new KnownError('ARCHIVE_UNFINISHED', `${directory} holds the unfinished archive ${stem} of another run`, {
        details: { directory, archive: stem },
        hint: 'Finish it with the configuration and options that began it, or delete its files and run again.',
      })
    }
    const held = new Set(draft.held.map(({ digest }) => digest))
    const plan = onlyCarried(parsePlan(planText, stem), (digest) => held.has(digest))
    onEvent({ type: 'mirror.planned', totals: plan.totals })
    const made = await keptMadeImages(this.#request.workspace, this.#services.making, this.#request.signal)
    this.#source = withMadeContent(this.#source, made)
    const written = await this.#write({ draft, plan, resolved: [] })
    const about = { findings: base.findings, policy: this.#policy }
    return { ...about, plan, proven: 0, blocked: [], files: [], ...written }
  }

  async #write({ draft, plan, resolved }: PreparedArchive): Promise<Written> {
    const { directory, signal, onEvent, concurrency, signer, workspace, clock } = this.#request
    const stem = archiveStem(draft.sequence)
    const writer = await ArchiveWriter.open({ directory, stem, draft, signal, ...(signer && { signer }) })
    try {
      const report = await transfer(plan, {
        ...{ source: this.#source, target: writer, local: this.#local, signal, onEvent },
        ...(concurrency !== undefined && { concurrency }),
      })
      this.#failures.addFrom(report, plan.images.map(selectedOf))
      const failed = holesOf(draft, this.#failures.list)
      const sealed = await writer.seal(failed, ({ files, checksum, holes }) =>
        recordArchive(historyDirectories(workspace.state).written, {
          front: writer.front,
          plan: draft.plan(),
          end: { volumes: files.length, checksum },
          missing: [...new Set([...holes, ...carriedInVain(draft, failed)])],
          recordedAt: new Date(clock.now()).toISOString(),
        }),
      )
      await recordFailed(workspace, archiveTarget.registry, { failures: this.#failures.list, resolved })
      await this.#local.removeBlobs()
      return { ...this.#outcome(), report, archive: { ...sealed, id: writer.front.id, record: writer.front.record } }
    } finally {
      await writer.close()
    }
  }

  #outcome(): Pick<MirrorToDiskResult, 'failures' | 'exitStatus'> {
    const failures = this.#failures.list
    return { failures, exitStatus: exitStatusOf(failures, this.#policy) }
  }
}
