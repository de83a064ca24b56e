/** Which entries of one channel are kept, and why each of the others is not. */

import type { SemVer } from 'semver'
import { flawedChannel, namedApart } from './channel-flaws.ts'
import { type ChannelGraph, channelGraph, edgesOf, heldTogether } from './channel-graph.ts'
import { entriesInRange } from './channel-range.ts'
import type { ChannelEntry, ChannelMeta } from './meta.ts'
import type { ChannelWish } from './select-request.ts'
import type { BundleReason, KeptBecause, LeftOutBecause } from './selection.ts'
import { upgradePath } from './upgrade-path.ts'

export interface ChannelChoice {
  readonly graph: ChannelGraph
  /** Those kept, in the order of the catalog; empty where nothing of the channel is wanted. */
  readonly entries: readonly ChannelEntry[]
  /** For every entry of the channel. */
  readonly reasons: ReadonlyMap<string, BundleReason>
  /** Said where nothing is kept: what was wanted, and what there is. */
  readonly nothing?: string
}

/** Versions of the bundles of a package by their names; those that have one. */
export type BundleVersions = ReadonlyMap<string, SemVer>

interface ChannelParts {
  readonly channel: ChannelMeta
  readonly wish: ChannelWish
  readonly versions: BundleVersions
}

/** @throws KnownError CATALOG_SELECTION_INVALID where the graph of the channel, or of what is named, has flaws */
export function chooseEntries({ channel, wish, versions }: ChannelParts): ChannelChoice {
  const graph = channelGraph(channel.entries)
  const chosen = wanted({ channel, wish, versions }, graph)
  const entries = channel.entries.filter(({ name }) => chosen.kept.has(name))
  const reasons = new Map<string, BundleReason>()
  for (const name of graph.entries.keys()) {
    const because = chosen.kept.get(name)
    if (because === undefined)
      reasons.set(name, leftOut(name, { graph, chosen, versions, channel: channel.name, wish }))
    else reasons.set(name, { isKept: true, because, text: keptText(because, { channel: channel.name, wish }) })
  }
  return { graph, entries, reasons, ...(chosen.nothing !== undefined && { nothing: chosen.nothing }) }
}

interface Chosen {
  readonly kept: ReadonlyMap<string, KeptBecause>
  readonly nothing?: string
}

function wanted(parts: ChannelParts, graph: ChannelGraph): Chosen {
  const { channel, wish, versions } = parts
  if (wish.kind === 'full') return { kept: marked(graph.entries.keys(), 'full') }
  if (wish.kind === 'named') return namedEntries(channel, wish.names)
  if (wish.kind === 'version') return oneVersion(wish, graph, versions)
  if (graph.flaws.length > 0) throw flawedChannel({ package: channel.package, channel: channel.name, graph })
  switch (wish.kind) {
    case 'head':
      return { kept: marked(graph.heads, 'head') }
    case 'heads':
      return {
        kept: new Map([...marked(graph.chain.slice(0, wish.below + 1), 'heads'), ...marked(graph.heads, 'head')]),
      }
    case 'range': {
      const { entries, links } = entriesInRange(graph, wish.range, (name) => versions.get(name))
      const listed = [...entries].filter((name) => graph.entries.has(name))
      const kept = new Map([...marked(listed, 'range'), ...marked(links, 'link')])
      if (kept.size > 0) return { kept }
      return { kept, nothing: `no version in ${wish.range.text}; ${versionsThere(graph, versions)}` }
    }
    case 'path':
      return pathEntries(graph, wish, versions)
  }
}

function marked(names: Iterable<string>, because: KeptBecause): Map<string, KeptBecause> {
  return new Map([...names].map((name) => [name, because]))
}

function namedEntries(channel: ChannelMeta, names: ReadonlySet<string>): Chosen {
  const entries = channel.entries.filter(({ name }) => names.has(name))
  const kept = marked(
    entries.map(({ name }) => name),
    'named',
  )
  if (kept.size === 0) return { kept, nothing: `it has none of ${[...names].join(', ')}` }
  if (channelGraph(entries).flaws.length === 0) return { kept }
  const graph = channelGraph(channel.entries)
  const flawed = { package: channel.package, channel: channel.name, graph }
  throw graph.flaws.length > 0 ? flawedChannel(flawed) : namedApart(flawed, new Set(kept.keys()))
}

function pathEntries(graph: ChannelGraph, wish: ChannelWish & { kind: 'path' }, versions: BundleVersions): Chosen {
  const version = wish.installed
  const installed = { version, names: bundlesOfVersion(version, { versions, graph }) }
  const { steps, reachesHead } = upgradePath(graph, installed, (name) => versions.get(name))
  if (!reachesHead) {
    const end = steps.at(-1)
    const from =
      end === undefined ? `version ${version.raw}` : `${end}, which is as far as ${version.raw} can be updated,`
    const nothing = `no entry takes the place of ${from} on the way to ${graph.heads[0]}; ${versionsThere(graph, versions)}`
    return { kept: new Map(), nothing }
  }
  const path = new Set(steps.length > 0 ? steps : graph.heads)
  return { kept: new Map([...marked(heldTogether(graph, path), 'link'), ...marked(path, 'path')]) }
}

