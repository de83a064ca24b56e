/**
 * The way from one release to another that a person would choose.
 *
 * In this order: the fewest updates with a known risk; then the fewest updates; then the fewest risks; then the highest
 * version at the first place where two such ways differ. Where no risk is in the way it is the path that oc-mirror finds
 * (openshift/oc-mirror `internal/pkg/release`, breadth first, neighbours by descending version).
 */
import * as semver from 'semver'
import { KnownError } from '../../errors/known-error.ts'
import { findRelease } from './find-release.ts'
import type { UpdateEdge, UpdateGraph, UpdateRelease, UpdateRisk } from './update-graph.ts'

export interface UpdateHop {
  readonly from: UpdateRelease
  readonly to: UpdateRelease
  /** Empty: recommended to every cluster. */
  readonly risks: readonly UpdateRisk[]
}

export interface UpdatePath {
  /** In the order in which a cluster has them; one where both ends are the same. */
  readonly releases: readonly UpdateRelease[]
  readonly hops: readonly UpdateHop[]
  /** Hops with a known risk: as few as there can be. */
  readonly riskyHops: number
  /** Other paths with as many hops, risky hops and risks; no more than 2^53 - 1 are counted. */
  readonly alternatives: number
  /** The fewest hops that lead there when no risk is avoided. */
  readonly fewestHops: number
}

/** What it costs to get from a release to the end. */
interface Cost {
  readonly risky: number
  readonly hops: number
  readonly risks: number
}

/**
 * @throws KnownError RELEASE_UNKNOWN, UPDATE_PATH_UNKNOWN
 */
export function shortestUpdatePath(graph: UpdateGraph, { from, to }: { from: string; to: string }): UpdatePath {
  const start = findRelease(graph, from)
  const end = findRelease(graph, to)
  const incoming = edgesInto(graph)
  const costs = costsTo(end, incoming, { avoidsRisks: true })
  const cost = costs[start]
  if (!cost) throw noPath(graph, start, end)
  const hops = hopsAlong(graph, { start, end, costs })
  const first = graph.releases[start]
  return {
    releases: [...(first ? [first] : []), ...hops.map((hop) => hop.to)],
    hops,
    riskyHops: cost.risky,
    alternatives: countPaths(graph, { start, end, costs }) - 1,
    fewestHops: costsTo(end, incoming, { avoidsRisks: false })[start]?.hops ?? 0,
  }
}

/**
 * The least cost from every release to `end`; undefined where none leads there.
 *
 * One level for each number of risky hops; within it, breadth first. A release is settled once, so circles end.
 */
function costsTo(
  end: number,
  incoming: IncomingEdges,
  { avoidsRisks }: { avoidsRisks: boolean },
): readonly (Cost | undefined)[] {
  const costs = new Array<Cost | undefined>(incoming.length).fill(undefined)
  let level = new Rounds()
  level.add(end, { hops: 0, risks: 0 })
  for (let risky = 0; !level.isEmpty; risky += 1) {
    const next = new Rounds()
    for (const [place, { hops, risks }] of level) {
      if (costs[place]) continue
      costs[place] = { risky, hops, risks }
      for (const edge of incoming[place] ?? []) {
        if (costs[edge.from]) continue
        const rest = { hops: hops + 1, risks: avoidsRisks ? risks + edge.risks : 0 }
        ;(avoidsRisks && edge.risks > 0 ? next : level).add(edge.from, rest)
      }
    }
    level = next
  }
  return costs
}

type Rest = Omit<Cost, 'risky'>

/** Releases by the number of hops to go, the nearest first; while it is walked, more may be added that are further away. */
class Rounds {
  readonly #risksByHops: Map<number, number>[] = []

  get isEmpty(): boolean {
    return this.#risksByHops.length === 0
  }

  add(place: number, { hops, risks }: Rest): void {
    let round = this.#risksByHops[hops]
    if (!round) this.#risksByHops[hops] = round = new Map()
    round.set(place, Math.min(round.get(place) ?? risks, risks))
  }

