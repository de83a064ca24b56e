/**
 * The upgrade graph of one channel: which bundle takes the place of which.
 *
 * An edge leads from an entry to what it `replaces` and to what it `skips`; `skipRange` makes none. The head is the entry
 * that no edge leads to. Names that no entry of the channel has are allowed as ends of edges.
 *
 * Source of the rules: operator-framework/operator-registry `alpha/model/model.go` (Channel.Head), and what
 * sherine-k/catalog-filter `pkg/filter/mirror-config/v1alpha1/channel.go` makes of them.
 */
import type { ChannelEntry } from './meta.ts'

/** Why a graph cannot be followed. */
export type GraphFlaw =
  | { readonly kind: 'empty' }
  | { readonly kind: 'duplicate'; readonly entry: string }
  | { readonly kind: 'self'; readonly entry: string; readonly edge: 'replaces' | 'skips' }
  | { readonly kind: 'no-head' }
  | { readonly kind: 'several-heads'; readonly heads: readonly string[] }
  /** The entries that are on it or only reached through it. */
  | { readonly kind: 'cycle'; readonly entries: readonly string[] }

export interface ChannelGraph {
  /** The first of each name, in the order of the catalog. */
  readonly entries: ReadonlyMap<string, ChannelEntry>
  /** Sorted. One, unless there are flaws. */
  readonly heads: readonly string[]
  /** From the first head along `replaces`, as far as there are entries. */
  readonly chain: readonly string[]
  readonly flaws: readonly GraphFlaw[]
}

export function channelGraph(list: readonly ChannelEntry[]): ChannelGraph {
  const entries = new Map<string, ChannelEntry>()
  const flaws: GraphFlaw[] = list.length === 0 ? [{ kind: 'empty' }] : []
  for (const entry of list) {
    if (entries.has(entry.name)) flaws.push({ kind: 'duplicate', entry: entry.name })
    else entries.set(entry.name, entry)
  }
  for (const { name, replaces, skips } of entries.values()) {
    if (replaces === name) flaws.push({ kind: 'self', entry: name, edge: 'replaces' })
    if (skips.includes(name)) flaws.push({ kind: 'self', entry: name, edge: 'skips' })
  }
  const pointedAt = new Set([...entries.values()].flatMap(edgesOf))
  const heads = [...entries.keys()].filter((name) => !pointedAt.has(name)).sort()
  if (heads.length === 0 && list.length > 0) flaws.push({ kind: 'no-head' })
  if (heads.length > 1) flaws.push({ kind: 'several-heads', heads })
  if (flaws.length === 0) flaws.push(...cycles(entries, heads))
  return { entries, heads, chain: chainFrom(heads[0], entries), flaws }
}

/** What an entry takes the place of. */
export function edgesOf({ replaces, skips }: ChannelEntry): string[] {
  return replaces === undefined ? [...skips] : [replaces, ...skips]
}

/**
 * The least that holds `wanted` together under one head: the replaces chain from the highest to the lowest entry that is
 * needed, and the wanted ones that entries of that part of the chain skip. Wanted names that cannot be held are left out.
 *
 * A kept entry that is neither on the chain of the new head nor skipped from it is what makes "multiple channel heads".
 */
export function heldTogether(graph: ChannelGraph, wanted: ReadonlySet<string>): Set<string> {
  if (wanted.size <= 1) return new Set(wanted)
  const { chain, entries } = graph
  const span = chain.flatMap((name, index) => (wanted.has(name) ? [index] : []))
  for (const name of wanted) {
    if (chain.includes(name)) continue
    const holders = chain.flatMap((holder, index) => (entries.get(holder)?.skips.includes(name) ? [index] : []))
    const isHeld = holders.some((index) => index >= Math.min(...span) && index <= Math.max(...span))
    if (!isHeld && holders[0] !== undefined) span.push(holders[0])
  }
  if (span.length === 0) return new Set()
  const kept = new Set(chain.slice(Math.min(...span), Math.max(...span) + 1))
  for (const name of [...kept])
    for (const skip of entries.get(name)?.skips ?? []) if (wanted.has(skip) && entries.has(skip)) kept.add(skip)
  return kept
}

function chainFrom(head: string | undefined, entries: ReadonlyMap<string, ChannelEntry>): string[] {
  const chain = new Set<string>()
  let current = head === undefined ? undefined : entries.get(head)
  while (current !== undefined && !chain.has(current.name)) {
    chain.add(current.name)
    current = current.replaces === undefined ? undefined : entries.get(current.replaces)
  }
  return [...chain]
}

/** Takes away, from the head on, what nothing points at any longer; what stays is on a cycle or below one. */
function cycles(entries: ReadonlyMap<string, ChannelEntry>, heads: readonly string[]): GraphFlaw[] {
  const incoming = new Map<string, number>()
  for (const entry of entries.values())
    for (const target of new Set(edgesOf(entry))) incoming.set(target, (incoming.get(target) ?? 0) + 1)
  const free = [...heads]
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    const entry = entries.get(name)
    for (const target of new Set(entry === undefined ? [] : edgesOf(entry))) {
      const left = (incoming.get(target) ?? 0) - 1
      incoming.set(target, left)
      if (left === 0) free.push(target)
    }
  }
  const stuck = [...incoming].flatMap(([name, count]) => (count > 0 ? [name] : []))
  return stuck.length === 0 ? [] : [{ kind: 'cycle', entries: stuck.sort() }]
}
