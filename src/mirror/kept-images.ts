/**
 * What must not be deleted at a target because somebody uses it: by digest wherever it lies, by name where mirrors put
 * it, and with every component where it is a release.
 */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { type Digest, hexOf } from '../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { ReleasePayload } from '../openshift/release-payload.ts'
import { releaseRepositories } from './destination.ts'
import type { SelectedImage } from './selection.ts'
import type { TargetPlaces } from './target-source.ts'

/** An image that somebody uses, by any of its names. */
export interface KeptImage {
  readonly reference: Reference
  /** For people: who uses it. */
  readonly user: string
  /** A release: its components are in use too. False: not for being a release. Absent: where it looks like one. */
  readonly isRelease?: boolean
}

/** What a configuration selects at this target. */
export interface KeptSelection {
  /** For people: the file. */
  readonly user: string
  readonly images: readonly SelectedImage[]
  /** Releases that it asks for and whose components are not known. */
  readonly unreadable: readonly Reference[]
}

export interface KeepOptions {
  readonly places: TargetPlaces
  /** Reads what a release names, from this machine or the target. */
  readonly readRelease: (release: Reference) => Promise<ReleasePayload>
  /** True for a digest that is known to be a release. */
  readonly isRelease: (digest: Digest) => boolean
  readonly signal: AbortSignal
}

export class KeepRules {
  /** Why no image of any release may be deleted; undefined where they may. */
  releasesUsedBy: string | undefined
  readonly #digests = new Map<Digest, string>()
  readonly #tags = new Map<string, string>()
  readonly #byRepository = new Map<string, Set<Digest>>()

  usedBy(digest: Digest): string | undefined {
    return this.#digests.get(digest)
  }

  tagUsedBy(repository: Reference, tag: string): string | undefined {
    return this.#tags.get(`${repositoryName(repository)}:${tag}`)
  }

  /** Digests in use that may lie in this repository without a tag. */
  digestsIn(repository: Reference): readonly Digest[] {
    return [...(this.#byRepository.get(repositoryName(repository)) ?? [])]
  }

  keepDigest(digest: Digest, user: string, places: readonly Reference[]): void {
    if (!this.#digests.has(digest)) this.#digests.set(digest, `in use by ${user}`)
    for (const place of places) {
      const name = repositoryName(place)
      this.#byRepository.set(name, (this.#byRepository.get(name) ?? new Set()).add(digest))
    }
  }

  keepTag(place: Reference, user: string): void {
    const name = `${repositoryName(place)}:${place.tag}`
    if (place.tag !== undefined && !this.#tags.has(name)) this.#tags.set(name, `in use by ${user}`)
  }
}

/** The rules that follow from what is used. */
export async function keepRules(
  images: readonly KeptImage[],
  selections: readonly KeptSelection[],
  options: KeepOptions,
): Promise<KeepRules> {
  const rules = new KeepRules()
  for (const image of images) keepImage(rules, image, options.places)
  for (const { user, images: selected, unreadable } of selections) {
    for (const { destination, why } of selected) rules.keepTag(destination, `${user} (${why})`)
    const [release] = unreadable
    if (release) rules.releasesUsedBy ??= unreadableReason(user, release)
  }
  await keepComponents(rules, images, options)
  return rules
}

function keepImage(rules: KeepRules, { reference, user }: KeptImage, places: TargetPlaces): void {
  const { tag, digest } = reference
  if (digest !== undefined) rules.keepDigest(digest, user, places.repositoriesOf(reference))
  if (digest === undefined || tag !== undefined) {
    const { registry, repository } = reference
    const byTag = { registry, repository, tag: tag ?? 'latest' }
    for (const place of places.of(byTag)) rules.keepTag(place, user)
  }
}

async function keepComponents(rules: KeepRules, images: readonly KeptImage[], options: KeepOptions): Promise<void> {
  const releases = new Map<string, KeptImage>()
  for (const image of images) {
    const isRelease = image.isRelease ?? looksLikeRelease(image.reference, options)
    if (isRelease) releases.set(formatReference(image.reference), image)
  }
  await mapConcurrently([...releases.values()], 4, async (image) => {
    const payload = await readOrNothing(image.reference, options)
    if (payload) {
      const user = `${image.user}, as a component of release ${payload.version}`
      for (const { reference } of payload.components) keepImage(rules, { reference, user }, options.places)
    } else rules.releasesUsedBy ??= unreadableReason(image.user, image.reference)
  })
}

function looksLikeRelease({ repository, digest }: Reference, { isRelease }: KeepOptions): boolean {
  if (digest !== undefined && isRelease(digest)) return true
  return /(?:^|\/)ocp-release$/.test(repository) || repository.endsWith(`/${releaseRepositories.images}`)
}

async function readOrNothing(release: Reference, options: KeepOptions): Promise<ReleasePayload | undefined> {
  try {
    return await options.readRelease(release)
  } catch (error) {
    options.signal.throwIfAborted()
    const isUnreadable = error instanceof KnownError && /^(?:MANIFEST|BLOB|LAYER|PAYLOAD)_/.test(error.code)
    if (!isUnreadable) throw error
    return undefined
  }
}

function unreadableReason(user: string, release: Reference): string {
  const name = release.digest ? `${release.repository}@${hexOf(release.digest).slice(0, 12)}` : formatReference(release)
  return `${user} uses the release ${name}, whose components are not known here: no image of any release is deleted`
}
