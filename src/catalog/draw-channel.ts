/**
 * The upgrade graph of a channel as text, for people who have never seen one: newest at the top, `replaces` as a line
 * downwards, what is skipped to the side of it.
 *
 * ```
 * [x] foo.v1.3.0  HEAD
 *  |    also updates from any version in >=1.0.0 <1.3.0 (skipRange)
 *  |    skips [ ] foo.v1.2.1
 *  | replaces
 * [ ] foo.v1.2.0
 *  | replaces foo.v1.1.0, which this channel does not have
 * ```
 */
import type { ChannelGraph } from './channel-graph.ts'
import type { ChannelEntry } from './meta.ts'

interface DrawOptions {
  /** Marks what is kept with `[x]`, and the rest with `[ ]`; without it every entry is an `o`. */
  readonly kept?: ReadonlySet<string>
  /** What to write after the name of an entry, such as its version. */
  readonly note?: (entry: string) => string | undefined
  /** More lines than this are cut in the middle, and the cut is said. Default: no cut. */
  readonly maxLines?: number
}

/** Lines without indentation; every entry of the channel stands in one of them. */
export function drawChannel(graph: ChannelGraph, options: DrawOptions = {}): string[] {
  const drawn = new Set<string>()
  const lines: string[] = []
  const isSeveral = graph.heads.length > 1
  for (const [index, head] of graph.heads.entries()) {
    if (index > 0) lines.push('')
    const mark = isSeveral ? `  HEAD ${index + 1} of ${graph.heads.length}` : '  HEAD'
    lines.push(...drawChain({ graph, options, drawn, from: head, mark }))
  }
  for (const name of graph.entries.keys()) {
    if (drawn.has(name)) continue
    if (lines.length > 0) lines.push('')
    lines.push(
      ...drawChain({
        graph,
        options,
        drawn,
        from: name,
        mark: graph.heads.length === 0 ? '  (no head leads to it)' : '  (beside the line from the head)',
      }),
    )
  }
  return cut(lines, options.maxLines)
}

interface ChainParts {
  readonly graph: ChannelGraph
  readonly options: DrawOptions
  /** What has been drawn so far; grows. */
  readonly drawn: Set<string>
  readonly from: string
  /** Stands behind the first entry. */
  readonly mark: string
}

function drawChain({ graph, options, drawn, from, mark }: ChainParts): string[] {
  const lines: string[] = []
  const chain = new Set<string>()
  let entry = graph.entries.get(from)
  while (entry !== undefined) {
    chain.add(entry.name)
    drawn.add(entry.name)
    lines.push(`${nodeText(entry.name, options)}${entry.name === from ? mark : ''}`)
    lines.push(...sideLines(entry, { graph, options, drawn }))
    const { replaces } = entry
    if (replaces === undefined) break
    const next = graph.entries.get(replaces)
    if (next === undefined) lines.push(` | replaces ${replaces}, which this channel does not have`)
    else if (chain.has(replaces)) lines.push(` | replaces ${replaces} again: a circle`)
    else if (drawn.has(replaces)) lines.push(` | replaces ${replaces}, drawn above`)
    else lines.push(' | replaces')
    entry = drawn.has(replaces) ? undefined : next
  }
  return lines
}

type SideParts = Pick<ChainParts, 'graph' | 'options' | 'drawn'>

/** What an entry can take the place of beside what it replaces. */
function sideLines(entry: ChannelEntry, { graph, options, drawn }: SideParts): string[] {
  const lines: string[] = []
  if (entry.skipRange !== undefined && entry.skipRange !== '')
    lines.push(` |    also updates from any version in ${entry.skipRange} (skipRange)`)
  const absent: string[] = []
  const elsewhere: string[] = []
  const plain: string[] = []
  for (const skip of entry.skips) {
    const skipped = graph.entries.get(skip)
    const isOnChain = graph.chain.includes(skip)
    if (skipped === undefined) absent.push(skip)
    else if (isOnChain || drawn.has(skip)) elsewhere.push(skip)
    else if (edgesText(skipped) === '') plain.push(nodeText(skip, options))
    else lines.push(` |    skips ${nodeText(skip, options)}${edgesText(skipped)}`)
    if (skipped !== undefined && !isOnChain) drawn.add(skip)
  }
  for (let at = 0; at < plain.length; at += skippedPerLine)
    lines.push(` |    skips ${plain.slice(at, at + skippedPerLine).join(', ')}`)
  if (elsewhere.length > 0)
    lines.push(
      ` |    skips ${listed(elsewhere)}, drawn in ${elsewhere.length > 1 ? 'their own places' : 'its own place'}`,
    )
  if (absent.length > 0) lines.push(` |    skips ${listed(absent)}, not in this channel`)
  return lines
}

const skippedPerLine = 3

function edgesText({ replaces, skips }: ChannelEntry): string {
  const parts = [
    ...(replaces === undefined ? [] : [`replaces ${replaces}`]),
    ...(skips.length === 0 ? [] : [`skips ${listed(skips)}`]),
  ]
  return parts.length === 0 ? '' : `, which itself ${parts.join(' and ')}`
}

function nodeText(name: string, { kept, note }: DrawOptions): string {
  const box = kept === undefined ? 'o' : kept.has(name) ? '[x]' : '[ ]'
  const more = note?.(name)
  return `${box} ${name}${more === undefined ? '' : ` ${more}`}`
}

/** At most three names, and how many there are beside them. */
function listed(names: readonly string[]): string {
  const rest = names.length - 3
  return rest > 0 ? `${names.slice(0, 3).join(', ')} and ${rest} more` : names.join(', ')
}

function cut(lines: readonly string[], maxLines = Number.POSITIVE_INFINITY): string[] {
  if (lines.length <= maxLines) return [...lines]
  const top = Math.ceil((maxLines * 2) / 3)
  const bottom = maxLines - top
  const between = lines.length - top - bottom
  return [...lines.slice(0, top), ` :    ${between} more lines`, ...lines.slice(lines.length - bottom)]
}
