/** From a list of images to what goes and stays in every repository that it names. */

import type { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { KeepRules } from './kept-images.ts'
import type { ListedImage } from './listed-image.ts'
import type { PendingRepository } from './pending-deletion.ts'
import { planDeletion, type RepositoryDeletion, type RepositoryState } from './plan-deletion.ts'
import { readRepository } from './repository-state.ts'
import { asKnownError } from './transfer.ts'

export interface PlanDeletionsOptions {
  readonly registry: Pick<ContentSource, 'resolve' | 'referrers'> & Pick<ContentTarget, 'tags'>
  /** Gives manifests by digest; may have them at hand. */
  readonly manifests: Pick<ContentSource, 'fetchManifest'>
  readonly rules: KeepRules
  /** What an earlier run began, by repository. */
  readonly pending: ReadonlyMap<string, PendingRepository>
  readonly withAttachments: boolean
  readonly signal: AbortSignal
}

export interface PlannedRepository {
  readonly repository: Reference
  readonly state: RepositoryState
  readonly plan: RepositoryDeletion<ListedImage>
}

export interface PlannedDeletions {
  /** In the order of their names. */
  readonly repositories: readonly PlannedRepository[]
  /** Images that nothing could be learned of, because their repository cannot be read. */
  readonly failures: readonly { readonly image: ListedImage; readonly error: KnownError }[]
}

/** @throws KnownError only where the registry as a whole does not answer */
export async function planDeletions(
  images: readonly ListedImage[],
  options: PlanDeletionsOptions,
): Promise<PlannedDeletions> {
  const groups = Map.groupBy(images, ({ repository }) => repositoryName(repository))
  const names = [...new Set([...groups.keys(), ...options.pending.keys()])].sort()
  const failures: { image: ListedImage; error: KnownError }[] = []
  const planned = await mapConcurrently(names, 8, async (name) => {
    const listed = groups.get(name) ?? []
    try {
      return [await planOne(parseReference(name), listed, options)]
    } catch (error) {
      options.signal.throwIfAborted()
      const known = asKnownError(error, name)
      if (general.includes(known.code)) throw known
      failures.push(...listed.map((image) => ({ image, error: known })))
      return []
    }
  })
  return { repositories: planned.flat(), failures }
}

const general: readonly string[] = ['REGISTRY_UNREACHABLE', 'REGISTRY_TLS', 'REGISTRY_UNAUTHORIZED']

async function planOne(
  repository: Reference,
  listed: readonly ListedImage[],
  options: PlanDeletionsOptions,
): Promise<PlannedRepository> {
  const { registry, manifests, rules, signal, withAttachments } = options
  const items = [...listed, ...unfinished(repository, listed, options)]
  const named = items.flatMap(({ name }) => ('digest' in name ? [name.digest] : []))
  const state = await readRepository(repository, {
    registry,
    manifests,
    signal,
    digests: [...named, ...rules.digestsIn(repository)],
    referrersOf: withAttachments ? items : [],
  })
  const releases = new Set(items.filter((item) => item.class === 'release').map(({ name }) => JSON.stringify(name)))
  const isRelease = (name: object) => releases.has(JSON.stringify(name))
  const plan = planDeletion(state, items, {
    usedBy: (digest: Digest) => rules.usedBy(digest) ?? (isRelease({ digest }) ? rules.releasesUsedBy : undefined),
    tagUsedBy: (tag) => rules.tagUsedBy(repository, tag) ?? (isRelease({ tag }) ? rules.releasesUsedBy : undefined),
    withAttachments,
  })
  return { repository, state, plan }
}

/** What an earlier run left is wanted gone too, though nobody lists it any more. */
function unfinished(
  repository: Reference,
  listed: readonly ListedImage[],
  { pending }: PlanDeletionsOptions,
): ListedImage[] {
  const name = repositoryName(repository)
  const left = pending.get(name)
  const known = new Set(listed.map((image) => JSON.stringify(image.name)))
  const names = [...(left?.tags ?? []).map((tag) => ({ tag })), ...(left?.digests ?? []).map((digest) => ({ digest }))]
  const fresh = names.filter((one) => !known.has(JSON.stringify(one)))
  return fresh.map((one) => ({
    repository,
    name: one,
    item: pendingItem(name, one),
    class: 'additional',
    isUnfinished: true,
  }))
}

function pendingItem(repository: string, name: { tag: string } | { digest: Digest }) {
  const image = 'tag' in name ? `${repository}:${name.tag}` : `${repository}@${name.digest}`
  return { imageName: image, imageReference: `docker://${image}`, type: 'generic' }
}
