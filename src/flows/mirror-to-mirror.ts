/**
 * The path of `sallyport mirror … docker://…`: select, resolve, plan, transfer, write the cluster resources.
 *
 * Returns what happened; printing is the command's business.
 */
import { join } from 'node:path'
import type { Finding } from '../errors/finding.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { checkFreeSpace } from '../host/free-space.ts'
import { writeCatalogResources } from '../mirror/catalog-resources.ts'
import type { ResolvedImage } from '../mirror/closure.ts'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { distrustBlobs } from '../mirror/distrust.ts'
import { type DoneImage, provenImages, readDone, recordDone } from '../mirror/done.ts'
import { doneImage } from '../mirror/done-image.ts'
import { doubtfulImages } from '../mirror/doubtful.ts'
import { recordFailed } from '../mirror/failed.ts'
import { exitStatusOf, type FailurePolicy, failurePolicyOf } from '../mirror/failure-policy.ts'
import { type FailedImage, Failures } from '../mirror/failures.ts'
import { isGraphImage } from '../mirror/graph-image.ts'
import { Holdings } from '../mirror/holdings.ts'
import { LocalContent, withLocalManifests } from '../mirror/local-content.ts'
import { withMadeContent } from '../mirror/made-content.ts'
import { mappingText } from '../mirror/mapping.ts'
import { type MirrorPlan, planMirror } from '../mirror/plan.ts'
import { planLines } from '../mirror/plan-file.ts'
import { groupAttached, resolveImages } from '../mirror/resolve-images.ts'
import { mirrorSets, writeResources } from '../mirror/resources.ts'
import type { SelectedImage } from '../mirror/selection.ts'
import { writeSignatureConfigMaps } from '../mirror/signature-resources.ts'
import { type TransferReport, transfer } from '../mirror/transfer.ts'
import { writeUpdateService } from '../mirror/update-service-resource.ts'
import { recordWanted } from '../mirror/wanted.ts'
import { writeWhole } from '../mirror/workspace.ts'
import { withWorkspaceLock } from '../mirror/workspace-lock.ts'
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import type { AnyMirrorRequest } from './mirror-request.ts'
import { imageChecks, type MirrorServices } from './mirror-services.ts'
import { arrivedCatalogs } from './operator-resources.ts'
import { type PlannedSelection, selectPlanned } from './planned-selection.ts'
import { type Retry, selectWanted, type WantedSelection } from './select-wanted.ts'

export interface MirrorRequest extends AnyMirrorRequest {
  readonly target: MirrorTarget
  /** True where the source is on this machine, as an archive is: nothing of it is copied to the workspace. */
  readonly isLocalSource?: boolean
  readonly registry: ContentTarget
  /** Also write ImageContentSourcePolicy. */
  readonly icsp?: boolean
}

export interface MirrorResult {
  /** What was to be brought. */
  readonly images: readonly SelectedImage[]
  readonly plan: MirrorPlan
  /** Images that need no work because an earlier run brought them and the target still lists them. */
  readonly proven: number
  readonly blocked: readonly SelectedImage[]
  readonly failures: readonly FailedImage[]
  readonly policy: FailurePolicy
  readonly retry?: Retry
  /** What was noticed, and is no failure. */
  readonly findings: readonly Finding[]
  readonly report?: TransferReport
  /** Paths of the files that were written, or found to be right. */
  readonly files: readonly string[]
  /** oc-mirror's bit mask; 0 when everything is at the target. */
  readonly exitStatus: number
}

type Chosen = Pick<WantedSelection, 'images' | 'blocked' | 'retry' | 'findings'>

/** @throws KnownError when nothing could be begun; what failed for single images is in the result */
export async function mirrorToMirror(request: MirrorRequest): Promise<MirrorResult> {
  return withWorkspaceLock(request.workspace, () => new MirrorRun(request).run())
}

interface Resolved {
  /** What has to be looked at. */
  readonly resolved: readonly ResolvedImage[]
  /** Those of them that the target answers with the right digest. */
  readonly present: Set<ResolvedImage>
  readonly proven: number
}

class MirrorRun {
  readonly #request: MirrorRequest
  readonly #local: LocalContent | undefined
  #source: ContentSource
  readonly #targetName: string
  readonly #failures: Failures
  readonly #policy: FailurePolicy
  readonly #services: MirrorServices
  readonly #findings: Finding[] = []

