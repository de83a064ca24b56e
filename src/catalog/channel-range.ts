/** Which entries of a channel a range of versions keeps. */
import type { SemVer } from 'semver'
import type { ChannelGraph } from './channel-graph.ts'
import type { VersionRange } from './select-versions.ts'

/** The version of a bundle by its name; undefined where it has none, or is not in the catalog. */
export type VersionOf = (bundle: string) => SemVer | undefined

interface RangeKept {
  readonly entries: ReadonlySet<string>
  /** Those of them that lie outside the range and are kept all the same, from the head down. */
  readonly links: readonly string[]
}

/**
 * The shortest part of the replaces chain that has every bundle of the range on it or skipped from it, and those skipped.
 *
 * Each bundle of the range is counted where it first shows itself from the tail upwards. The new head is the lowest entry
 * that has as many as the old head at or below it; the new tail the last one that has any. What lies between is kept,
 * also outside the range: without it the channel would have several heads.
 *
 * Source: sherine-k/catalog-filter `pkg/filter/mirror-config/v1alpha1/channel.go` (filterByVersionRange).
 */
export function entriesInRange(graph: ChannelGraph, range: VersionRange, versionOf: VersionOf): RangeKept {
  const isWanted = (name: string): boolean => {
    const version = versionOf(name)
    return version !== undefined && range.includes(version)
  }
  const { chain, entries } = graph
  const skipsOf = (name: string): readonly string[] => entries.get(name)?.skips ?? []
  const seen = new Set<string>()
  const gains = chain.toReversed().map((name) => {
    const before = seen.size
    for (const candidate of [name, ...skipsOf(name)]) if (isWanted(candidate)) seen.add(candidate)
    return seen.size > before
  })
  gains.reverse()
  const [head, tail] = [gains.indexOf(true), gains.lastIndexOf(true)]
  if (head < 0) return { entries: new Set(), links: [] }
  const kept = chain.slice(head, tail + 1)
  const links = kept.filter((name) => !isWanted(name))
  return { entries: new Set([...kept, ...kept.flatMap((name) => skipsOf(name).filter(isWanted))]), links }
}
