/** `decide(plan, state, asked) -> Decision`. Pure: the same journal always leads to the same next step. */
import type { Phase, Site } from '../journal/events.ts'
import type { RunState, StepState, UndoState } from '../journal/run-state.ts'
import { changedInputsText, type StepInputs } from './step-inputs.ts'
import type { TeardownPolicy } from './workflow.ts'

/** What `decide` knows of a step. */
export interface PlannedStep {
  readonly id: string
  readonly phase: Phase
  readonly where?: Site
  readonly ignoresFailure: boolean
  readonly skipOnSuccess: boolean
  readonly readsEverything: boolean
  /** As they are now; undefined where a step before has not given them yet. */
  readonly inputs: StepInputs | undefined
  /** Why it is no part of this run. */
  readonly skipWhy?: string
}

/** What this session is to do. */
export interface Asked {
  /** `teardown`: what is there is taken away, and nothing else is run. */
  readonly mode: 'forward' | 'teardown'
  readonly teardown: TeardownPolicy
  /** Sides of the gap that this machine is on; undefined: all. */
  readonly sites?: ReadonlySet<Site>
  /** Id of the last step to run. */
  readonly until?: string
  /** Id of the only step to run. */
  readonly only?: string
  /** Undo records of this scope alone. */
  readonly scope?: string
  /** A user stopped the run: nothing more is begun but the teardown. */
  readonly isStopped: boolean
}

export type Decision =
  | { readonly do: 'run'; readonly step: string; readonly attempt: number; readonly why: string }
  | { readonly do: 'wait'; readonly step: string; readonly until: number }
  | { readonly do: 'skip'; readonly step: string; readonly why: string }
  | { readonly do: 'teardown'; readonly why: string }
  | { readonly do: 'undo'; readonly undo: number }
  | { readonly do: 'end'; readonly outcome: 'succeeded' | 'failed' | 'stopped'; readonly why: string }
  | { readonly do: 'gap'; readonly step: string; readonly where: Site }

export function decide(plan: readonly PlannedStep[], state: RunState, asked: Asked): Decision {
  // One that came to its end is over: somebody who goes on after it wants to go forward.
  const isUnderWay = state.isTearingDown && state.remaining === undefined
  if (asked.mode === 'teardown' || isUnderWay) return decideTeardown(plan, state, asked)
  const next = decideForward(plan, state, asked)
  if (next.do !== 'end' || asked.only !== undefined || asked.until !== undefined) return next
  const isWanted = asked.teardown === 'always' || (asked.teardown === 'on-success' && next.outcome === 'succeeded')
  if (!isWanted || state.remaining === 0) return next
  return { do: 'teardown', why: next.why }
}

/**
 * The next step of this side. What belongs to the other side is passed by: the run comes to the gap when nothing more can be
 * done here, so that it crosses once.
 */
function decideForward(plan: readonly PlannedStep[], state: RunState, asked: Asked): Decision {
  const staleness = new StaleTracker()
  let gap: Decision | undefined
  for (const step of plan.filter(({ phase }) => phase !== 'post')) {
    if (asked.isStopped) return { do: 'end', outcome: 'stopped', why: 'it was stopped' }
    if (asked.only !== undefined && step.id !== asked.only) continue
    const isOnly = asked.only !== undefined
    const isUpstreamNew = staleness.has(step, state)
    // Its secrets and files are over there: whether they have changed cannot be seen from here.
    const isDoneThere = isElsewhere(step, asked) && state.steps.get(step.id)?.status === 'succeeded'
    const decision = isDoneThere ? 'done' : decideStep(step, { state, isUpstreamNew, isOnly })
    if (decision === 'failed') return gap ?? { do: 'end', outcome: 'failed', why: `${step.id} failed` }
    if (decision === 'done') {
      if (step.id === asked.until)
        return gap ?? { do: 'end', outcome: 'stopped', why: `it was to run until ${step.id}` }
    } else if (decision.do === 'skip') return decision
    else if (isElsewhere(step, asked)) gap ??= { do: 'gap', step: step.id, where: step.where }
    else if (gap === undefined || isIndependent(step)) return decision
  }
  const why = asked.only === undefined ? 'every step has succeeded' : `${asked.only} is done`
  return gap ?? { do: 'end', outcome: 'succeeded', why }
}

