/**
 * The second phase of a deletion: carries out a list. May be interrupted and run again; what is gone already is fine.
 *
 * Afterwards the workspace no longer claims what was deleted.
 */
import type { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { type CarriedOut, carryOut } from '../mirror/carry-out-deletion.ts'
import { failureBits, recordDone } from '../mirror/done.ts'
import { Holdings } from '../mirror/holdings.ts'
import { type ListedImage, listedFromItems } from '../mirror/listed-image.ts'
import { type PendingRepository, readPending, writePending } from '../mirror/pending-deletion.ts'
import type { Fate } from '../mirror/plan-deletion.ts'
import type { PlannedRepository } from '../mirror/plan-deletions.ts'
import { asKnownError } from '../mirror/transfer.ts'
import { forgetWanted } from '../mirror/wanted.ts'
import { withWorkspaceLock } from '../mirror/workspace-lock.ts'
import type { Digest } from '../oci/digest.ts'
import { repositoryName } from '../oci/reference.ts'
import type { DeleteItem } from '../openshift/delete-image-list.ts'
import {
  type DeleteContext,
  type DeleteRequest,
  openDeleteContext,
  type PlannedWork,
  planWith,
} from './delete-context.ts'
import type { FailedDeletion } from './delete-selection.ts'

export interface DeleteListedRequest extends DeleteRequest {
  readonly items: readonly DeleteItem[]
  /** Say what would be done, and delete nothing. */
  readonly isDryRun: boolean
  readonly onEvent: (event: DeletionEvent) => void
}

export type DeletionEvent =
  | { readonly type: 'deletion.planned'; readonly manifests: number; readonly repositories: number }
  | { readonly type: 'manifest.deleted'; readonly repository: string; readonly digest: Digest }

/** A tag that should have gone and is still there. */
export interface StuckTag {
  readonly name: string
  readonly why: string
}

export interface ListedDeletion {
  readonly fates: readonly Fate<ListedImage>[]
  readonly stuck: readonly StuckTag[]
  /** Manifests that are gone now; in a dry run, those that would be. */
  readonly manifests: number
  readonly stillWanted: readonly string[]
  readonly failures: readonly FailedDeletion[]
  readonly exitStatus: number
}

/** @throws KnownError REGISTRY_DELETE_REFUSED, and where nothing could be begun; the rest is in the result */
export async function deleteListed(request: DeleteListedRequest): Promise<ListedDeletion> {
  return withWorkspaceLock(request.workspace, async () =>
    new DeletionRun(request, await openDeleteContext(request)).run(),
  )
}

class DeletionRun {
  readonly #request: DeleteListedRequest
  readonly #context: DeleteContext
  /** What is gone, by repository: kept while it happens, because it must be noted also when the run breaks off. */
  readonly #gone = new Map<string, Set<Digest>>()
  /** What is gone, or may be: a registry may have done what it never answered. */
  readonly #claimless = new Map<string, Set<Digest>>()
  readonly #carriedOut = new Map<PlannedRepository, CarriedOut>()
  /** By name: as it was carried out, where that is not as it was first planned. */
  readonly #planned = new Map<string, PlannedRepository>()
  readonly #failures: FailedDeletion[] = []

  constructor(request: DeleteListedRequest, context: DeleteContext) {
    this.#request = request
    this.#context = context
  }

  async run(): Promise<ListedDeletion> {
    const { target, items, isDryRun, onEvent } = this.#request
    const images = listedFromItems(items, target, knownDestinations(this.#context))
    const work = await planWith(this.#context, images)
    for (const { image, error } of work.failures) this.#fail(image, error)
    for (const planned of work.repositories) this.#planned.set(repositoryName(planned.repository), planned)
    const manifests = work.repositories.reduce((sum, { plan }) => sum + plan.manifests.length, 0)
    onEvent({ type: 'deletion.planned', manifests, repositories: work.repositories.length })
    if (!isDryRun) await this.#carryOut(work)
    const repositories = [...this.#planned.values()]
    const fates = repositories.flatMap(({ plan }) => plan.fates.filter(({ item }) => !item.isUnfinished))
    const wanted = new Set(this.#context.wanted.map(({ destination }) => `docker://${destination}`))
    const going = fates.filter(({ fate }) => fate === 'deleted' || fate === 'untagged')
    return {
      fates,
      stuck: [...this.#carriedOut].flatMap(([{ repository }, { stuck }]) =>
        [...stuck].map(([tag, why]) => ({ name: `${repositoryName(repository)}:${tag}`, why })),
      ),
      manifests: isDryRun ? manifests : [...this.#gone.values()].reduce((sum, { size }) => sum + size, 0),
      stillWanted: going.map(({ item }) => item.item.imageReference).filter((image) => wanted.has(image)),
      failures: this.#failures,
      exitStatus: this.#failures.reduce((mask, failure) => mask | failureBits[failure.class], 0),
    }
  }

  async #carryOut(work: PlannedWork): Promise<void> {
    await this.#notePending(work.repositories)
    try {
      await mapConcurrently(work.repositories, 4, (planned) => this.#carryOutOne(planned, work))
    } finally {
      await this.#forget([...this.#planned.values()])
    }
  }

  async #carryOutOne(first: PlannedRepository, work: PlannedWork): Promise<void> {
    const { registry, signal, onEvent } = this.#request
    const repository = repositoryName(first.repository)
    const gone = new Set<Digest>()
    const claimless = new Set<Digest>()
    this.#gone.set(repository, gone)
    this.#claimless.set(repository, claimless)
    const onDeleted = (digest: Digest) => {
      gone.add(digest)
      onEvent({ type: 'manifest.deleted', repository, digest })
    }
    let planned = first
    try {
      // A push since then may need what was to go.
      if (await this.#hasNewTags(first)) planned = (await work.again(first)) ?? first
      this.#planned.set(repository, planned)
      const onBegun = (digest: Digest) => void claimless.add(digest)
      const onRefused = (digest: Digest) => void claimless.delete(digest)
      const result = await carryOut(planned, { registry, signal, onBegun, onDeleted, onRefused })
      this.#carriedOut.set(planned, result)
      for (const fate of planned.plan.fates) {
        const error = fate.fate === 'deleted' ? result.failures.get(fate.digest) : undefined
        if (error) this.#fail(fate.item, error)
      }
    } catch (error) {
      signal.throwIfAborted()
      const known = asKnownError(error, repository)
      if (known.code.startsWith('REGISTRY_')) throw known
      for (const { item, fate } of planned.plan.fates) if (fate !== 'kept') this.#fail(item, known)
    }
  }

  async #hasNewTags({ repository, state }: PlannedRepository): Promise<boolean> {
    const tags = await this.#request.registry.tags(repository, this.#request.signal)
    return tags?.some((tag) => !state.tags.has(tag)) === true
  }

  #fail({ item, class: of }: ListedImage, error: KnownError): void {
    this.#failures.push({ name: item.imageReference, class: of, error })
  }

  /** Everything that is about to go, by name, before the first of it goes. */
  async #notePending(repositories: readonly PlannedRepository[]): Promise<void> {
    const { workspace, targetName } = this.#context
    const pending = new Map(await readPending(workspace, targetName))
    for (const { repository, plan } of repositories) {
      const tags = plan.fates.flatMap(({ fate, item: { name } }) =>
        fate === 'untagged' && 'tag' in name ? [name.tag] : [],
      )
      pending.set(repositoryName(repository), { tags: tags.sort(), digests: [...plan.manifests].sort() })
    }
    await writePending(workspace, targetName, pending)
  }

  /** The workspace claims nothing any more of what is gone, and remembers what should be and is not. */
  async #forget(repositories: readonly PlannedRepository[]): Promise<void> {
    const { workspace, targetName } = this.#context
    const left = new Map(await readPending(workspace, targetName))
    const tags = new Set<string>()
    for (const planned of repositories) {
      const name = repositoryName(planned.repository)
      left.set(name, this.#leftOf(planned))
      for (const tag of this.#goneTags(planned)) tags.add(`${name}:${tag}`)
    }
    await recordDone(workspace, targetName, [], { gone: tags })
    await forgetWanted(workspace, targetName, tags)
    const blobs = new Map(repositories.map((one) => [repositoryName(one.repository), this.#goneBlobs(one)]))
    await Holdings.forget(workspace, targetName, (repository, digest) => blobs.get(repository)?.has(digest) === true)
    await writePending(workspace, targetName, left)
  }

  #leftOf(planned: PlannedRepository): PendingRepository {
    const result = this.#carriedOut.get(planned)
    const gone = this.#gone.get(repositoryName(planned.repository))
    const untagged = planned.plan.fates.flatMap(({ fate, item: { name } }) =>
      fate === 'untagged' && 'tag' in name ? [name.tag] : [],
    )
    const isOver = (tag: string) => result?.tags.has(tag) === true
    return {
      tags: untagged.filter((tag) => !isOver(tag)).sort(),
      digests: planned.plan.manifests.filter((digest) => gone?.has(digest) !== true).sort(),
    }
  }

  /** Tags that nothing stands behind any more, those included that were gone before, or that could not be taken away. */
  #goneTags(planned: PlannedRepository): string[] {
    const { plan, repository } = planned
    const gone = this.#claimless.get(repositoryName(repository))
    const deleted = [...plan.tags].filter(([, digest]) => gone?.has(digest) === true).map(([tag]) => tag)
    const others = plan.fates.flatMap(({ fate, item: { name } }) => {
      const isOver = fate === 'absent' || (fate === 'untagged' && this.#carriedOut.has(planned))
      return isOver && 'tag' in name ? [name.tag] : []
    })
    return [...deleted, ...others]
  }

  /** Blobs that no manifest of the repository names any more. */
  #goneBlobs({ repository, state }: PlannedRepository): Set<Digest> {
    const gone = this.#claimless.get(repositoryName(repository))
    const blobs = (isGone: boolean) =>
      [...state.manifests].flatMap(([digest, manifest]) =>
        (gone?.has(digest) === true) === isGone ? manifest.blobs.map((blob) => blob.digest) : [],
      )
    return new Set(blobs(true)).difference(new Set(blobs(false)))
  }
}

function knownDestinations({ recorded }: DeleteContext): ReadonlySet<string> {
  const attached = recorded.flatMap((image) => image.attached.map(({ destination }) => destination))
  return new Set([...recorded.map(({ destination }) => destination), ...attached])
}
