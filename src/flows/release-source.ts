/** Where a release is read from: a registry, archives, or what oc-mirror v2 wrote. Nothing is unpacked. */
import { openOcMirrorArchive } from '../archive/oc-mirror/oc-mirror-archive.ts'
import type { Archive } from '../archive/read/archive.ts'
import { archiveSource } from '../archive/read/archive-source.ts'
import { type FoundArchive, findArchives } from '../archive/read/find-archives.ts'
import { openWithRepairs } from '../archive/read/repaired-archive.ts'
import { KnownError } from '../errors/known-error.ts'
import { releaseRepositories } from '../mirror/destination.ts'
import { storedNames } from '../mirror/oc-mirror-names.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { releaseTag } from '../openshift/release-tag.ts'

export type ReleaseLocation =
  | { readonly kind: 'registry'; readonly reference: Reference }
  | ({ readonly kind: 'archives'; readonly archives: readonly FoundArchive[] } & WantedRelease)
  | ({ readonly kind: 'oc-mirror'; readonly directory: string } & WantedRelease)

interface WantedRelease {
  /** A version, the tag, the digest or the whole name of a release image. Absent: the only one that is there. */
  readonly release?: string | undefined
  /** As Go names it, or `multi`: chooses where a version is there for several architectures. */
  readonly architecture?: string | undefined
}

export interface ReleaseSourceOptions {
  /** Reads through registries.conf. */
  readonly registry: ContentSource
  readonly signal?: AbortSignal
}

export interface ReleaseSource {
  /** Has the release image, and its components under the names in the payload. */
  readonly source: ContentSource
  readonly reference: Reference
  /** For people: the name of the image, or which archive it is in and where that is. */
  readonly origin: string
  /** True for content that should be in the archives and is not: a hole, or what lies in a volume that is not here. */
  readonly isMissing?: (digest: Digest) => boolean
  readonly close: () => Promise<void>
}

/**
 * @throws KnownError RELEASE_ABSENT, USAGE where several releases are there and none is named, and what opening an archive
 * throws. That the image exists at a registry is found out by reading it.
 */
export async function openReleaseSource(
  location: ReleaseLocation,
  { registry, signal }: ReleaseSourceOptions,
): Promise<ReleaseSource> {
  switch (location.kind) {
    case 'registry': {
      const { reference } = location
      return { source: registry, reference, origin: formatReference(reference), close: async () => undefined }
    }
    case 'archives':
      return openArchives(location)
    case 'oc-mirror':
      return openOcMirror(location, signal)
  }
}

/** A release image that is to be had somewhere. */
interface Candidate {
  readonly reference: Reference
  readonly digest: Digest
  /** The tag that it gets at a target: version and architecture, unless it was asked for by digest. */
  readonly tag: string
}

