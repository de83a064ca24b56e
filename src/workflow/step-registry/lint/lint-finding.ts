import { type Finding, finding, type Severity } from '../../../errors/finding.ts'

/** Every rule, with how bad it is at least, and its words for a summary. docs/steps-lint.md says more of each. */
export const lintRules = {
  'steps.duration-without-unit': { severity: 'error', title: 'a duration without a unit is nanoseconds' },
  'steps.best-effort-without-timeout': { severity: 'error', title: 'best effort without a timeout' },
  'steps.misspelled-command': { severity: 'error', title: 'a command that is spelled wrong' },
  'steps.not-destroyed': { severity: 'error', title: 'created, and never destroyed' },
  'steps.destroyed-otherwise': { severity: 'warning', title: 'created by one, destroyed by the other of another pair' },
  'steps.post-emptied': { severity: 'warning', title: 'post is emptied: nothing is torn down' },
  'steps.conflicting-defaults': { severity: 'warning', title: 'one parameter, several defaults' },
  'steps.trap-without-grace': { severity: 'warning', title: 'a trap that is given no time to run' },
  'steps.blind-sleep': { severity: 'warning', title: 'sleeps for minutes instead of waiting for something' },
  'steps.traced-secret': { severity: 'warning', title: 'set -x where a secret is read' },
  'steps.credentials-left': { severity: 'warning', title: 'credentials in a file that stays when the script fails' },
  'steps.tls-unchecked': { severity: 'warning', title: 'certificates are not checked' },
  'steps.unpinned-image': { severity: 'warning', title: 'an image by the tag latest' },
  'steps.host-key-unchecked': { severity: 'info', title: 'host keys of SSH are not checked' },
  'steps.required-parameter': { severity: 'info', title: 'parameters without a default' },
  'steps.undocumented-parameter': { severity: 'info', title: 'parameters without documentation' },
} as const satisfies Readonly<Record<string, { readonly severity: Severity; readonly title: string }>>

export type LintRule = keyof typeof lintRules

export interface LintFinding extends Finding {
  readonly id: LintRule
  /** How often its cause stands there: lines of a script, parameters of a step, steps that disagree. */
  readonly occurrences: number
}

/** A finding with the severity of its rule, unless it is told another. */
export function lintFinding(
  id: LintRule,
  parts: Omit<Finding, 'id' | 'severity'> & { readonly severity?: Severity; readonly occurrences?: number },
): LintFinding {
  const { occurrences = 1, severity = lintRules[id].severity, ...rest } = parts
  return { ...finding({ ...rest, id, severity }), id, occurrences }
}
