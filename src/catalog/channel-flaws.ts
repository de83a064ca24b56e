/** What is wrong with the graph of a channel, in words: what it means, the graph itself, and what to do. */
import { KnownError } from '../errors/known-error.ts'
import type { ChannelGraph, GraphFlaw } from './channel-graph.ts'
import { drawChannel } from './draw-channel.ts'

interface FlawedChannel {
  readonly package: string
  readonly channel: string
  readonly graph: ChannelGraph
}

const drawnLines = 40

/** The error for a channel of the catalog that cannot be followed from a head. */
export function flawedChannel({ package: of, channel, graph }: FlawedChannel): KnownError {
  const what = graph.flaws.map(flawText)
  const message = [
    `Channel "${channel}" of package "${of}" has no clear order of updates: ${what.join('; ')}`,
    ...drawChannel(graph, { maxLines: drawnLines }).map((line) => `    ${line}`),
  ].join('\n')
  const hint = `The catalog was published so. Name the other channels of "${of}" under packages[].channels, or take everything with full: true, which follows no order; and tell the publisher of the catalog.`
  return new KnownError('CATALOG_SELECTION_INVALID', message, { hint, details: { package: of, channel } })
}

/** The error for bundles that were named and do not make a channel together. */
export function namedApart(flawed: FlawedChannel, kept: ReadonlySet<string>): KnownError {
  const { package: of, channel, graph } = flawed
  const message = [
    `The bundles named for package "${of}" fall apart in channel "${channel}": ${[...kept].sort().join(', ')} do not lead to one another, and a channel must have one newest bundle from which all others are reached`,
    ...drawChannel(graph, { kept, maxLines: drawnLines }).map((line) => `    ${line}`),
  ].join('\n')
  const hint = `Also name the bundles between them under packages[].bundles, or write minVersion and maxVersion instead of bundles.`
  return new KnownError('CATALOG_SELECTION_INVALID', message, { hint, details: { package: of, channel } })
}

/** One flaw as part of a sentence. */
export function flawText(flaw: GraphFlaw): string {
  switch (flaw.kind) {
    case 'empty':
      return 'it has no entries'
    case 'duplicate':
      return `"${flaw.entry}" stands in it twice`
    case 'self':
      return `"${flaw.entry}" ${flaw.edge} itself`
    case 'no-head':
      return 'every entry is replaced or skipped by another one, so none is the newest (no channel heads found)'
    case 'several-heads':
      return `${flaw.heads.length} entries are replaced or skipped by none, so it is not clear which is the newest (multiple channel heads found): ${flaw.heads.join(', ')}`
    case 'cycle':
      return `updates run in a circle through ${flaw.entries.join(', ')}`
  }
}
