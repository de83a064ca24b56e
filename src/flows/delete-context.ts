/** What both phases of a deletion stand on: what the workspace knows, what lies at the target, and who uses it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { type DoneImage, readDone } from '../mirror/done.ts'
import { type KeepRules, keepRules } from '../mirror/kept-images.ts'
import { readKnownRelease } from '../mirror/known-release.ts'
import type { ListedImage } from '../mirror/listed-image.ts'
import { LocalContent, withLocalManifests } from '../mirror/local-content.ts'
import { type PendingRepository, readPending } from '../mirror/pending-deletion.ts'
import { type PlannedDeletions, type PlannedRepository, planDeletions } from '../mirror/plan-deletions.ts'
import type { SelectOptions } from '../mirror/select-release.ts'
import { TargetPlaces, targetAsSource } from '../mirror/target-source.ts'
import { readWanted, type WantedImage } from '../mirror/wanted.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import { hexOf } from '../oci/digest.ts'
import { parseReference, repositoryName } from '../oci/reference.ts'
import { graphCacheDirectory, keptGraphs } from '../release/graph-cache.ts'
import type { GraphSource } from '../release/graph-source.ts'
import type { RegistryClient } from '../remote/client.ts'
import { ifThere } from '../store/presence.ts'
import { readKeepFor } from './keep-for.ts'

export interface DeleteRequest {
  readonly target: MirrorTarget
  readonly workspace: Workspace
  readonly registry: RegistryClient
  /** Who uses images of this mirror: files, or `kubeconfig:FILE`. */
  readonly keepFor: readonly string[]
  readonly withSignatures: boolean
  readonly signal: AbortSignal
}

export interface DeleteContext extends SelectOptions {
  readonly request: DeleteRequest
  readonly target: MirrorTarget
  /** `HOST/PATH` */
  readonly targetName: string
  readonly recorded: readonly DoneImage[]
  readonly wanted: readonly WantedImage[]
  /** Manifests at the target, from this machine where it has them. */
  readonly manifests: ContentSource
  /** The answers of the update graph by which this workspace mirrored. */
  readonly graphs: GraphSource
}

/** Nothing is asked of any source: what images name is read from the target, as a closed site needs it. */
export async function openDeleteContext(request: DeleteRequest): Promise<DeleteContext> {
  const { target, workspace, registry, signal } = request
  const targetName = formatMirrorTarget(target)
  const recorded = (await readDone(workspace)).get(targetName) ?? []
  return {
    request,
    target,
    targetName,
    recorded,
    wanted: (await readWanted(workspace)).get(targetName) ?? [],
    manifests: withLocalManifests(registry, new LocalContent(workspace)),
    source: targetAsSource(target, registry, recorded),
    workspace,
    signal,
    graphs: keptGraphs(graphCacheDirectory(workspace.root)),
  }
}

export interface PlannedWork extends PlannedDeletions {
  /** The plan of one repository anew, from what lies there now. */
  readonly again: (planned: PlannedRepository) => Promise<PlannedRepository | undefined>
}

/** @throws KnownError as `readKeepFor` and `planDeletions` */
export async function planWith(context: DeleteContext, images: readonly ListedImage[]): Promise<PlannedWork> {
  const { request, manifests, signal } = context
  const { registry, withSignatures: withAttachments } = request
  const rules = await rulesOf(context)
  const pending = await pendingOf(context)
  const options = { registry, manifests, rules, pending, withAttachments, signal }
  const planned = await planDeletions(images, options)
  const again = async ({ repository }: PlannedRepository) => {
    const name = repositoryName(repository)
    const listed = images.filter((image) => repositoryName(image.repository) === name)
    const left = new Map([...pending].filter(([one]) => one === name))
    const { repositories, failures } = await planDeletions(listed, { ...options, pending: left })
    const [failure] = failures
    if (failure) throw failure.error
    return repositories[0]
  }
  return { ...planned, again }
}

async function rulesOf(context: DeleteContext): Promise<KeepRules> {
  const { request, target, recorded, signal } = context
  const { images, selections } = await readKeepFor(request.keepFor, context)
  const releases = await knownReleases(context)
  return keepRules(images, selections, {
    places: new TargetPlaces(target, recorded),
    readRelease: (release) => readKnownRelease(release, context),
    isRelease: (digest) => releases.has(hexOf(digest)),
    signal,
  })
}

/** The hex of every release whose payload was read once, and of those that were mirrored. */
async function knownReleases({ workspace, recorded }: DeleteContext): Promise<ReadonlySet<string>> {
  const mirrored = recorded.filter(({ isReleaseImage }) => isReleaseImage).map(({ digest }) => hexOf(digest))
  const read = (await ifThere(readdir(join(workspace.state, 'payloads')))) ?? []
  return new Set([...read, ...mirrored])
}

/** What an earlier run left; without what was mirrored again since. */
async function pendingOf({
  workspace,
  targetName,
  recorded,
  wanted,
}: DeleteContext): Promise<Map<string, PendingRepository>> {
  const claimed = new Set([...recorded, ...wanted].map(({ destination }) => destination))
  const pending = await readPending(workspace, targetName)
  return new Map(
    [...pending].map(([repository, { tags, digests }]) => {
      const place = repositoryName(parseReference(repository))
      return [repository, { tags: tags.filter((tag) => !claimed.has(`${place}:${tag}`)), digests }]
    }),
  )
}
