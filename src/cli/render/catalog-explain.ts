/** What `catalog explain` prints, for someone who has never seen the graph of a channel. */
import type { Dependency } from '../../catalog/dependencies.ts'
import type { BundleExplanation, ChannelExplanation, PackageExplanation } from '../../catalog/explain.ts'
import type { RequestExplanation } from '../../catalog/explain-request.ts'
import { updateLines } from './catalog-updates.ts'
import { renderFindings } from './findings.ts'
import { count } from './quantities.ts'
import { tableLines } from './table.ts'

export interface ExplanationView extends RequestExplanation {
  /** The catalog, as it was named. */
  readonly catalog: string
  /** Where the request stands: `mirror.operators[0] of isc.yaml`; undefined where there is none. */
  readonly place: string | undefined
  /** Those that limits are held against. */
  readonly releases: readonly string[]
  /** As the command line has it. */
  readonly installed: string | undefined
}

export interface ExplanationDepth {
  /** Only this channel is drawn. */
  readonly channel: string | undefined
  /** Nothing is cut. */
  readonly isAll: boolean
}

export function renderExplanation(view: ExplanationView, depth: ExplanationDepth): string {
  const { explanation, dependencies } = view
  const { drawn, listed, maxLines } = whatToDraw(explanation.channels, depth)
  const sections = [
    headLines(view),
    legend,
    ...drawn.map((channel) => channelLines(channel, maxLines)),
    otherLines(listed),
    whyLines(explanation.bundles, depth),
    updateLines(view),
    needLines(dependencies),
    limitLines(explanation, view.releases),
    deprecationLines(explanation),
  ]
  const findings = explanation.findings.filter(({ severity, id }) => severity !== 'info' && !toldElsewhere.includes(id))
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.map((line) => `${line}\n`).join(''))
  return [...text, ...(findings.length > 0 ? [renderFindings(findings)] : []), changes].join('\n')
}

/** For one drawing, and for all drawings together. */
const drawnLines = 48
const allDrawnLines = 96

interface Drawn {
  readonly drawn: readonly ChannelExplanation[]
  /** Only listed: with them it would be too much. */
  readonly listed: readonly ChannelExplanation[]
  readonly maxLines: number
}

/** The default channel first. Where not all can be drawn: it, those without a clear order, and the one that was asked for. */
function whatToDraw(channels: readonly ChannelExplanation[], { channel, isAll }: ExplanationDepth): Drawn {
  const maxLines = isAll ? Number.POSITIVE_INFINITY : drawnLines
  if (channel !== undefined) return { drawn: channels.filter(({ name }) => name === channel), listed: [], maxLines }
  const ordered = channels.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))
  const lines = ordered.reduce((sum, { drawing }) => sum + Math.min(drawing.length, maxLines), 0)
  if (isAll || lines <= allDrawnLines) return { drawn: ordered, listed: [], maxLines }
  const drawn = ordered.filter(({ flaws }, index) => index === 0 || flaws.length > 0)
  return { drawn, listed: ordered.filter((one) => !drawn.includes(one)), maxLines }
}

function otherLines(channels: readonly ChannelExplanation[]): string[] {
  if (channels.length === 0) return []
  const rows = channels.map(({ name, head = '', keptEntries, entries, nothing, deprecated }) => [
    name,
    head,
    `${keptEntries} of ${entries}`,
    [...(nothing === undefined ? [] : [nothing]), ...(deprecated === undefined ? [] : ['deprecated'])].join('; '),
  ])
  const columns = ['CHANNEL', 'HEAD', 'MIRRORED', ''].map((title) => ({ title }))
  return [
    `${count(channels.length, 'more channel')}; --channel NAME draws one, --all draws all`,
    ...tableLines(columns, rows),
  ]
}

const toldElsewhere = ['catalog.channel-left-out']

const legend = [
  'How to read it',
  '  A channel is a line of updates. At its top is the HEAD: the newest bundle, which is what gets installed. A cluster that',
  '  has an older one climbs up the line. "replaces" leads down to the bundle that can update to the one above it. "skips"',
  '  names bundles that are passed over; "skipRange" says which versions can update in one step.',
  '  [x] is mirrored, [ ] is left out.',
]

const changes = `To change it, write below the package in the configuration, or below one of its channels
  minVersion: 1.2.0   everything from that version on (maxVersion: up to that version)
  installed: 1.2.0    what a cluster with that version goes through on its way to the head
  heads: 2            the head, and so many bundles below it
or below the catalog
  full: true          every version
`

function headLines({ explanation, catalog, place, dependencies, installed }: ExplanationView): string[] {
  const { package: name, kept, problem, bundles, defaultChannel } = explanation
  const taken = dependencies.filter(({ state }) => state === 'taken').length
  const byDefault =
    installed === undefined
      ? 'nothing is said of it: then it is the head of every channel'
      : `what a cluster with version ${installed} goes through, as with installed: ${installed}`
  const asked = place ?? byDefault
  const amount = kept?.bundles.length ?? 0
  const result =
    kept === undefined
      ? `nothing of ${count(bundles.length, 'bundle')}`
      : `${amount} of ${count(bundles.length, 'bundle')}; the default channel is ${kept.defaultChannel || 'not set'}`
  return [
    `${name}, a package of ${catalog}`,
    `  asked for:  ${asked}`,
    `  mirrored:   ${result}`,
    ...(kept && kept.defaultChannel !== defaultChannel
      ? [`  in the catalog the default channel is ${defaultChannel}`]
      : []),
    ...(taken > 0 ? [`  with it:    ${count(taken, 'bundle')} of other packages, which it needs`] : []),
    ...(problem ? problemLines(problem) : []),
  ]
}

