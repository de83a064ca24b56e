import type { Conversion } from '../../config/convert.ts'
import { findingLine } from '../../config/invalid-config.ts'
import type { Finding, Severity } from '../../errors/finding.ts'

interface CheckReport {
  readonly files: number
  readonly findings: readonly Finding[]
}

/** A line for each finding, as compilers print them, and a last one that counts them. */
export function renderConfigFindings({ files, findings }: CheckReport): string {
  const lines = findings.map((found) => severityLine(found))
  const count = (severity: Severity) => findings.filter((found) => found.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  const verdict = errors > 0 ? `${plural(errors, 'error')}, ${plural(warnings, 'warning')}` : 'no error'
  const rest = errors === 0 && warnings > 0 ? `, ${plural(warnings, 'warning')}` : ''
  return `${[...lines, `${plural(files, 'file')}: ${verdict}${rest}`].join('\n')}\n`
}

/** What a conversion did, for standard error. */
export function renderChanges(file: string, { isUnchanged, changes }: Conversion): string {
  if (isUnchanged) return `${file}: already v2alpha1; nothing is changed\n`
  return changes.map((change) => `${findingLine(change)}\n`).join('')
}

function severityLine(found: Finding): string {
  return findingLine({ ...found, summary: `${found.severity}: ${found.summary}` })
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
