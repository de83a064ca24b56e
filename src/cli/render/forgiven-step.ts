import type { StepState } from '../../journal/run-state.ts'

/** Whether it has failed, and its failure changes nothing for the run. */
export function isForgiven({ outline, status }: Pick<StepState, 'outline' | 'status'>): boolean {
  return outline.ignoresFailure === true && (status === 'failed' || status === 'timed-out')
}

/** The same for people. */
export const forgivenWords = 'best effort: it changes nothing'