/** The drawing that may stand in the message is drawn below anyway. */
function problemLines({ code, message, hint }: NonNullable<PackageExplanation['problem']>): string[] {
  return [`  error ${code}: ${message.split('\n', 1)[0]}`, `    next: ${hint}`]
}

function channelLines(channel: ChannelExplanation, maxLines: number): string[] {
  const { name, isDefault, keptEntries, entries, drawing, flaws, nothing, deprecated } = channel
  const marks = [...(isDefault ? ['the default one'] : []), ...(deprecated === undefined ? [] : ['deprecated'])]
  const about = marks.length > 0 ? ` (${marks.join(', ')})` : ''
  return [
    `Channel ${name}${about}: ${keptEntries} of ${count(entries, 'bundle')} mirrored`,
    ...(nothing === undefined ? [] : [`  nothing of it is mirrored: ${nothing}`]),
    ...flaws.map((flaw) => `  it cannot be followed: ${flaw}`),
    ...shortened(drawing, maxLines).map((line) => (line === '' ? '' : `  ${line}`)),
  ]
}

function shortened(lines: readonly string[], maxLines: number): string[] {
  if (lines.length <= maxLines) return [...lines]
  const top = Math.ceil((maxLines * 2) / 3)
  const bottom = maxLines - top
  const left = lines.length - top - bottom
  return [...lines.slice(0, top), ` :    ${left} more lines (--all)`, ...lines.slice(-bottom)]
}

const namesOfAReason = 6

/** One line for each reason, what is kept first. */
function whyLines(bundles: readonly BundleExplanation[], { isAll, channel }: ExplanationDepth): string[] {
  const shown = bundles.filter(({ channels }) => channel === undefined || channels.includes(channel))
  const groups = Map.groupBy(shown, ({ reason }) => (reason ? `${reason.isKept ? '[x]' : '[ ]'} ${reason.text}` : ''))
  const lines = [...groups].flatMap(([reason, own]) => {
    const names = own.map(({ name }) => name)
    const cut = isAll ? names : names.slice(0, namesOfAReason)
    const more = names.length - cut.length
    const text = `${cut.join(', ')}${more > 0 ? ` and ${more} more (--all names them)` : ''}`
    if (reason === '') return []
    return [names.length === 1 ? [`  ${reason}: ${text}`] : [`  ${reason}`, ...wrapped(text)]]
  })
  const ordered = lines.toSorted(
    ([one = ''], [other = '']) => Number(other.includes('[x]')) - Number(one.includes('[x]')),
  )
  return ordered.length === 0 ? [] : ['Why', ...ordered.flat()]
}

const wrappedAt = 110

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + word.length > wrappedAt) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `        ${line}`)
}

const stateTexts: Readonly<Record<Dependency['state'], string>> = {
  kept: 'mirrored with it',
  taken: 'taken for it',
  offered: 'in this catalog, NOT mirrored',
  missing: 'NOT in this catalog',
  unjudged: 'can only be judged in a cluster',
}

function needLines(dependencies: readonly Dependency[]): string[] {
  const groups = Map.groupBy(
    dependencies,
    ({ requirement, state, by }) =>
      `${requirement}: ${stateTexts[state]}${by ? `: ${by.bundle}${by.channel === undefined ? '' : ` (channel ${by.channel})`}` : ''}`,
  )
  const lines = [...groups].map(([text, own]) => `  ${text}${own.length > 1 ? ` (for ${own.length} bundles)` : ''}`)
  const isOpen = dependencies.some(({ state }) => state === 'offered')
  const next = '  next: add that package to the configuration, or write dependencies: take below the catalog'
  return lines.length === 0 ? [] : ['It needs in the cluster', ...lines, ...(isOpen ? [next] : [])]
}

function limitLines({ bundles }: PackageExplanation, releases: readonly string[]): string[] {
  const kept = bundles.filter(({ reason }) => reason?.isKept)
  const said = kept.flatMap(({ name, limits, breaches }) => {
    const { maxOpenShiftVersion: last, minKubeVersion: first } = limits
    const parts = [
      ...(last === undefined ? [] : [`runs on OpenShift up to ${last}`]),
      ...(first === undefined ? [] : [`needs Kubernetes ${first} or later`]),
    ]
    const against = [...new Set(breaches.flatMap((breach) => breach.releases))]
    const verdict = against.length > 0 ? `: NOT on ${against.join(', ')}` : ''
    return parts.length === 0 ? [] : [{ name, text: `${parts.join(' and ')}${verdict}` }]
  })
  const lines = [...Map.groupBy(said, ({ text }) => text)].map(([text, [first, ...others]]) => {
    const more = others.length > 0 ? ` and ${count(others.length, 'other')} of those mirrored` : ''
    return `  ${first?.name}${more}: ${text}`
  })
  if (lines.length === 0) return []
  return [`Where it runs${releases.length > 0 ? `, held against OpenShift ${releases.join(', ')}` : ''}`, ...lines]
}

function deprecationLines({ deprecated, channels, bundles, package: name }: PackageExplanation): string[] {
  const lines = [
    ...(deprecated === undefined ? [] : [`  package ${name}: ${deprecated}`]),
    ...channels.flatMap((one) => (one.deprecated === undefined ? [] : [`  channel ${one.name}: ${one.deprecated}`])),
    ...bundles.flatMap((one) =>
      one.deprecated === undefined || !one.reason?.isKept ? [] : [`  ${one.name}: ${one.deprecated}`],
    ),
  ]
  return lines.length === 0 ? [] : ['Deprecated by its maintainers', ...lines]
}
