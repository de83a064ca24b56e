/** What `steps validate` found: the verdict, and a line for each finding, as compilers print them. */
import { relative } from 'node:path'
import { findingLine } from '../../config/invalid-config.ts'
import type { Finding } from '../../errors/finding.ts'
import type { LintFinding } from '../../workflow/step-registry/lint/lint-finding.ts'
import { count } from './quantities.ts'
import { lintCounts, renderStepsLint } from './steps-lint.ts'

interface Validation {
  readonly registry: string
  readonly references: number
  readonly chains: number
  readonly workflows: number
  readonly observers: number
  readonly hasScripts: boolean
  readonly findings: readonly Finding[]
  /** Only where it was asked for. */
  readonly lint?: readonly LintFinding[]
}

/** @param cwd what paths are shown relative to, where that makes them shorter */
export function renderStepsValidation(report: Validation, cwd: string): string {
  const { references, chains, workflows, observers, hasScripts, findings, lint } = report
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const parts = [
    count(references, 'step'),
    count(chains, 'chain'),
    count(workflows, 'workflow'),
    count(observers, 'observer'),
  ]
  const verdict = errors > 0 ? `not valid: ${count(errors, 'error')}` : 'valid: no error'
  const scripts = hasScripts ? '' : '; scripts were not read'
  const linted = lint === undefined ? '' : `; lint: ${lintCounts(lint)}`
  const verdictLine = `${verdict}${warnings > 0 ? `, ${count(warnings, 'warning')}` : ''}: ${parts.join(', ')}${scripts}${linted}`
  const found = findings.map((one) => line(one, cwd))
  return `${[verdictLine, ...found].join('\n')}\n${lint ? renderStepsLint(lint, cwd) : ''}`
}

function line(found: Finding, cwd: string): string {
  const { where, severity, summary } = found
  const near = where && relative(cwd, where.file)
  const file = near === undefined || near.startsWith('..') ? where?.file : near
  return findingLine({
    ...found,
    summary: `${severity}: ${summary}`,
    ...(where && file && { where: { ...where, file } }),
  })
}
