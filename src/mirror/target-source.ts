/**
 * A mirror, asked for images by the names that they have at their sources: on the closed side of a gap, what a release
 * names is read from the release image at the target.
 */
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import { type MirrorTarget, releaseRepositories, targetRepository } from './destination.ts'
import type { DoneImage } from './done.ts'

/** @param recorded what the workspace knows to be at the target */
export function targetAsSource(
  target: MirrorTarget,
  registry: ContentSource,
  recorded: readonly DoneImage[],
): ContentSource {
  const places = new TargetPlaces(target, recorded)
  /** Where an image was found, by the name of its repository at the source. */
  const found = new Map<string, Reference>()
  const locate = async (reference: Reference, signal?: AbortSignal) => {
    for (const place of places.of(reference)) {
      const descriptor = await registry.resolve(place, signal)
      if (descriptor) {
        found.set(repositoryName(reference), place)
        return { place, descriptor }
      }
    }
    return undefined
  }
  return {
    resolve: async (reference, signal) => (await locate(reference, signal))?.descriptor ?? places.recorded(reference),
    resolveBeside: async () => undefined,
    fetchManifest: async (reference, signal) => {
      const there = await locate(reference, signal)
      return there && registry.fetchManifest(there.place, signal)
    },
    fetchBlob: (repository, descriptor, options) => {
      const place = found.get(repositoryName(repository)) ?? repository
      return registry.fetchBlob(place, descriptor, options)
    },
    referrers: async () => [],
  }
}

/** Where images lie at a target: by the names that mirror gives, and by what the workspace recorded. */
export class TargetPlaces {
  readonly #target: MirrorTarget
  readonly #bySource: ReadonlyMap<string, readonly DoneImage[]>
  readonly #repositories: ReadonlyMap<string, readonly Reference[]>

  constructor(target: MirrorTarget, recorded: readonly DoneImage[]) {
    this.#target = target
    const names = recorded.flatMap((image) => namesOf(image).map((name) => ({ name, image })))
    const grouped = Map.groupBy(names, ({ name }) => name)
    this.#bySource = new Map([...grouped].map(([name, all]) => [name, all.map(({ image }) => image)]))
    const destinations = Map.groupBy(recorded, ({ source }) => repositoryName(parseReference(source)))
    this.#repositories = new Map(
      [...destinations].map(([source, images]) => {
        const names = new Set(images.map(({ destination }) => repositoryName(parseReference(destination))))
        return [source, [...names].map(parseReference)]
      }),
    )
  }

  /** Every place where an image of this name may lie, with its tag or digest; the likeliest first. */
  of(reference: Reference): readonly Reference[] {
    const { tag, digest } = reference
    const named = this.#bySource.get(formatReference(reference)) ?? []
    const own = named.map(({ destination }) => parseReference(destination))
    const name = digest === undefined ? { tag: tag ?? 'latest' } : { digest }
    const others = this.repositoriesOf(reference).map(({ registry, repository }) => ({ registry, repository, ...name }))
    return [...new Map([...own, ...others].map((place) => [formatReference(place), place])).values()]
  }

  /** Repositories at the target that images of this one are mirrored to. */
  repositoriesOf({ registry, repository }: Reference): readonly Reference[] {
    const target = this.#target
    // The target may have several host names; its path tells it as well.
    const isBelow = target.path !== '' && repository.startsWith(`${target.path}/`)
    if (registry === target.registry || isBelow) return [{ registry: target.registry, repository }]
    const releases = Object.values(releaseRepositories).map((one) => targetRepository(target, one))
    const known = this.#repositories.get(`${registry}/${repository}`) ?? []
    return [...known, targetRepository(target, repository), ...releases]
  }

  /** What a name stood for when it was mirrored. */
  recorded(reference: Reference): Descriptor | undefined {
    const [image] = this.#bySource.get(formatReference(reference)) ?? []
    return image && { mediaType: '', digest: image.digest, size: 0 }
  }
}

/** A tag beside a digest is a name of its own: who uses the image may know only that. */
function namesOf({ source }: DoneImage): readonly string[] {
  const { registry, repository, tag, digest } = parseReference(source)
  const isBoth = tag !== undefined && digest !== undefined
  return isBoth ? [source, formatReference({ registry, repository, tag })] : [source]
}
