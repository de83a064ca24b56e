/** What is wrong with Ignition configs, in the lines of `ignition-validate`. */
import { redact } from '../../errors/redact.ts'
import type { IgnitionReport, IgnitionReportEntry } from '../../ignition/report.ts'
import { count } from './quantities.ts'

export interface ValidatedConfig {
  /** As the user named it. */
  readonly file: string
  readonly report: IgnitionReport
}

export function renderValidations(validated: readonly ValidatedConfig[]): string {
  return validated.map(renderOne).join('\n')
}

const shownWarnings = 50

function renderOne({ file, report: { entries, isFatal } }: ValidatedConfig): string {
  const { error = [], warning = [], info = [] } = Object.groupBy(entries, ({ severity }) => severity)
  const numbers = [
    ...(error.length > 0 ? [count(error.length, 'error')] : []),
    ...(warning.length > 0 ? [count(warning.length, 'warning')] : []),
  ]
  const verdict = [isFatal ? 'not valid' : 'valid', file, ...(numbers.length > 0 ? [numbers.join(', ')] : [])].join(
    ': ',
  )
  const left = warning.length - shownWarnings
  const lines = [
    verdict,
    ...[...error, ...info, ...warning.slice(0, shownWarnings)].map(renderEntry),
    ...(left > 0 ? [`and ${count(left, 'more warning')} (--json lists them)`] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** `error at $.storage.files.0.path, line 4 col 15: path not absolute` */
function renderEntry({ severity, path, line, column, message }: IgnitionReportEntry): string {
  if (severity === 'info') return `  note: ${redact(message)}`
  const place = line === undefined ? '' : `, line ${line} col ${column}`
  return redact(`${severity} at ${path}${place}: ${message}`)
}

export function validationDocument(validated: readonly ValidatedConfig[]): object {
  const files = validated.map(({ file, report: { entries, isFatal } }) => ({
    file,
    isFatal,
    entries: entries.map((entry) => ({ ...entry, path: redact(entry.path), message: redact(entry.message) })),
  }))
  return { files }
}
