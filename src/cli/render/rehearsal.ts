/** A rehearsal, for the terminal: what would happen, what to do, and what that is known from. */
import type { Finding } from '../../errors/finding.ts'
import type { RehearsedImage } from '../../rehearse/level-one/level-one-report.ts'
import type { LevelTwoReport, RehearsedUnit, UnitOutcome } from '../../rehearse/level-two/level-two-report.ts'
import type { RehearsalReport } from '../../rehearse/rehearsal-report.ts'
import { renderFindings } from './findings.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

export function renderRehearsal(
  report: RehearsalReport,
  { reportFile }: { readonly reportFile: string | undefined },
): string {
  const { verdict, findings, notProven, levelTwo } = report
  const { headline, next } = verdict
  const parts = [
    [headline, `next: ${next}`],
    checkedLines(report),
    levelTwo === undefined ? [] : levelTwoLines(levelTwo),
    findingLines(findings),
    [`not proven: ${notProven.join('; ')}`, ...(reportFile === undefined ? [] : [`report: ${reportFile}`])],
  ]
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')
}

function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.length === 0 ? [] : [renderFindings(findings).trimEnd()]
}

function checkedLines({ file, bootstrap, levelOne, levelTwo }: RehearsalReport): readonly string[] {
  if (levelOne === undefined || bootstrap === undefined) return []
  const { domain, platform, architecture, releaseImage } = bootstrap
  const version = levelOne.release?.version ?? bootstrap.minor
  const what = [domain, platform && `platform ${platform}`, architecture, version && `release ${version}`]
  return [
    `${file}: ${what.filter(Boolean).join(', ')}`,
    ...(releaseImage === undefined ? [] : [`  installs ${releaseImage}`]),
    `  level 1, ${formatDuration(levelOne.durationMs)}: ${levelOneFigures(levelOne)}`,
    ...(levelTwo === undefined ? [] : [`  level 2, ${levelTwoFigures(levelTwo)}`]),
  ]
}

function levelOneFigures({
  images,
  hosts,
  checked,
  certificates,
  disk,
}: NonNullable<RehearsalReport['levelOne']>): string {
  const blobs = images.reduce((sum, one) => sum + (one.blobs ?? 0), 0)
  const where = hosts.length === 0 ? '' : ` at ${hosts.map(({ host }) => host).join(', ')}`
  const need = disk.images === 0 ? '' : `; the host pulls ${formatBytes(disk.compressedBytes)}`
  const withBlobs = blobs === 0 ? '' : `, ${count(blobs, 'blob')}`
  const parts = [
    `${foundImages(images)}${withBlobs}${where}${need}`,
    `${count(checked.units, 'unit')}, ${count(checked.scripts, 'script')}, ${count(checked.manifests, 'manifest')}, ${count(certificates.length, 'certificate')}`,
  ]
  return parts.join('; ')
}

/** `24 images`, or how many of them each side finds. */
export function foundImages(images: readonly RehearsedImage[]): string {
  const [here, there] = (['bootstrap', 'nodes'] as const).map((side) => {
    const asked = images.flatMap((image) => image[side] ?? [])
    const found = asked.filter(({ isPulled }) => isPulled).length
    return { isWhole: found === asked.length, text: `${found} of ${count(asked.length, 'image')}`, asked: asked.length }
  })
  if (here === undefined || there === undefined || (here.isWhole && there.isWhole)) return count(images.length, 'image')
  const ofNodes = there.asked === 0 ? '' : `, ${there.text} for the nodes`
  return `${here.text} for the bootstrap host${ofNodes}`
}

function levelTwoFigures({ unavailable, units, durationMs, isComplete }: LevelTwoReport): string {
  if (unavailable !== undefined) return `not run: ${unavailable}`
  const end = isComplete ? 'bootkube came to its end' : 'bootkube did not come to its end'
  return `${formatDuration(durationMs)}: ${count(units.length, 'unit')}, ${end}`
}

const marks: Readonly<Record<UnitOutcome, string>> = {
  succeeded: '✓',
  running: '✓',
  'condition-failed': '-',
  'not-started': '-',
  failed: '✗',
  looping: '✗',
  'timed-out': '✗',
}

export const outcomeTexts: Readonly<Record<UnitOutcome, string>> = {
  succeeded: '',
  running: 'runs on',
  'condition-failed': 'not wanted here',
  'not-started': 'never started',
  failed: 'fails',
  looping: 'tries without end',
  'timed-out': 'was not done in time',
}

function levelTwoLines({ units }: LevelTwoReport): readonly string[] {
  return units.flatMap(unitLines)
}

function unitLines(unit: RehearsedUnit): readonly string[] {
  const { name, outcome, stage, because, durationMs } = unit
  const where = stage === undefined ? '' : ` at ${stage}`
  const why = because === undefined ? '' : `, for want of ${because}`
  const said = `${outcomeTexts[outcome]}${where}${why}`
  const time = durationMs > 0 ? formatDuration(durationMs) : ''
  const head = `  ${marks[outcome]} ${name.padEnd(32)} ${time.padStart(6)}  ${said}`.trimEnd()
  const isBroken = marks[outcome] === '✗'
  return [head, ...stageLines(unit), ...(isBroken ? lastWords(unit).map((line) => `      | ${line}`) : [])]
}

const journalLines = 5

/** What an administrator would see at the end of the journal, each line of a loop once. */
export function lastWords({ journal }: Pick<RehearsedUnit, 'journal'>): readonly string[] {
  const once = [...new Set(journal.toReversed())].toReversed()
  return once.slice(-journalLines)
}

const width = 110

/** In the order in which they were gone through; the last one is where it stopped. */
function stageLines({ stagesDone, stage }: RehearsedUnit): readonly string[] {
  const all = [...new Set(stagesDone)].map((name) => `✓ ${name}`)
  const whole = stage === undefined ? all : [...all, `✗ ${stage}`]
  const lines: string[] = []
  for (const word of whole) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length + 2 <= width) lines[lines.length - 1] = `${last}  ${word}`
    else lines.push(`      ${word}`)
  }
  return lines
}
