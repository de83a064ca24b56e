/** What `--lint` found, by rule: how often, and the first of them. */
import { relative } from 'node:path'
import { type LintFinding, type LintRule, lintRules } from '../../workflow/step-registry/lint/lint-finding.ts'
import { count } from './quantities.ts'

/** Of one rule, before it says how many more there are. */
const shownFindings = 5

/** @param cwd what paths are shown relative to, where that makes them shorter */
export function renderStepsLint(findings: readonly LintFinding[], cwd: string): string {
  const byRule = Map.groupBy(findings, ({ id }) => id)
  const blocks = (Object.keys(lintRules) as LintRule[]).flatMap((rule) => {
    const found = byRule.get(rule)
    return found === undefined ? [] : [renderRule(rule, found, cwd)]
  })
  if (blocks.length === 0) return ''
  return ['', ...blocks, '--json lists them all; docs/steps-lint.md says what they mean\n'].join('\n')
}

/** `19 errors, 47 warnings, 514 notes`. */
export function lintCounts(findings: readonly LintFinding[]): string {
  const of = (severity: LintFinding['severity']) => findings.filter((found) => found.severity === severity).length
  if (findings.length === 0) return 'nothing'
  return [count(of('error'), 'error'), count(of('warning'), 'warning'), count(of('info'), 'note')].join(', ')
}

function renderRule(rule: LintRule, findings: readonly LintFinding[], cwd: string): string {
  const severities = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const found = findings.filter((one) => one.severity === severity)
    return found.length === 0 ? [] : [count(found.length, severity === 'info' ? 'note' : severity)]
  })
  const places = findings.reduce((sum, { occurrences }) => sum + occurrences, 0)
  const where = places === findings.length ? '' : ` in ${count(places, 'place')}`
  const worst = ['error', 'warning', 'info']
  const sorted = findings.toSorted((a, b) => worst.indexOf(a.severity) - worst.indexOf(b.severity))
  const title = `${rule}: ${lintRules[rule].title}: ${severities.join(', ')}${where}`
  // Notes are there to be counted; who wants to mend them asks for all of them.
  const shown = sorted.filter(({ severity }) => severity !== 'info').slice(0, shownFindings)
  const left = findings.length - shown.length
  const more = shown.length === 0 ? [] : left > 0 ? [`  and ${left} more`] : []
  return [title, ...shown.flatMap((found) => lines(found, cwd)), ...more, ''].join('\n')
}

function lines(found: LintFinding, cwd: string): readonly string[] {
  const evidence = found.evidence === undefined ? [] : [`      ${found.evidence}`]
  return [`  ${line(found, cwd)}`, ...evidence]
}

function line({ where, summary }: LintFinding, cwd: string): string {
  if (where === undefined) return summary
  const near = relative(cwd, where.file)
  const file = near.startsWith('..') ? where.file : near
  return `${file}${where.line === undefined ? '' : `:${where.line}`}: ${summary}`
}
