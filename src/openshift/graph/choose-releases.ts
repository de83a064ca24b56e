/**
 * Which releases a channel of the configuration asks for.
 *
 * As oc-mirror chooses (openshift/oc-mirror `internal/pkg/release/cincinnati.go`), but for this: an end of a range that no
 * channel has is told, and where nothing lies in the range it is an error; a path avoids known risks, and where there is none it is an error, where
 * oc-mirror takes both ends alone; a range that begins in an earlier minor than the channel holds is read from the
 * channels of all minors between.
 */
import * as semver from 'semver'
import { KnownError } from '../../errors/known-error.ts'
import { channelsAround } from './channel-names.ts'
import { indexOfVersion, unknownRelease } from './find-release.ts'
import { channelsOf, subgraph, type UpdateGraph, type UpdateRelease, type UpdateRisk } from './update-graph.ts'
import { shortestUpdatePath, type UpdatePath } from './update-path.ts'

export interface ChannelRequest {
  readonly type: 'ocp' | 'okd'
  /** `stable-4.18`, `eus-4.16`; OKD: `stable-4`, `stable-scos-4`. */
  readonly name: string
  readonly minVersion?: string
  readonly maxVersion?: string
  readonly shortestPath?: boolean
  readonly full?: boolean
}

export interface ChosenRelease extends UpdateRelease {
  /** Why it is mirrored, for a person: `head of stable-4.18`. */
  readonly why: string
}

export interface TakenRisk {
  readonly from: string
  readonly to: string
  readonly risk: UpdateRisk
}

export interface ChosenReleases {
  /** From the lowest version to the highest. */
  readonly releases: readonly ChosenRelease[]
  /** Risks that even the safest way from the lowest to the highest of them takes; none where no way was asked for. */
  readonly risks: readonly TakenRisk[]
  /** With `shortestPath`: the path that the releases are of. */
  readonly path?: UpdatePath
  /** Ends of the range that are no release of any channel asked: 4.18.0 is in no stable channel, and often written. */
  readonly absent?: readonly string[]
}

interface ChooseOptions {
  /** Head and first release of a channel are among the versions that match (`VERSION_FILTER`); a range is not filtered. */
  readonly filter?: RegExp
  /** Answers of other channels: an unknown version is looked for there, to be named in the message. */
  readonly others?: readonly UpdateGraph[]
}

/** Every channel whose answer is needed, the lowest minor first. Without those beside `request.name` a choice is still made. */
export function channelsFor({ name, minVersion, maxVersion }: ChannelRequest): readonly string[] {
  const versions = [minVersion, maxVersion].flatMap((version) => semver.parse(version) ?? [])
  return channelsAround(name, versions)
}

/**
 * The releases of a request.
 *
 * @param graph the answers for `channelsFor(request)`, merged
 * @throws KnownError RELEASE_UNKNOWN, UPDATE_PATH_UNKNOWN; CONFIG_INVALID where minVersion comes after maxVersion
 */
export function chooseReleases(
  graph: UpdateGraph,
  request: ChannelRequest,
  options: ChooseOptions = {},
): ChosenReleases {
  const ends = endsOf(graph, request, options)
  if (request.shortestPath) return alongPath(safestPath(graph, ends), request)
  const { min, max, pool } = ends
  const within = pool.filter(({ version }) => semver.gte(version, min) && semver.lte(version, max))
  const { absent } = ends
  const [missing] = absent
  if (within.length === 0 && missing !== undefined)
    throw unknownRelease(ends.own, missing, { where: request.name, others: options.others })
  const releases = within.map((release) => ({ ...release, why: reasonFor(release.version, request, ends) }))
  const risks = request.minVersion === undefined ? [] : risksAmong(subgraph(graph, within), within)
  return { releases, risks, ...(absent.length > 0 && { absent }) }
}

export interface ChannelEnds {
  readonly min: string
  readonly max: string
  /** Releases of the channel itself, from the lowest. */
  readonly own: readonly UpdateRelease[]
  /** Where to choose from: `own`, or every channel between where `own` lacks an end. */
  readonly pool: readonly UpdateRelease[]
  /** Those of the ends that are no release. */
  readonly absent: readonly string[]
}

