/** An update path as text for a terminal: releases in a column, what an update needs and risks beside the arrow to the next. */
import { channelsOf, type UpdateRelease, type UpdateRisk } from './update-graph.ts'
import type { UpdateHop, UpdatePath } from './update-path.ts'

interface DrawOptions {
  /** The channel that was asked for; others are named only where a hop is not in it. */
  readonly channel?: string
  /** Written behind a version: what it adds to a mirror, for instance. */
  readonly note?: (release: UpdateRelease, index: number) => string | undefined
  /** Columns; at least 40. */
  readonly width?: number
}

const bar = '│'
const riskMark = '⚠'

/**
 * The drawing: lines that end with a newline, none wider than `width` (100) but for words that are, such as URLs.
 *
 * What a service wrote is shown without control characters.
 */
export function drawUpdatePath(path: UpdatePath, options: DrawOptions = {}): string {
  const widest = Math.max(...path.releases.map(({ version }) => version.length))
  const lines = path.releases.flatMap((release, index) => {
    const hop = path.hops[index]
    const note = options.note?.(release, index)
    const head = note ? `● ${release.version.padEnd(widest)}   ${note}` : `● ${release.version}`
    return [plain(head), ...(hop ? drawHop(hop, options) : [])]
  })
  return [...lines, '', ...summary(path, options)].map((line) => `${line.trimEnd()}\n`).join('')
}

function drawHop(hop: UpdateHop, options: DrawOptions): string[] {
  const beside = [
    ...wrap(placeOf(hop, options), { first: '', rest: '  ', width: innerWidth(options) }),
    ...hop.risks.flatMap((risk) => drawRisk(risk, options)),
  ]
  return [...beside.map((line) => (line === '' ? bar : `${bar}  ${line}`)), '▼']
}

function drawRisk({ name, message, url, everyCluster }: UpdateRisk, options: DrawOptions): string[] {
  const width = innerWidth(options)
  const whom = everyCluster ? 'every cluster' : 'clusters that match'
  return [
    ...wrap(`${name} (${whom})`, { first: `${riskMark} `, rest: '  ', width }),
    ...wrap(message, { first: '    ', rest: '    ', width }),
    ...(url === '' ? [] : [`    ${plain(url)}`]),
  ]
}

/** What kind of update it is, and in which channels a cluster is offered it. */
function placeOf({ from, to }: UpdateHop, { channel }: DrawOptions): string {
  const [before, after] = [minorOf(from), minorOf(to)]
  const kind = before === after ? '' : `minor update ${before} to ${after}, `
  const ends = [channelsOf(from), channelsOf(to)] as const
  if (!ends[0] || !ends[1]) return channel === undefined ? kind.replace(/, $/, '') : `${kind}in ${channel}`
  const common = ends[0].filter((name) => ends[1]?.includes(name))
  if (channel !== undefined && common.includes(channel)) return `${kind}in ${channel}`
  return common.length === 0 ? `${kind}in no channel that has both` : `${kind}in ${groupedChannels(common)}`
}

function minorOf({ version }: UpdateRelease): string {
  return version.split('.').slice(0, 2).join('.')
}

/** `stable-4.17, 4.18; eus-4.18` */
function groupedChannels(names: readonly string[]): string {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const cut = name.lastIndexOf('-')
    const prefix = name.slice(0, cut + 1)
    groups.set(prefix, [...(groups.get(prefix) ?? []), name.slice(cut + 1)])
  }
  const order = ['stable-', 'eus-', 'fast-', 'candidate-']
  const rank = (prefix: string) => (order.includes(prefix) ? order.indexOf(prefix) : order.length)
  const sorted = [...groups].toSorted(([a], [b]) => rank(a) - rank(b))
  return sorted.map(([prefix, minors]) => `${prefix}${minors.join(', ')}`).join('; ')
}

function summary({ hops, riskyHops, alternatives, fewestHops }: UpdatePath, options: DrawOptions): string[] {
  if (hops.length === 0) return ['Nothing to update: both ends are this release.']
  const count = hops.reduce((sum, { risks }) => sum + risks.length, 0)
  const where = hops.length === 1 ? '' : ` on ${riskyHops} of them`
  const risks = count === 0 ? 'no known risk' : `${counted(count, 'known risk')} taken${where}; no way avoids them all`
  const others =
    alternatives === 0
      ? ''
      : ` ${counted(alternatives, 'other path')} ${alternatives === 1 ? 'is' : 'are'} as short and as safe.`
  const more = count === 0 ? '' : 'more '
  const shorter =
    fewestHops < hops.length ? ` With ${more}known risks taken, ${counted(fewestHops, 'update')} would do.` : ''
  const text = `${counted(hops.length, 'update')}, ${risks}.${others}${shorter}`
  return wrap(text, { first: '', rest: '', width: Math.max(options.width ?? 100, 40) })
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function innerWidth({ width = 100 }: DrawOptions): number {
  return Math.max(width, 40) - 3
}

function wrap(text: string, { first, rest, width }: { first: string; rest: string; width: number }): string[] {
  const words = plain(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = rest
      isEmpty = true
    }
    line = isEmpty ? line + word : `${line} ${word}`
    isEmpty = false
  }
  return isEmpty ? [] : [...lines, line]
}

/** Line ends and other control characters would draw elsewhere. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