  constructor(request: MirrorRequest) {
    this.#request = request
    this.#services = request.services ?? {}
    this.#local = request.isLocalSource ? undefined : new LocalContent(request.workspace)
    this.#source = this.#local ? withLocalManifests(request.source, this.#local) : request.source
    this.#targetName = formatMirrorTarget(request.target)
    this.#failures = new Failures(request.onEvent)
    this.#policy = request.policy ?? failurePolicyOf(request.config.failurePolicy)
  }

  async run(): Promise<MirrorResult> {
    const { workspace, onEvent, isDryRun, plan: given } = this.#request
    const failures = this.#failures
    const planned = given && (await this.#selectPlanned(given))
    const { images, blocked, retry, findings } = planned ?? (await this.#select())
    const recorded = (await readDone(workspace)).get(this.#targetName) ?? []
    const suspects = doubtfulImages(recorded, images)
    const { resolved, present, proven } = planned
      ? await this.#resolvePlanned(planned.resolved, suspects)
      : await this.#resolve(images, recorded, suspects)
    const movable = resolved.filter(({ selected }) => !failures.has(selected))
    const plan = planMirror(this.#targetName, movable, (image) => present.has(image))
    onEvent({ type: 'mirror.planned', totals: plan.totals })
    this.#findings.push(...findings, ...(this.#services.trust?.findings ?? []))
    const about = { findings: this.#findings, policy: this.#policy }
    const base = { images, plan, proven, blocked, ...about, ...(retry && { retry }) }
    if (isDryRun) return { ...base, ...this.#outcome(), files: [await this.#writeMapping(images, resolved)] }
    const report = movable.length > 0 ? await this.#transfer(plan, suspects) : undefined
    const selected = resolved.map((image) => image.selected)
    if (report) failures.addFrom(report, selected)
    await this.#record(resolved)
    await recordFailed(workspace, this.#targetName, { failures: failures.list, resolved })
    const files = await this.#writeResources(images)
    return { ...base, ...this.#outcome(), ...(report && { report }), files }
  }

  async #resolve(
    images: readonly SelectedImage[],
    recorded: readonly DoneImage[],
    suspects: readonly DoneImage[],
  ): Promise<Resolved> {
    const { registry, signal } = this.#request
    const proven = await provenImages(images, recorded, { source: this.#source, target: registry, signal })
    const resolved = await this.#resolveAll(images.filter((image) => !proven.has(image)))
    return { resolved, present: await this.#presentAt(resolved, suspects), proven: proven.size }
  }

  #resolveAll(images: readonly SelectedImage[]): Promise<ResolvedImage[]> {
    const { signal, onEvent, withoutAttached = false } = this.#request
    const check = imageChecks(this.#services)
    const failures = this.#failures
    return resolveImages(images, { source: this.#source, signal, onEvent, failures, withoutAttached, check })
  }

  /** By the digests of a plan; what the target held when it was made, and has lost since, is looked up by them. */
  async #resolvePlanned(planned: readonly ResolvedImage[], suspects: readonly DoneImage[]): Promise<Resolved> {
    const present = await this.#presentAt(planned, suspects)
    const isKnown = (image: ResolvedImage) => image.manifests.length > 0 || present.has(image)
    const lost = planned.filter((image) => !isKnown(image) && image.attachedTo === undefined)
    const again = await this.#resolveAll(
      lost.map(({ selected, digest }) => ({ ...selected, source: { ...selected.source, digest } })),
    )
    for (const image of await this.#presentAt(again, suspects)) present.add(image)
    return { resolved: [...planned.filter(isKnown), ...again], present, proven: 0 }
  }

  async #selectPlanned(plan: MirrorPlan): Promise<Chosen & Pick<PlannedSelection, 'resolved'>> {
    const { target, workspace, isDryRun, signal } = this.#request
    const run = { target, workspace, signal, services: this.#services, failures: this.#failures }
    const { images, resolved, source } = await selectPlanned(plan, { ...run, source: this.#source })
    this.#source = source
    if (!isDryRun) await recordWanted(workspace, this.#targetName, images)
    return { images, resolved, blocked: [], findings: [] }
  }

  async #select(): Promise<Chosen> {
    const { config, target, workspace, signal, isDryRun, isRetry = false } = this.#request
    const selection = await selectWanted({
      ...{ config, target, workspace, signal, isRetry, source: this.#source, policy: this.#policy },
      services: this.#services,
      ...(this.#local && { local: this.#local }),
    })
    this.#source = withMadeContent(this.#source, selection.made)
    for (const { image, error } of selection.unreadable) this.#failures.add(image, error)
    const wanted = [...selection.images, ...selection.unreadable.map(({ image }) => image)]
    if (!isDryRun && !isRetry) await recordWanted(workspace, this.#targetName, wanted)
    return selection
  }

  /**
   * The images whose destination already answers with the right digest. For a suspect that proves nothing; where the
   * registry does not tell, that image fails.
   */
  async #presentAt(images: readonly ResolvedImage[], suspects: readonly DoneImage[]): Promise<Set<ResolvedImage>> {
    const { registry, signal } = this.#request
    const suspected = new Set(suspects.flatMap((image) => [image, ...image.attached].map((one) => one.destination)))
    const present = await mapConcurrently(images, 32, async (image) => {
      if (suspected.has(formatReference(image.selected.destination))) return false
      try {
        return (await registry.resolve(image.selected.destination, signal))?.digest === image.digest
      } catch (error) {
        signal.throwIfAborted()
        this.#failures.add(image.selected, error)
        return false
      }
    })
    return new Set(images.filter((_, index) => present[index]))
  }

  async #transfer(plan: MirrorPlan, suspects: readonly DoneImage[]): Promise<TransferReport> {
    const { workspace, registry, signal, onEvent, concurrency } = this.#request
    const { images, blobs, manifests } = plan
    const neededBytes = 1024 * (images.length + blobs.length + manifests.length)
    await checkFreeSpace([{ path: workspace.state, neededBytes, what: 'the workspace' }])
    await writeWhole(join(workspace.state, 'plan.json'), planLines(plan))
    const holdings = await Holdings.open(workspace, this.#targetName)
    try {
      const report = await transfer(plan, {
        source: this.#source,
        target: distrustBlobs(registry, wrongBlobs(suspects)),
        ...(this.#local && { local: this.#local }),
        holdings,
        signal,
        onEvent,
        ...(concurrency !== undefined && { concurrency }),
      })
      if (report.failures.size === 0) await this.#local?.removeBlobs()
      return report
    } finally {
      await holdings.close()
    }
  }

  async #record(resolved: readonly ResolvedImage[]): Promise<void> {
    const done = groupAttached(resolved)
      .filter(({ image, attached }) => ![image, ...attached].some(({ selected }) => this.#failures.has(selected)))
      .map(({ image, attached }) => doneImage(image, attached))
    if (done.length > 0) await recordDone(this.#request.workspace, this.#targetName, done)
  }

  async #writeResources(images: readonly SelectedImage[]): Promise<string[]> {
    const arrived = images.filter((image) => !this.#failures.has(image))
    const { workspace, icsp } = this.#request
    const sets = await writeResources(workspace, mirrorSets(arrived, { icsp: icsp === true }))
    const releases = arrived.filter(({ isReleaseImage }) => isReleaseImage).map(({ source }) => source)
    const signatures = this.#services.trust?.signaturesOf(releases) ?? new Map()
    const configMaps = await writeSignatureConfigMaps(workspace, signatures)
    const hasGraph = arrived.some(({ source }) => isGraphImage(source))
    const updates = hasGraph ? [await writeUpdateService(workspace, this.#request.target)] : []
    return [...sets, ...configMaps, ...updates, ...(await this.#writeCatalogs(arrived))]
  }

  async #writeCatalogs(arrived: readonly SelectedImage[]): Promise<readonly string[]> {
    const { config, workspace, target } = this.#request
    const names = new Set(
      arrived.filter(({ isCatalog }) => isCatalog).map((image) => formatReference(image.destination)),
    )
    if (names.size === 0) return []
    const done = (await readDone(workspace)).get(this.#targetName) ?? []
    const there = done.filter(({ destination }) => names.has(destination))
    const { cwd = '' } = this.#services
    const catalogs = await arrivedCatalogs(config.mirror.operators, { target, arrived: there, cwd })
    const { files, findings } = await writeCatalogResources(workspace, catalogs)
    this.#findings.push(...findings)
    return files
  }

  async #writeMapping(images: readonly SelectedImage[], resolved: readonly ResolvedImage[]): Promise<string> {
    const path = join(this.#request.workspace.dryRun, 'mapping.txt')
    await writeWhole(path, mappingText(images, this.#request.isByPlatform ? resolved : []))
    return path
  }

  #outcome(): Pick<MirrorResult, 'failures' | 'exitStatus'> {
    const failures = this.#failures.list
    return { failures, exitStatus: exitStatusOf(failures, this.#policy) }
  }
}

function wrongBlobs(suspects: readonly DoneImage[]): Set<Digest> {
  return new Set(suspects.flatMap(({ suspect }) => suspect?.wrongBlobs ?? []))
}