/**
 * One bundle alone needs no order of updates. Of several that differ in their build metadata it is the one written just so,
 * or else the one nearest to the head.
 *
 * Source: sherine-k/catalog-filter v0.0.5 (isSpecificVersion, OCPBUGS-61497), which takes any of several.
 */
function oneVersion(wish: ChannelWish & { kind: 'version' }, graph: ChannelGraph, versions: BundleVersions): Chosen {
  const inOrder = new Set([...graph.chain, ...graph.entries.keys()])
  const same = [...inOrder].filter((name) => versions.get(name)?.compare(wish.version) === 0)
  const [first] = [...same.filter((name) => versions.get(name)?.raw === wish.text), ...same]
  if (first !== undefined) return { kept: marked([first], 'range') }
  return { kept: new Map(), nothing: `no version ${wish.text}; ${versionsThere(graph, versions)}` }
}

interface VersionParts {
  readonly versions: BundleVersions
  readonly graph: ChannelGraph
}

/**
 * The bundles of a version. Where the catalog has none any longer, those that its edges still name and whose names end in
 * the version, as `foo.v1.2.3` does.
 */
function bundlesOfVersion(wanted: SemVer, { versions, graph }: VersionParts): string[] {
  const same = [...versions].filter(([, version]) => version.compare(wanted) === 0)
  const exact = same.filter(([, version]) => version.raw === wanted.raw)
  if (same.length > 0) return (exact.length > 0 ? exact : same).map(([name]) => name)
  const named = new Set([...graph.entries.values()].flatMap(edgesOf))
  return [...named].filter(
    (name) => /^.*?[.-]v?(\d+\.\d+\.\d+.*)$/.exec(name)?.[1] === wanted.raw && !versions.has(name),
  )
}

const mostVersions = 12

/** `there are 1.0.0, 1.1.0, 1.2.0`, the newest of very many. */
function versionsThere(graph: ChannelGraph, known: BundleVersions): string {
  const versions = [...graph.entries.keys()].flatMap((name) => known.get(name) ?? [])
  const newest = versions.toSorted((a, b) => b.compare(a)).map(({ raw }) => raw)
  if (newest.length === 0) return 'none of its bundles has a version'
  const shown = newest.slice(0, mostVersions).reverse().join(', ')
  return newest.length > mostVersions
    ? `the newest ${mostVersions} of ${newest.length} are ${shown}`
    : `there are ${shown}`
}

interface TextParts {
  readonly channel: string
  readonly wish: ChannelWish
}

function keptText(because: KeptBecause, { channel, wish }: TextParts): string {
  const asked = wish.kind === 'range' ? wish.range.text : 'what was asked for'
  const texts: Readonly<Record<KeptBecause, string>> = {
    full: `all versions are asked for (channel ${channel})`,
    head: `head of channel ${channel}`,
    range: `${wish.kind === 'version' ? `version ${wish.text} is asked for` : `in ${asked}`} (channel ${channel})`,
    link: `${wish.kind === 'path' ? 'between two steps of the way to the head' : `outside ${asked}`}, but channel ${channel} would fall apart without it`,
    heads: `at most ${wish.kind === 'heads' ? wish.below : 0} below the head of channel ${channel}`,
    path: `on the way from ${wish.kind === 'path' ? wish.installed.raw : 'the installed version'} to the head of channel ${channel}`,
    named: `named in the configuration (channel ${channel})`,
    dependency: 'required by another kept bundle',
  }
  return texts[because]
}

interface LeftOutParts extends TextParts {
  readonly graph: ChannelGraph
  readonly chosen: Chosen
  readonly versions: BundleVersions
}

function leftOut(name: string, { graph, chosen, versions, channel, wish }: LeftOutParts): BundleReason {
  const because = leftOutBecause(name, { graph, chosen, versions, channel, wish })
  const texts: Readonly<Record<LeftOutBecause, string>> = {
    package: '',
    channel: '',
    unlisted: '',
    older:
      wish.kind === 'head'
        ? `only the head of channel ${channel} is asked for`
        : `older than what is kept of channel ${channel}`,
    newer: `newer than what is kept of channel ${channel}`,
    between: `beside the line of updates of channel ${channel}: others skip it`,
    unversioned: 'it has no version, so it lies in no range',
    empty: `nothing of channel ${channel} is kept: ${chosen.nothing ?? ''}`,
  }
  return { isKept: false, because, text: texts[because] }
}

function leftOutBecause(name: string, { graph, chosen, versions, wish }: LeftOutParts): LeftOutBecause {
  if (wish.kind === 'range' && !versions.has(name)) return 'unversioned'
  if (chosen.kept.size === 0) return 'empty'
  const kept = graph.chain.flatMap((entry, index) => (chosen.kept.has(entry) ? [index] : []))
  const place = graph.chain.indexOf(name)
  const own = place >= 0 ? place : graph.chain.findIndex((entry) => graph.entries.get(entry)?.skips.includes(name))
  if (wish.kind === 'head') return 'older'
  if (own < 0 || kept.length === 0) return 'between'
  if (own < Math.min(...kept)) return 'newer'
  if (own > Math.max(...kept)) return 'older'
  return 'between'
}