  *[Symbol.iterator](): Generator<[number, Rest]> {
    for (let hops = 0; hops < this.#risksByHops.length; hops += 1) {
      for (const [place, risks] of this.#risksByHops[hops] ?? []) yield [place, { hops, risks }]
    }
  }
}

interface IncomingEdge {
  readonly from: number
  /** How many. */
  readonly risks: number
}

type IncomingEdges = readonly (readonly IncomingEdge[])[]

/** By the release that they lead to. */
function edgesInto(graph: UpdateGraph): IncomingEdges {
  const incoming = graph.releases.map((): IncomingEdge[] => [])
  for (const [from, edges] of graph.edges.entries()) {
    for (const { to, risks } of edges) incoming[to]?.push({ from, risks: risks.length })
  }
  return incoming
}

interface Ends {
  readonly start: number
  readonly end: number
  readonly costs: readonly (Cost | undefined)[]
}

/** The edges of a release that are on a best path to the end. */
function bestEdges(graph: UpdateGraph, place: number, costs: Ends['costs']): readonly UpdateEdge[] {
  const own = costs[place]
  return (graph.edges[place] ?? []).filter(({ to, risks: { length } }) => {
    const rest = costs[to]
    if (!own || !rest) return false
    const risky = rest.risky + Math.min(length, 1)
    return risky === own.risky && rest.hops + 1 === own.hops && rest.risks + length === own.risks
  })
}

function hopsAlong(graph: UpdateGraph, { start, end, costs }: Ends): readonly UpdateHop[] {
  const hops: UpdateHop[] = []
  for (let place = start; place !== end; ) {
    const [edge] = bestEdges(graph, place, costs).toSorted((a, b) => descending(graph, a.to, b.to))
    const [from, to] = [graph.releases[place], edge && graph.releases[edge.to]]
    if (!edge || !from || !to) break
    hops.push({ from, to, risks: edge.risks })
    place = edge.to
  }
  return hops
}

function descending(graph: UpdateGraph, a: number, b: number): number {
  return semver.compareBuild(graph.releases[b]?.version ?? '0.0.0', graph.releases[a]?.version ?? '0.0.0')
}

/** How many best paths there are: each hop leads to a release with one hop less to go. */
function countPaths(graph: UpdateGraph, { start, end, costs }: Ends): number {
  let ways = new Map<number, number>([[start, 1]])
  while (ways.size > 0 && !ways.has(end)) {
    const next = new Map<number, number>()
    for (const [place, count] of ways) {
      for (const { to } of bestEdges(graph, place, costs)) {
        next.set(to, Math.min((next.get(to) ?? 0) + count, Number.MAX_SAFE_INTEGER))
      }
    }
    ways = next
  }
  return ways.get(end) ?? 1
}

function noPath(graph: UpdateGraph, start: number, end: number): KnownError {
  const [from, to] = [graph.releases[start]?.version ?? '', graph.releases[end]?.version ?? '']
  const outgoing = graph.edges.map((edges) => edges.map((edge): IncomingEdge => ({ from: edge.to, risks: 0 })))
  const before = namesOf(graph, costsTo(end, edgesInto(graph), { avoidsRisks: false }))
  const after = namesOf(graph, costsTo(start, outgoing, { avoidsRisks: false }))
  const reached =
    after.length > 1 ? `${from} leads to ${spanOf(after.filter((one) => one !== from))}` : `${from} leads nowhere`
  const leading =
    before.length > 1 ? `${to} is reached from ${spanOf(before.filter((one) => one !== to))}` : `nothing leads to ${to}`
  return new KnownError('UPDATE_PATH_UNKNOWN', `no updates lead from ${from} to ${to}: ${reached}, and ${leading}`, {
    details: { from, to, reached: after.join(' '), leading: before.join(' ') },
  })
}

function namesOf(graph: UpdateGraph, costs: readonly (Cost | undefined)[]): readonly string[] {
  const names = graph.releases.flatMap(({ version }, index) => (costs[index] ? [version] : []))
  return names.toSorted(semver.compareBuild)
}

function spanOf(versions: readonly string[]): string {
  const [first, last] = [versions[0], versions.at(-1)]
  if (versions.length <= 3) return versions.join(', ')
  return `${versions.length} releases from ${first} to ${last}`
}
