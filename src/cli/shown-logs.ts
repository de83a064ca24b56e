/** Which logs of a run there are. */
import type { Attempt, RunState } from '../journal/run-state.ts'

/** One log of a run. */
export interface ShownLog {
  readonly step: string
  /** What is no step has only a number and a log. */
  readonly attempt: Pick<Attempt, 'number' | 'log'> & Partial<Attempt>
}

/** Where somebody wants to look first. */
export function currentStep({ steps }: RunState): string | undefined {
  const begun = [...steps.values()].filter(({ attempts }) => attempts.length > 0)
  const isBad = (status: string) => status === 'failed' || status === 'timed-out' || status === 'interrupted'
  const found =
    begun.find(({ status }) => status === 'running') ??
    begun.find(({ status }) => isBad(status)) ??
    begun.toSorted((a, b) => startOf(a.attempts) - startOf(b.attempts)).at(-1)
  return found?.outline.id
}

function startOf(attempts: readonly Attempt[]): number {
  return attempts.at(-1)?.startedAt ?? 0
}

/** In the order in which they began. */
export function allLogs({ steps }: RunState): readonly ShownLog[] {
  return [...steps.values()]
    .flatMap(({ outline, attempts }) => attempts.map((attempt) => ({ step: outline.id, attempt })))
    .sort((a, b) => a.attempt.startedAt - b.attempt.startedAt)
}

export function logTitle({ step, attempt: { number } }: ShownLog): string {
  return `==> ${step}, attempt ${number} <==\n`
}