function isElsewhere(step: PlannedStep, { sites }: Asked): step is PlannedStep & { readonly where: Site } {
  return step.where !== undefined && sites !== undefined && !sites.has(step.where)
}

/** Of what is still to be done on the other side: it is known to belong here, and all that it needs is there. */
function isIndependent({ where, inputs, readsEverything }: PlannedStep): boolean {
  return where !== undefined && inputs !== undefined && !readsEverything
}

/** A step whose inputs are not declared is stale once a step before it has succeeded later than itself. */
class StaleTracker {
  #latest = 0

  has({ id, readsEverything }: PlannedStep, state: RunState): boolean {
    const step = state.steps.get(id)
    const isNewer = readsEverything && step !== undefined && step.status === 'succeeded' && this.#latest > step.since
    if (step?.status === 'succeeded') this.#latest = Math.max(this.#latest, step.since)
    return isNewer
  }
}

interface StepView {
  readonly state: RunState
  readonly isUpstreamNew: boolean
  readonly isOnly: boolean
}

function decideStep(planned: PlannedStep, { state, isUpstreamNew, isOnly }: StepView): Decision | 'done' | 'failed' {
  const step = state.steps.get(planned.id)
  if (planned.skipWhy !== undefined && step?.status !== 'succeeded' && step?.status !== 'skipped') {
    return { do: 'skip', step: planned.id, why: planned.skipWhy }
  }
  if (step === undefined) return run(planned.id, undefined, 'it has not run yet')
  const isOfThisSession = (step.attempts.at(-1)?.session ?? 0) === state.sessions
  switch (step.status) {
    case 'marked-done':
    case 'skipped':
      return 'done'
    case 'succeeded':
      if (isOnly) return isOfThisSession ? 'done' : run(planned.id, step, 'it was asked for')
      if (planned.inputs !== undefined && step.inputs !== planned.inputs.digest)
        return run(planned.id, step, changedInputsText(step.parts, planned.inputs))
      return isUpstreamNew ? run(planned.id, step, 'a step before it ran again') : 'done'
    case 'pending':
      return run(planned.id, step, step.why ?? 'it has not run yet')
    case 'running':
    case 'interrupted':
      return run(planned.id, step, 'the engine was gone before it ended')
    case 'failed':
    case 'timed-out':
    case 'cancelled':
      return decideFailed(planned, step, isOfThisSession)
  }
}

function decideFailed(planned: PlannedStep, step: StepState, isOfThisSession: boolean): Decision | 'done' | 'failed' {
  if (!isOfThisSession)
    return run(planned.id, step, `it ${step.status === 'cancelled' ? 'was stopped' : 'failed'} before`)
  const retryAt = step.attempts.at(-1)?.retryAt
  if (retryAt !== undefined && step.status !== 'cancelled') return { do: 'wait', step: planned.id, until: retryAt }
  return planned.ignoresFailure && step.status !== 'cancelled' ? 'done' : 'failed'
}

function run(id: string, step: StepState | undefined, why: string): Decision {
  return { do: 'run', step: id, attempt: (step?.attempts.at(-1)?.number ?? 0) + 1, why }
}

function decideTeardown(plan: readonly PlannedStep[], state: RunState, asked: Asked): Decision {
  const isWhole = asked.scope === undefined
  if (isWhole && !state.isTearingDown) return { do: 'teardown', why: 'it was asked for' }
  const hasSucceeded = isWhole && hasForwardSucceeded(plan, state)
  for (const step of isWhole ? plan : []) {
    if (step.phase !== 'post') continue
    const decision = decidePost(step, state, { hasSucceeded, isAskedFor: asked.mode === 'teardown' })
    if (decision !== undefined) return decision
  }
  const undo = nextUndo(state, asked)
  if (undo) return { do: 'undo', undo: undo.id }
  return endOfTeardown(plan, state, asked)
}

