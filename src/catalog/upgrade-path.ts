/**
 * The way of an installed operator to the head of a channel, as OLM goes it.
 *
 * OLM looks from the head downwards for the first entry that can take the place of what is installed: it replaces it, skips
 * it, or its skipRange has its version in it. That one is installed, and OLM looks again. Entries that others skip are
 * never stopped at.
 *
 * Source: operator-framework/operator-lifecycle-manager `pkg/controller/registry/resolver/resolver.go`
 * (getSubscriptionVariables, sortChannel), `resolver/cache/predicates.go` (ReplacesPredicate, SkipRangeIncludesPredicate).
 */
import type { SemVer } from 'semver'
import type { ChannelGraph } from './channel-graph.ts'
import type { VersionOf } from './channel-range.ts'
import { catalogRange } from './select-versions.ts'

interface Installed {
  readonly version: SemVer
  /** The bundles of the package that have this version; none where the catalog has none any longer. */
  readonly names: readonly string[]
}

export interface UpgradePath {
  /** In the order in which they are installed, without the installed one. */
  readonly steps: readonly string[]
  /** False where no entry leads further and the head is not reached. */
  readonly reachesHead: boolean
}

export function upgradePath(graph: ChannelGraph, installed: Installed, versionOf: VersionOf): UpgradePath {
  const stops = stopsOf(graph)
  const head = graph.heads[0]
  const steps: string[] = []
  let current: { version: SemVer | undefined; names: readonly string[] } = installed
  while (head !== undefined && !current.names.includes(head)) {
    const { names, version } = current
    const next = stops.find((stop) => !steps.includes(stop) && takesPlaceOf(graph, stop, { names, version }))
    if (next === undefined) return { steps, reachesHead: false }
    steps.push(next)
    current = { names: [next], version: versionOf(next) }
  }
  return { steps, reachesHead: head !== undefined }
}

/** Where OLM may stop: the replaces chain from the head, without what any entry skips. */
export function stopsOf(graph: ChannelGraph): string[] {
  const skipped = new Set([...graph.entries.values()].flatMap(({ skips }) => skips))
  return graph.chain.filter((name) => !skipped.has(name))
}

interface Current {
  readonly version: SemVer | undefined
  readonly names: readonly string[]
}

function takesPlaceOf(graph: ChannelGraph, candidate: string, { names, version }: Current): boolean {
  const entry = graph.entries.get(candidate)
  if (entry === undefined || names.includes(candidate)) return false
  if (names.some((name) => entry.replaces === name || entry.skips.includes(name))) return true
  if (entry.skipRange === undefined || version === undefined) return false
  return catalogRange(entry.skipRange)?.includes(version) ?? false
}
