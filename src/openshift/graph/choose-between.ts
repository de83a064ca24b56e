/**
 * The way from the first of several channels to the last.
 *
 * Where a configuration names several OCP channels, oc-mirror also takes the releases of an update path from the lowest
 * release of all to the highest (openshift/oc-mirror `internal/pkg/release/cincinnati.go`, getCrossChannelDownloads). It
 * leads over the head of each channel there, and ends silently where the next channel does not have that head; here it is
 * the safest path over all channels between.
 */
import * as semver from 'semver'
import { KnownError } from '../../errors/known-error.ts'
import { channelsAround, parseChannelName } from './channel-names.ts'
import { type ChannelRequest, type ChosenReleases, endsOf, type TakenRisk } from './choose-releases.ts'
import { mergeGraphs, type UpdateGraph } from './update-graph.ts'
import { shortestUpdatePath, type UpdatePath } from './update-path.ts'

export interface AnsweredRequest {
  readonly request: ChannelRequest
  /** The answers for `channelsFor(request)`, merged. */
  readonly graph: UpdateGraph
}

export interface ChosenBetween extends ChosenReleases {
  /** Why there is no way, where there is none: then nothing is chosen. */
  readonly unreached?: KnownError
}

/** The channels between the first and the last OCP channel, both included; empty where there are fewer than two. */
export function channelsBetween(requests: readonly ChannelRequest[]): readonly string[] {
  const names = requests.flatMap(({ type, name }) => (type === 'ocp' ? [name] : []))
  const minors = names.flatMap((name) => parseChannelName(name) ?? [])
  const [lowest] = minors.toSorted((a, b) => a.major - b.major || a.minor - b.minor)
  if (names.length < 2 || !lowest) return []
  const around = channelsAround(`${lowest.prefix}-${lowest.major}.${lowest.minor}`, minors)
  return [...new Set([...around, ...names])]
}

/**
 * @param between the answers for `channelsBetween` that are at hand
 * @throws KnownError RELEASE_UNKNOWN, CONFIG_INVALID as for each request alone
 */
export function chooseBetween(
  answered: readonly AnsweredRequest[],
  between: readonly UpdateGraph[],
  options: { filter?: RegExp } = {},
): ChosenBetween {
  const asked = answered.filter(({ request }) => request.type === 'ocp')
  const ends = asked.map(({ request, graph }) => endsOf(graph, request, options))
  const from = ends.map(({ min }) => min).toSorted(semver.compareBuild)[0]
  const to = ends
    .map(({ max }) => max)
    .toSorted(semver.compareBuild)
    .at(-1)
  if (asked.length < 2 || from === undefined || to === undefined) return { releases: [], risks: [] }
  try {
    const graph = mergeGraphs([...asked.map((one) => one.graph), ...between])
    return alongPath(shortestUpdatePath(graph, { from, to }), { from, to })
  } catch (unreached) {
    if (!(unreached instanceof KnownError) || unreached.code !== 'UPDATE_PATH_UNKNOWN') throw unreached
    return { releases: [], risks: [], unreached }
  }
}

function alongPath({ releases, hops }: UpdatePath, { from, to }: { from: string; to: string }): ChosenReleases {
  const why = `update path between channels, from ${from} to ${to}`
  const risks = hops.flatMap((hop) =>
    hop.risks.map((risk): TakenRisk => ({ from: hop.from.version, to: hop.to.version, risk })),
  )
  return { releases: releases.map((release) => ({ ...release, why })), risks }
}
