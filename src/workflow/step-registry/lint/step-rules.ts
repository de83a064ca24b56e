import type { FieldPath } from '../field-shape.ts'
import type { PlaceOf } from '../file-places.ts'
import type { LiteralStep, StepParameter } from '../model.ts'
import type { Observer } from '../registry.ts'
import { type LintFinding, type LintRule, lintFinding } from './lint-finding.ts'
import { type ScriptSmell, scriptSmells, setsTrap } from './script-smell.ts'

/** A step with where it stands: in a file of its own, or written out in a chain or workflow. */
export interface LintedStep {
  readonly name: string
  readonly step: LiteralStep | Observer
  /** The YAML, and where the step stands in it. */
  readonly file: string
  readonly path: FieldPath
  /** undefined: the script stands in the YAML. */
  readonly script?: string
  /** False where `commands` only names the script. */
  readonly hasScript: boolean
}

export function lintStep(linted: LintedStep, placeOf: PlaceOf): readonly LintFinding[] {
  return [
    ...unitlessDurations(linted, placeOf),
    ...parameterFindings(linted),
    ...runFindings(linted, placeOf),
    ...scriptFindings(linted, placeOf),
  ]
}

/** A Go duration that is a number is nanoseconds: `grace_period: 600` is no grace at all. */
function unitlessDurations({ name, step, file, path }: LintedStep, placeOf: PlaceOf): readonly LintFinding[] {
  return (['timeout', 'grace_period'] as const).flatMap((field) => {
    const value = step[field]
    if (value === undefined || !/^[1-9]\d*$/.test(String(value))) return []
    return [
      lintFinding('steps.duration-without-unit', {
        summary: `${name}: ${field} is ${value} nanoseconds`,
        evidence: `${field}: ${value}`,
        remedy: `Give it a unit: ${field}: ${value}s`,
        where: placeOf(file, [...path, field]),
      }),
    ]
  })
}

function parameterFindings({ name, step, file }: LintedStep): readonly LintFinding[] {
  const parameters = step.env ?? []
  const about = (rule: LintRule, without: readonly StepParameter[], remedy: string) => {
    if (without.length === 0) return []
    const names = without.map((parameter) => parameter.name).join(', ')
    const noun = rule === 'steps.required-parameter' ? 'default' : 'documentation'
    const summary = `${name}: ${names} ${without.length === 1 ? 'has' : 'have'} no ${noun}`
    return [lintFinding(rule, { summary, remedy, where: { file }, occurrences: without.length })]
  }
  const required = parameters.filter((parameter) => parameter.default === undefined)
  const undocumented = parameters.filter(({ documentation = '' }) => documentation.trim() === '')
  return [
    ...about('steps.required-parameter', required, 'A workflow or a test has to give a value; `default: ""` is one.'),
    ...about('steps.undocumented-parameter', undocumented, 'Say what it does, and which values it takes.'),
  ]
}

function runFindings({ name, step, file, path, hasScript }: LintedStep, placeOf: PlaceOf): readonly LintFinding[] {
  const isBestEffort = 'best_effort' in step && step.best_effort === true
  return [
    ...(isBestEffort && step.timeout === undefined
      ? [
          lintFinding('steps.best-effort-without-timeout', {
            summary: `${name}: best_effort without timeout`,
            remedy: 'Give it a timeout: what may fail must not hang, either.',
            where: placeOf(file, [...path, 'best_effort']),
          }),
        ]
      : []),
    ...(hasScript && step.grace_period === undefined && setsTrap(step.commands)
      ? [
          lintFinding('steps.trap-without-grace', {
            summary: `${name}: its script sets a trap, and the step has no grace_period`,
            remedy: 'Give it one, such as grace_period: 10m; without, what the trap starts is killed after 15 s.',
            where: placeOf(file, [...path, 'commands']),
          }),
        ]
      : []),
  ]
}

const remedies: Readonly<Partial<Record<LintRule, string>>> = {
  'steps.blind-sleep': 'Ask in a loop whether it is there, with a time after which it gives up.',
  'steps.misspelled-command': 'Spell it right: as it stands it fails, and only when what is before it fails.',
  'steps.traced-secret': 'Put set +x before it, and set -x after it.',
  'steps.credentials-left': 'Remove the file in a trap on EXIT: after a failure, too.',
  'steps.tls-unchecked': 'Give it the CA: curl --cacert FILE.',
  'steps.host-key-unchecked': 'Take the host key from where the host was made, or StrictHostKeyChecking=accept-new.',
  'steps.unpinned-image': 'Name it by digest, or by a version: latest is another image tomorrow.',
}

function scriptFindings(
  { name, step, file, path, script, hasScript }: LintedStep,
  placeOf: PlaceOf,
): readonly LintFinding[] {
  if (!hasScript) return []
  const byRule = Map.groupBy(scriptSmells(step.commands), ({ rule }) => rule)
  return [...byRule].map(([rule, smells]) => {
    const [first] = smells as [ScriptSmell]
    const remedy = remedies[rule]
    const rest = smells.length === 1 ? '' : `, and ${smells.length - 1} more`
    return lintFinding(rule, {
      summary: `${name}: ${first.words}${rest}`,
      evidence: first.text,
      where: script === undefined ? placeOf(file, [...path, 'commands']) : { file: script, line: first.line },
      occurrences: smells.length,
      ...(remedy !== undefined && { remedy }),
    })
  })
}