interface Teardown {
  /** Everything before it. */
  readonly hasSucceeded: boolean
  /** It is all that this session is to do. */
  readonly isAskedFor: boolean
}

/** Of the teardown every step is run, whatever came of those before it. */
function decidePost(
  planned: PlannedStep,
  state: RunState,
  { hasSucceeded, isAskedFor }: Teardown,
): Decision | undefined {
  const step = state.steps.get(planned.id)
  const last = step?.attempts.at(-1)
  const isOfThisSession = last !== undefined && last.session === state.sessions
  const { skipWhy } = planned
  if (skipWhy !== undefined && step?.status !== 'skipped') return { do: 'skip', step: planned.id, why: skipWhy }
  if (step?.isLeftOut) return isAskedFor ? run(planned.id, step, 'teardown') : undefined
  if (step === undefined || step.status === 'pending') {
    return planned.skipOnSuccess && hasSucceeded
      ? { do: 'skip', step: planned.id, why: 'everything before it has succeeded' }
      : run(planned.id, step, 'teardown')
  }
  if (step.status === 'succeeded' || step.status === 'skipped' || step.status === 'marked-done') {
    return step.since > state.lastForward ? undefined : run(planned.id, step, 'a step ran since it was last run')
  }
  if (!isOfThisSession || step.status === 'running' || step.status === 'interrupted') {
    return run(planned.id, step, 'it had not succeeded')
  }
  return last.retryAt === undefined || step.status === 'cancelled'
    ? undefined
    : { do: 'wait', step: planned.id, until: last.retryAt }
}

/** The youngest first; each once a session, so that one that cannot be done keeps nobody from the next. */
function nextUndo(state: RunState, asked: Asked): UndoState | undefined {
  return [...state.undo.values()]
    .filter((undo) => isAskedFor(undo, asked) && undo.triedIn !== state.sessions)
    .reduce<UndoState | undefined>((last, undo) => (last === undefined || undo.id > last.id ? undo : last), undefined)
}

function isAskedFor({ status, record, where }: UndoState, { scope, sites }: Asked): boolean {
  const isHere = where === undefined || sites === undefined || sites.has(where)
  return status !== 'done' && isHere && (scope === undefined || record.scope === scope)
}

function endOfTeardown(plan: readonly PlannedStep[], state: RunState, asked: Asked): Decision {
  const left = remains(plan, state, asked)
  if (left > 0) return { do: 'end', outcome: 'failed', why: `${left} of the teardown could not be done` }
  if (asked.mode === 'teardown') return { do: 'end', outcome: 'succeeded', why: 'what was asked for is taken away' }
  const failed = plan.find((step) => step.phase !== 'post' && hasFailed(step, state))
  const isStopped = failed !== undefined && state.steps.get(failed.id)?.status === 'cancelled'
  if (failed && !isStopped) return { do: 'end', outcome: 'failed', why: `${failed.id} failed` }
  if (!hasForwardSucceeded(plan, state)) return { do: 'end', outcome: 'stopped', why: 'it was stopped' }
  return { do: 'end', outcome: 'succeeded', why: 'every step has succeeded, and the teardown' }
}

/** How much of a teardown is not done: post steps that failed, undo records that are still open. */
export function remains(plan: readonly PlannedStep[], state: RunState, asked: Asked): number {
  const steps = plan.filter((step) => asked.scope === undefined && step.phase === 'post' && hasFailed(step, state))
  return steps.length + [...state.undo.values()].filter((undo) => isAskedFor(undo, asked)).length
}

function hasFailed({ id, ignoresFailure }: PlannedStep, state: RunState): boolean {
  const status = state.steps.get(id)?.status
  return (
    !ignoresFailure &&
    (status === 'failed' || status === 'timed-out' || status === 'interrupted' || status === 'cancelled')
  )
}

function hasForwardSucceeded(plan: readonly PlannedStep[], state: RunState): boolean {
  return plan.every((step) => {
    const status = state.steps.get(step.id)?.status
    return step.phase === 'post' || status === 'succeeded' || status === 'skipped' || status === 'marked-done'
  })
}
