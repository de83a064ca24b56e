/** Adds a bundle that another one requires to what is kept of its catalog. */
import { channelGraph, heldTogether } from './channel-graph.ts'
import type { Candidate } from './dependencies-candidates.ts'
import type { CatalogPackage, ChannelMeta } from './meta.ts'
import { deprecationsOf } from './select-package.ts'
import type { BundleReason, CatalogSelection, KeptChannel, KeptPackage } from './selection.ts'

interface Taking extends Candidate {
  readonly of: CatalogPackage
  /** Stands in the reason of the bundle: what requires it. */
  readonly text: string
}

interface Taken {
  readonly selection: CatalogSelection
  /** What is kept now and was not: the bundle, and what holds its channel together. */
  readonly bundles: readonly string[]
}

/**
 * The selection with the bundle in it.
 *
 * Of a package that was not kept before, the channel of the bundle becomes the only one, and so the default. In a channel
 * that is kept, all between the bundle and what was kept comes too, so that the channel keeps one head.
 */
export function takeBundle(selection: CatalogSelection, { of, bundle, channel, text }: Taking): Taken {
  const meta = of.channels.get(channel)
  const before = selection.kept.get(of.meta.name)
  const own = before?.channels.find(({ name }) => name === channel)
  const wanted = new Set([...(own?.entries ?? []).map(({ name }) => name), bundle.name])
  const entries = meta === undefined ? [] : entriesOf(meta, wanted)
  const channels = inOrder(of, [
    ...(before?.channels ?? []).filter(({ name }) => name !== channel),
    { name: channel, entries },
  ])
  const listed = entries.map(({ name }) => name).filter((name) => of.bundles.has(name))
  const bundles = [...new Set([...(before?.bundles ?? []), ...listed])].sort()
  const after = { name: of.meta.name, defaultChannel: before?.defaultChannel ?? channel, channels, bundles }
  const kept: KeptPackage = { ...after, deprecations: deprecationsOf(of, after) }
  const added = bundles.filter((name) => !before?.bundles.includes(name))
  return { selection: withPackage(selection, kept, reasonsFor(added, bundle.name, text)), bundles: added }
}

function entriesOf({ entries }: ChannelMeta, wanted: ReadonlySet<string>): KeptChannel['entries'] {
  const kept = heldTogether(channelGraph(entries), wanted)
  return entries.filter(({ name }) => kept.has(name))
}

function inOrder(of: CatalogPackage, channels: readonly KeptChannel[]): KeptChannel[] {
  return [...of.channels.keys()].flatMap((name) => channels.find((channel) => channel.name === name) ?? [])
}

function reasonsFor(added: readonly string[], wanted: string, text: string): ReadonlyMap<string, BundleReason> {
  return new Map(
    added.map((name) => [
      name,
      name === wanted
        ? { isKept: true, because: 'dependency', text }
        : { isKept: true, because: 'link', text: `lies between ${wanted} and what else is kept of its channel` },
    ]),
  )
}

function withPackage(
  selection: CatalogSelection,
  kept: KeptPackage,
  reasons: ReadonlyMap<string, BundleReason>,
): CatalogSelection {
  return {
    ...selection,
    kept: new Map([...new Map([...selection.kept, [kept.name, kept]])].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    why: (packageName, bundle) =>
      (packageName === kept.name ? reasons.get(bundle) : undefined) ?? selection.why(packageName, bundle),
  }
}