/** The lowest and the highest release that a request asks for. */
export function endsOf(graph: UpdateGraph, request: ChannelRequest, options: ChooseOptions = {}): ChannelEnds {
  const { minVersion, maxVersion } = request
  const all = ascending(graph.releases)
  const own = releasesIn(all, request)
  const candidates = own.filter(({ version }) => options.filter?.test(version) ?? true)
  const [first, head] = [candidates[0]?.version, candidates.at(-1)?.version]
  if (first === undefined || head === undefined) throw emptyChannel(own, request, options)
  const known = (version: string) => {
    const release = all[indexOfVersion(all, version)]
    if (!release && request.shortestPath)
      throw unknownRelease(own, version, { where: request.name, others: options.others })
    return release?.version ?? version
  }
  const max = maxVersion === undefined ? head : known(maxVersion)
  const isHeadOnly = !request.full && maxVersion === undefined
  const min = minVersion === undefined ? (isHeadOnly ? head : first) : known(minVersion)
  if (semver.gt(min, max)) throw reversedRange(request, min, max)
  const absent = [...new Set([min, max])].filter((version) => indexOfVersion(all, version) === -1)
  const isOwn = [min, max].every((version) => absent.includes(version) || indexOfVersion(own, version) !== -1)
  return { min, max, own, pool: isOwn ? own : all, absent }
}

function ascending(releases: readonly UpdateRelease[]): readonly UpdateRelease[] {
  return releases.toSorted((a, b) => semver.compareBuild(a.version, b.version))
}

/** Of a single answer every release; of several, those that the service lists in the channel. */
function releasesIn(releases: readonly UpdateRelease[], request: ChannelRequest): readonly UpdateRelease[] {
  if (channelsFor(request).length === 1) return releases
  const listed = releases.filter((release) => channelsOf(release)?.includes(request.name) ?? true)
  return listed.length > 0 ? listed : releases
}

/** Within the channel where that is as safe, since a cluster follows one channel at a time. */
function safestPath(graph: UpdateGraph, { min, max, own, pool }: ChannelEnds): UpdatePath {
  const ends = { from: min, to: max }
  if (pool !== own) return shortestUpdatePath(graph, ends)
  const inside = pathIfAny(subgraph(graph, own), ends)
  const anywhere = inside?.riskyHops === 0 ? inside : shortestUpdatePath(graph, ends)
  return inside && inside.riskyHops <= anywhere.riskyHops ? inside : anywhere
}

function pathIfAny(graph: UpdateGraph, ends: { from: string; to: string }): UpdatePath | undefined {
  try {
    return shortestUpdatePath(graph, ends)
  } catch (error) {
    if (error instanceof KnownError && error.code === 'UPDATE_PATH_UNKNOWN') return undefined
    throw error
  }
}

function alongPath(path: UpdatePath, { name }: ChannelRequest): ChosenReleases {
  const [from, to] = [path.releases[0]?.version, path.releases.at(-1)?.version]
  const reason = (index: number) =>
    from === to
      ? `${from} of ${name}`
      : `update path from ${from} to ${to} in ${name}, ${index} of ${path.hops.length} updates`
  const releases = path.releases.map((release, index) => ({ ...release, why: reason(index) }))
  return { releases, risks: risksOf(path), path }
}

function risksOf({ hops }: UpdatePath): readonly TakenRisk[] {
  return hops.flatMap(({ from, to, risks }) => risks.map((risk) => ({ from: from.version, to: to.version, risk })))
}

function risksAmong(graph: UpdateGraph, within: readonly UpdateRelease[]): readonly TakenRisk[] {
  const [from, to] = [within[0]?.version, within.at(-1)?.version]
  const path = from !== undefined && to !== undefined ? pathIfAny(graph, { from, to }) : undefined
  return path ? risksOf(path) : []
}

function reasonFor(version: string, request: ChannelRequest, { min, max }: ChannelEnds): string {
  const { name, minVersion, maxVersion, full } = request
  if (version === max && maxVersion === undefined) return `head of ${name}`
  if (version === max) return `maxVersion of ${name}`
  if (version === min && minVersion !== undefined) return `minVersion of ${name}`
  if (full && minVersion === undefined && maxVersion === undefined) return `all of ${name}`
  return `${name} from ${min} to ${max}`
}

function emptyChannel(own: readonly UpdateRelease[], { name }: ChannelRequest, { filter }: ChooseOptions): KnownError {
  if (own.length > 0)
    return new KnownError('RELEASE_UNKNOWN', `no release of ${name} matches VERSION_FILTER ${filter?.source}`, {
      details: { channel: name },
      hint: `${name} has releases from ${own[0]?.version} to ${own.at(-1)?.version}. Correct the regular expression, or unset VERSION_FILTER.`,
    })
  return new KnownError('RELEASE_UNKNOWN', `channel ${name} has no release for this architecture`, {
    details: { channel: name },
    hint: 'Check the name of the channel; the update service answers for one that does not exist as for one that is empty.',
  })
}

function reversedRange({ name, minVersion, maxVersion }: ChannelRequest, min: string, max: string): KnownError {
  const [low, high] = [
    minVersion === undefined ? 'first release' : 'minVersion',
    maxVersion === undefined ? 'head' : 'maxVersion',
  ]
  return new KnownError('CONFIG_INVALID', `channel ${name}: ${low} ${min} comes after ${high} ${max}`, {
    details: { channel: name, min, max },
  })
}