async function openArchives({
  archives: named,
  ...wanted
}: Extract<ReleaseLocation, { kind: 'archives' }>): Promise<ReleaseSource> {
  const opened = await openAll(named)
  const close = async () => {
    for (const archive of opened) await archive.close()
  }
  try {
    const isNamed = new Set(named.map(({ stem }) => stem))
    const asked = opened.filter(({ found }) => isNamed.has(found.stem))
    const place = `the archives in ${named[0]?.directory}`
    const { reference, digest } = chooseRelease(candidatesOf(asked), wanted, place)
    const carrier = asked.findLast(({ record }) => record.images.some((image) => image.digest === digest))
    const origin = carrier ? `${carrier.found.stem} in ${carrier.found.directory}` : place
    const isMissing = (blob: Digest) => {
      const carriers = opened.filter(({ blobs }) => blobs.get(blob)?.place !== undefined)
      return carriers.length > 0 && !carriers.some((archive) => archive.has(blob))
    }
    return { source: archiveSource(opened), reference, origin, isMissing, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Those that are named, and what lies before them in their directory: an increment carries only what is new. */
async function openAll(named: readonly FoundArchive[]): Promise<readonly Archive[]> {
  const beside = named[0] ? await findArchives(named[0].directory) : []
  const last = Math.max(...named.map(({ sequence }) => sequence))
  const isNamed = new Set(named.map(({ stem }) => stem))
  const opened: Archive[] = []
  try {
    for (const found of beside.filter(({ isRepair, sequence }) => !isRepair && sequence <= last)) {
      const archive = await openWithRepairs(found, beside).catch((error: unknown) => {
        if (isNamed.has(found.stem) || !(error instanceof KnownError)) throw error
        return undefined
      })
      if (archive) opened.push(archive)
    }
    return opened
  } catch (error) {
    for (const archive of opened) await archive.close()
    throw error
  }
}

function candidatesOf(archives: readonly Archive[]): readonly Candidate[] {
  const images = archives.flatMap(({ record }) => record.images)
  const releases = images.filter(({ isReleaseImage, attachedTo }) => isReleaseImage && attachedTo === undefined)
  const candidates = releases.map(({ source, digest, destination }): Candidate => {
    const { registry, repository, tag } = parseReference(source)
    const tagAtTarget = destination.slice(destination.lastIndexOf(':') + 1)
    return { reference: { registry, repository, ...(tag !== undefined && { tag }), digest }, digest, tag: tagAtTarget }
  })
  return [...new Map(candidates.map((one) => [`${one.tag} ${one.digest}`, one])).values()]
}

async function openOcMirror(
  { directory, ...wanted }: Extract<ReleaseLocation, { kind: 'oc-mirror' }>,
  signal: AbortSignal | undefined,
): Promise<ReleaseSource> {
  const archive = await openOcMirrorArchive(directory, { ...(signal && { signal }) })
  if (!archive) throw absent(`There is no archive in ${directory}`)
  const stored = await archive.images()
  const candidates = stored
    .filter(({ repository, tag }) => repository === releaseRepositories.images && !tag.endsWith('.sig'))
    .map(({ tag, digest }): Candidate => ({ reference: { ...upstreamRelease, tag, digest }, digest, tag }))
  const origin = `what oc-mirror wrote in ${directory}`
  const { reference } = chooseRelease(candidates, wanted, origin)
  const source = archive.viewedWith({ names: storedNames({}) })
  return { source, reference, origin, close: async () => undefined }
}

/** oc-mirror keeps no names of registries. */
const upstreamRelease = { registry: 'quay.io', repository: 'openshift-release-dev/ocp-release' } as const

/** The pullspec of a release of OpenShift, by its version. */
export function releaseByVersion(version: string, architecture: string): Reference {
  return { ...upstreamRelease, tag: releaseTag(version, architecture) }
}

function chooseRelease(candidates: readonly Candidate[], wanted: WantedRelease, place: string): Candidate {
  const { release, architecture } = wanted
  const named = candidates.filter((candidate) => isNamed(candidate, release))
  const exact = named.filter(({ tag }) => architecture !== undefined && architectureOf(tag) === architecture)
  const matching = exact.length > 0 ? exact : named.filter(({ tag }) => mayHave(tag, architecture))
  const names = (list: readonly Candidate[]) => list.map(({ tag }) => tag).join(', ')
  const [first, ...others] = matching
  if (first && others.length === 0) return first
  if (first) {
    throw new KnownError('USAGE', `${place}: there are ${matching.length} releases: ${names(matching)}`, {
      hint: 'Name one of them: --release VERSION, with --arch where there are several of one version.',
      details: { releases: names(matching) },
    })
  }
  if (candidates.length === 0) throw absent(`${place}: there is no release image`)
  const said = [release, architecture && `for ${architecture}`].filter(Boolean).join(' ')
  throw absent(`${place}: there is no release ${said}; there is: ${names(candidates)}`)
}

function isNamed({ reference, digest, tag }: Candidate, release: string | undefined): boolean {
  if (release === undefined || release === digest || release === tag) return true
  const { digest: _, ...named } = reference
  const tags = architectures.map((architecture) => releaseTag(release, architecture))
  return tags.includes(tag) || release === formatReference(named)
}

const architectures = ['amd64', 'arm64', 'ppc64le', 's390x', 'multi']

/** Undefined where the tag names none: a release of OKD, or one asked for by digest. */
function architectureOf(tag: string): string | undefined {
  return architectures.find((architecture) => tag.endsWith(releaseTag('', architecture)))
}

function mayHave(tag: string, architecture: string | undefined): boolean {
  const own = architectureOf(tag)
  return architecture === undefined || own === undefined || own === 'multi'
}

function absent(message: string): KnownError {
  return new KnownError('RELEASE_ABSENT', message)
}
