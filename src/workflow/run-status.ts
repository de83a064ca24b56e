import { type RunState, type StepState, teardownWord } from '../journal/run-state.ts'

/**
 * How a run is, in one word. `new`: begun, and nothing written yet; `interrupted`: its engine is gone, and never said so;
 * `exported`: it goes on elsewhere; `gap`: it has to cross; `taken-down`: what it made is gone again.
 */
export type RunStatus =
  | 'new'
  | 'running'
  | 'interrupted'
  | 'succeeded'
  | 'failed'
  | 'stopped'
  | 'gap'
  | 'exported'
  | 'taken-down'

/** @param isHeld whether a process is at work on it now */
export function runStatus(state: RunState, isHeld: boolean): RunStatus {
  const { session } = state
  if (isHeld) return 'running'
  // Also where its last session was cut off: it is the other side that goes on.
  if (state.exportedTo !== undefined) return 'exported'
  if (session === undefined) return 'new'
  if (session.endedAt === undefined) return 'interrupted'
  const { outcome = 'interrupted', asked } = session
  if (asked[0] !== teardownWord || outcome !== 'succeeded') return outcome
  if (isTakenDown(state)) return 'taken-down'
  return hasSucceeded(state) ? 'succeeded' : 'stopped'
}

/** True where nothing is left of what its steps made: going on from the middle would build on nothing. */
export function isTakenDown(state: RunState): boolean {
  if (!state.isTearingDown || state.remaining !== 0) return false
  const wasPostRun = [...state.steps.values()].some(
    ({ outline, attempts }) => outline.phase === 'post' && attempts.length > 0,
  )
  return wasPostRun || [...state.undo.values()].some(({ status }) => status === 'done')
}

/** True where every step before the teardown is done. */
export function hasSucceeded({ steps }: RunState): boolean {
  return [...steps.values()].every(({ outline, status }) => outline.phase === 'post' || isDone(status))
}

export function isDone(status: StepState['status']): boolean {
  return status === 'succeeded' || status === 'skipped' || status === 'marked-done'
}
