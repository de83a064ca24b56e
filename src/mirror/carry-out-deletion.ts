/**
 * Deletes in one repository what a plan says: an index before its children, an image before its signature, so that
 * whatever is interrupted leaves no broken image behind.
 */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { Digest } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import type { RegistryClient } from '../remote/client.ts'
import { byDigest } from './closure.ts'
import type { RepositoryDeletion, RepositoryState, Unwanted } from './plan-deletion.ts'

export interface CarryOutOptions {
  readonly registry: Pick<RegistryClient, 'deleteManifest' | 'resolve' | 'fetchManifest' | 'pushManifest' | 'tags'>
  readonly signal: AbortSignal
  /** The registry may have deleted it from now on, also where its answer never arrives. */
  readonly onBegun: (digest: Digest) => void
  readonly onDeleted: (digest: Digest) => void
  /** The registry said that it has not deleted it. */
  readonly onRefused: (digest: Digest) => void
}

export interface CarriedOut {
  readonly deleted: ReadonlySet<Digest>
  /** Tags that are not there any more. */
  readonly tags: ReadonlySet<string>
  /** Tags that the registry did not take away, and why. */
  readonly stuck: ReadonlyMap<string, string>
  /** Manifests that the registry did not take away. */
  readonly failures: ReadonlyMap<Digest, KnownError>
}

interface Work<Item extends Unwanted> {
  readonly repository: Reference
  readonly state: RepositoryState
  readonly plan: RepositoryDeletion<Item>
}

/**
 * @throws KnownError REGISTRY_DELETE_REFUSED where the registry deletes nothing at all, and what concerns the registry as
 *   a whole; what was deleted until then is in `onDeleted`
 */
export async function carryOut<Item extends Unwanted>(work: Work<Item>, options: CarryOutOptions): Promise<CarriedOut> {
  const { deleted, failures } = await deleteManifests(work, options)
  const stuck = await removeTags(work, options)
  const left = new Set((await options.registry.tags(work.repository, options.signal)) ?? [])
  const wanted = [
    ...[...work.plan.tags].filter(([, digest]) => deleted.has(digest)).map(([tag]) => tag),
    ...untagged(work.plan),
  ]
  for (const tag of wanted) {
    // A registry may keep the tags of a manifest that is gone.
    if (!left.has(tag) || stuck.has(tag) || (await removeTag({ ...work.repository, tag }, options))) continue
    stuck.set(tag, `${work.repository.registry} does not delete a tag by itself`)
  }
  return { deleted, failures, stuck, tags: new Set(wanted.filter((tag) => !stuck.has(tag))) }
}

async function deleteManifests<Item extends Unwanted>({ repository, plan }: Work<Item>, options: CarryOutOptions) {
  const deleted = new Set<Digest>()
  const failures = new Map<Digest, KnownError>()
  const done = new Map<Digest, Promise<void>>()
  const remove = async (digest: Digest) => {
    const above = plan.after.get(digest) ?? []
    // In the order of the plan these were begun before: nobody waits for what has not begun.
    await Promise.all(above.map((parent) => done.get(parent)))
    const cause = above.map((parent) => failures.get(parent)).find((error) => error !== undefined)
    if (cause) return void failures.set(digest, cause)
    options.onBegun(digest)
    try {
      await options.registry.deleteManifest(byDigest(repository, digest), options.signal)
      deleted.add(digest)
      options.onDeleted(digest)
    } catch (error) {
      if (isRefusal(error)) options.onRefused(digest)
      options.signal.throwIfAborted()
      if (!(error instanceof KnownError) || concernsAll(error)) throw error
      failures.set(digest, error)
    }
  }
  await mapConcurrently(plan.manifests, 8, (digest) => {
    const removal = remove(digest)
    done.set(digest, removal)
    return removal
  })
  return { deleted, failures }
}

/** Takes away tags whose manifest stays; gives those that cannot be, with the reason. */
async function removeTags<Item extends Unwanted>(
  { repository, state, plan }: Work<Item>,
  { registry, signal }: CarryOutOptions,
): Promise<Map<string, string>> {
  const stuck = new Map<string, string>()
  let refusal: string | undefined
  for (const tag of untagged(plan)) {
    const digest = state.tags.get(tag)
    if (refusal !== undefined || digest === undefined) {
      if (refusal !== undefined) stuck.set(tag, refusal)
      continue
    }
    const image = byDigest(repository, digest)
    const manifest = await registry.fetchManifest(image, signal)
    if (!(await removeTag({ ...repository, tag }, { registry, signal }))) {
      refusal = `${repository.registry} does not delete a tag by itself`
      stuck.set(tag, refusal)
    } else if (manifest && (await registry.resolve(image, signal)) === undefined) {
      // Some registries take the manifest with the tag, and with it the names under which it was to stay.
      const names = [...state.tags].filter(([name, its]) => its === digest && name !== tag).map(([name]) => name)
      await registry.pushManifest(image, manifest, signal)
      for (const name of names) await registry.pushManifest({ ...repository, tag: name }, manifest, signal)
      refusal = `${repository.registry} deletes the image with its tag`
    }
  }
  return stuck
}

/** False where the registry does not do that. */
async function removeTag(
  tag: Reference,
  { registry, signal }: Pick<CarryOutOptions, 'registry' | 'signal'>,
): Promise<boolean> {
  try {
    return (await registry.deleteManifest(tag, signal)) || (await registry.resolve(tag, signal)) === undefined
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof KnownError) || error.code !== 'REGISTRY_DELETE_REFUSED') throw error
    return false
  }
}

function untagged<Item extends Unwanted>({ fates }: RepositoryDeletion<Item>): string[] {
  return fates.flatMap(({ fate, item: { name } }) => (fate === 'untagged' && 'tag' in name ? [name.tag] : []))
}

function isRefusal(error: unknown): boolean {
  const status = error instanceof KnownError ? error.details['status'] : undefined
  return typeof status === 'number' && status >= 400 && status < 500
}

const general = ['REGISTRY_DELETE_REFUSED', 'REGISTRY_UNREACHABLE', 'REGISTRY_TLS', 'REGISTRY_UNAUTHORIZED']

function concernsAll({ code }: KnownError): boolean {
  return general.includes(code)
}
