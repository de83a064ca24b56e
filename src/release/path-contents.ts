/** What an update path comes to in bytes: each release against those that a mirror has by then. */
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import type { UpdateRelease } from '../openshift/graph/update-graph.ts'
import { readReleaseContents } from './payload-contents.ts'
import type { ContentsProblem, ReleaseContents } from './release-contents.ts'

export interface ReleaseShare {
  readonly version: string
  readonly components: number
  /** Images that no release before it on the path has; the release image counts. */
  readonly newImages: number
  /** Layers, configs and nothing else, each once. */
  readonly bytes: number
  /** Of those, what no release before it on the path has. */
  readonly newBytes: number
  /** Components whose size could not be found out. */
  readonly unknown: number
  /** Of the first of them. */
  readonly problem?: ContentsProblem
}

export interface PathShares {
  /** In the order of the path. */
  readonly releases: readonly ReleaseShare[]
  /** Of the whole path, every blob once. */
  readonly bytes: number
}

export interface PathSharesOptions {
  readonly source: ContentSource
  readonly architecture: string
  readonly signal: AbortSignal
  /** Told what is being read. */
  readonly tell?: (line: string) => void
}

/** A release has some 190 manifests to read, 16 at a time: more releases at once would only wait for each other. */
const releasesAtOnce = 2

/**
 * @throws KnownError as `readReleaseContents`
 */
export async function readPathShares(
  releases: readonly UpdateRelease[],
  { tell, ...options }: PathSharesOptions,
): Promise<PathShares> {
  const contents = await mapConcurrently(releases, releasesAtOnce, async ({ version, payload }) => {
    tell?.(`reading the manifests of ${version}`)
    return readReleaseContents(parseReference(payload), { ...options, withImages: true })
  })
  return pathShares(contents)
}

/** Pure: the shares of releases in the order in which they are mirrored. */
function pathShares(contents: readonly ReleaseContents[]): PathShares {
  const images = new Set<Digest>()
  const blobs = new Map<Digest, number>()
  const releases = contents.map((release) => shareOf(release, images, blobs))
  return { releases, bytes: sum(blobs.values()) }
}

function shareOf(release: ReleaseContents, images: Set<Digest>, known: Map<Digest, number>): ReleaseShare {
  const { version, image, components } = release
  const stored = [image, ...components.flatMap((component) => component.image ?? [])]
  const own = new Map(stored.flatMap((one) => one.blobs).map(({ digest, size }) => [digest, size]))
  const fresh = new Map([...own].filter(([digest]) => !known.has(digest)))
  const newImages = new Set(stored.map(({ digest }) => digest)).difference(images)
  const problem = components.find((component) => component.problem !== undefined)?.problem
  for (const digest of newImages) images.add(digest)
  for (const [digest, size] of fresh) known.set(digest, size)
  return {
    version,
    components: components.length,
    newImages: newImages.size,
    bytes: sum(own.values()),
    newBytes: sum(fresh.values()),
    unknown: components.filter((component) => component.image === undefined).length,
    ...(problem && { problem }),
  }
}

function sum(sizes: Iterable<number>): number {
  let total = 0
  for (const size of sizes) total += size
  return total
}
