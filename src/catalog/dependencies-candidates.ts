/** Which bundle of the catalogs would meet a requirement best, in the order in which OLM would look. */
import { channelGraph } from './channel-graph.ts'
import { meets } from './dependencies-requirement.ts'
import type { BundleMeta, Catalog, Requirement } from './meta.ts'
import { stopsOf } from './upgrade-path.ts'

/** A bundle that a cluster could be given, in the channel that gives it. */
export interface Candidate {
  readonly bundle: BundleMeta
  readonly channel: string
}

export interface Search {
  /** The first that meets it for certain; else `maybe`, where one might. */
  readonly found?: Candidate
  readonly isMaybe: boolean
}

/** The first candidate that meets the requirement. */
export function searchCandidates(candidates: readonly Candidate[], requirement: Requirement): Search {
  let isMaybe = false
  for (const candidate of candidates) {
    const judgement = meets(candidate.bundle, requirement)
    if (judgement === 'yes') return { found: candidate, isMaybe }
    if (judgement === 'unknown') isMaybe = true
  }
  return { isMaybe }
}

/**
 * Every bundle that OLM would install from this catalog, the preferred first: default channels before the others, packages
 * and channels by name, and in each from the head downwards. Channels that cannot be followed have none.
 *
 * Source: operator-framework/operator-lifecycle-manager `pkg/controller/registry/resolver/resolver.go` (sortBundles).
 */
export function candidatesOf(catalog: Catalog): Candidate[] {
  const ofDefaults: Candidate[] = []
  const ofOthers: Candidate[] = []
  for (const name of [...catalog.packages.keys()].sort()) {
    const of = catalog.packages.get(name)
    if (of === undefined) continue
    for (const channel of [...of.channels.keys()].sort()) {
      const graph = channelGraph(of.channels.get(channel)?.entries ?? [])
      if (graph.flaws.length > 0) continue
      const list = channel === of.meta.defaultChannel ? ofDefaults : ofOthers
      for (const stop of stopsOf(graph)) {
        const bundle = of.bundles.get(stop)
        if (bundle !== undefined) list.push({ bundle, channel })
      }
    }
  }
  return [...ofDefaults, ...ofOthers]
}
