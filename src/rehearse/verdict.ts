/** From everything that was seen to the first two lines: what would happen, and what to do. */
import type { Finding } from '../errors/finding.ts'
import { faultTexts } from './level-one/fault-texts.ts'
import type { LevelOneReport } from './level-one/level-one-report.ts'
import { firstBroken } from './level-two/level-two-findings.ts'
import type { LevelTwoReport, RehearsedUnit } from './level-two/level-two-report.ts'
import type { Verdict } from './rehearsal-report.ts'

export interface VerdictSetting {
  readonly findings: readonly Finding[]
  readonly levelOne?: LevelOneReport
  readonly levelTwo?: LevelTwoReport
}

export function verdictOf({ findings, levelOne, levelTwo }: VerdictSetting): Verdict {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const broken = levelTwo && firstBroken(levelTwo)
  const cause = causeOf(errors, broken)
  if (cause === undefined) return comesUp({ findings, ...(levelOne && { levelOne }), ...(levelTwo && { levelTwo }) })
  const stoppedAt = broken && { unit: broken.name, ...(broken.stage !== undefined && { stage: broken.stage }) }
  const where = stoppedAt === undefined ? '' : ` at ${placeOf(stoppedAt)}`
  const others = errors.length - 1
  const more = others === 0 ? '' : ` Then ${others === 1 ? 'the other error' : `the ${others} other errors`} below.`
  return {
    isSound: false,
    headline:
      cause.id === 'rehearse.no-bootstrap'
        ? `there is nothing to rehearse: ${headOf(cause)}`
        : `the bootstrap would fail${where}: ${headOf(cause)}`,
    next: `${cause.remedy ?? 'Look at the finding below.'}${more}`,
    ...(stoppedAt && { stoppedAt }),
  }
}

/** `release-image.service, stage pull-release-image` */
function placeOf({ unit, stage }: NonNullable<Verdict['stoppedAt']>): string {
  return stage === undefined ? unit : `${unit}, stage ${stage}`
}

/** Within a sentence, and without what follows from it. */
function headOf({ summary }: Finding): string {
  const head = summary.replace(/; (?:this keeps away|this refuses|asked for by) .*$/, '')
  return head.replace(/^(?:A|An|No|Nothing|The|There|In|Scripts|Images)\b/, (word) => word.toLowerCase())
}

/** What keeps an image away, besides the faults of pulls themselves. */
const pullIds: ReadonlySet<string> = new Set([
  ...Object.values(faultTexts).map(({ id }) => id),
  'registries.conf-invalid',
  'rehearse.trust-bundle-invalid',
  'rehearse.trust-bundle-no-ca',
  'rehearse.trust-bundle-expired',
  'rehearse.pull-secret-invalid',
  'rehearse.no-proxy-missing',
  'rehearse.mirror-localhost',
  'rehearse.mirrors-drift',
  'rehearse.release-unreadable',
  'rehearse.release-images-differ',
  'rehearse.component-missing',
  'rehearse.oc-release-info',
  'rehearse.clock-skew',
])

/** Of what is to be mended, the one thing that the first unit that does not come up dies of. */
function causeOf(errors: readonly Finding[], broken: RehearsedUnit | undefined): Finding | undefined {
  const [first] = errors
  if (broken === undefined || first?.id.startsWith('ignition.') === true) return first
  if (broken.failedCalls.length > 0) return errors.find(({ id }) => pullIds.has(id)) ?? first
  return errors.find((one) => speaksOf(one, broken)) ?? first
}

/** True for what is said of the unit itself, or of a script that its journal or its command names. */
function speaksOf({ where }: Finding, { name, journal }: RehearsedUnit): boolean {
  if (where === undefined) return false
  return where.file.endsWith(`/${name}`) || journal.some((line) => line.includes(where.file))
}

function comesUp({ findings, levelOne, levelTwo }: VerdictSetting): Verdict {
  const version = levelOne?.release?.version
  const mirrors = levelOne?.hosts.map(({ host }) => host).join(', ')
  const ran = levelTwo?.isComplete === true ? ', and its scripts run to their end' : ''
  const found = version === undefined ? '' : `: ${levelOne?.images.length} images of ${version} are at ${mirrors}${ran}`
  const warnings = findings.filter(({ severity }) => severity === 'warning').length
  const look = warnings === 0 ? '' : ` Look at the ${warnings === 1 ? 'warning' : `${warnings} warnings`} below first.`
  return { isSound: true, headline: `the bootstrap would come up${found}`, next: `${beginText(levelOne)}${look}` }
}

function beginText(levelOne: LevelOneReport | undefined): string {
  const isOwn = (place: string) => place === 'tls' || place === 'kubeconfig'
  const end = levelOne?.certificates.find(({ place }) => isOwn(place))?.notAfter
  if (end === undefined) return 'Begin.'
  return `Begin before ${end.slice(0, 16).replace('T', ' ')} UTC, when the first certificate of the config expires.`
}

/**
 * Of level 2 what level 1 does not say: where it knows why an image does not come or a script does not run, the unit that
 * fails for it stands in the report, and not among the findings.
 */
export function withoutEchoes(
  found: readonly Finding[],
  levelTwo: LevelTwoReport,
  echoes: readonly Finding[],
): readonly Finding[] {
  const errors = found.filter(({ severity }) => severity === 'error')
  return echoes.filter((echo) => {
    const unit = levelTwo.units.find(({ name }) => echo.summary.startsWith(name))
    if (unit === undefined) return true
    const isKnown = unit.failedCalls.length > 0 && errors.some(({ id }) => pullIds.has(id))
    return !isKnown && !errors.some((one) => speaksOf(one, unit))
  })
}
