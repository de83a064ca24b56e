/** What a session begins with: the steps as they are to be decided on, and what its user says of them. */
import { KnownError } from '../errors/known-error.ts'
import type { RunEvent } from '../journal/events.ts'
import type { RunState } from '../journal/run-state.ts'
import type { Asked, PlannedStep } from './decide.ts'
import type { SessionRequest } from './engine.ts'
import type { InputDigests } from './input-digest.ts'
import type { StepInputs } from './step-inputs.ts'
import type { Workflow, WorkflowStep } from './workflow.ts'

/** The steps, with the digests of their inputs as they are now. */
export function plannedSteps(
  { steps }: Workflow,
  state: RunState,
  digests: InputDigests,
): Promise<readonly PlannedStep[]> {
  return Promise.all(
    steps.map(async (step) => {
      const { id, phase, where } = step.outline
      const { ignoresFailure, skipOnSuccess } = step.policy
      const inputs = phase === 'post' ? undefined : await inputsOf(step, { state, digests })
      const { readsEverything, skipWhy } = step
      const rules = { ignoresFailure, skipOnSuccess, readsEverything, ...(skipWhy !== undefined && { skipWhy }) }
      return { id, phase, ...rules, inputs, ...(where && { where }) }
    }),
  )
}

/** Undefined where a step before has not given them yet. */
async function inputsOf(
  step: WorkflowStep,
  { state, digests }: { readonly state: RunState; readonly digests: InputDigests },
): Promise<StepInputs | undefined> {
  try {
    return await digests.of(
      step,
      step.input((id) => state.steps.get(id)?.output),
    )
  } catch (error) {
    if (error instanceof KnownError && error.code === 'STEP_INPUT') return undefined
    throw error
  }
}

export function askedOf(request: SessionRequest, workflow: Workflow, isStopped: boolean): Asked {
  const { mode = 'forward', teardown = workflow.teardown, sites, until, only, scope } = request
  return {
    mode,
    teardown,
    isStopped,
    ...(sites && { sites }),
    ...(until !== undefined && { until }),
    ...(only !== undefined && { only }),
    ...(scope !== undefined && { scope }),
  }
}

function requireRecord(undo: number, { undo: records }: RunState): void {
  if (records.has(undo)) return
  const open = [...records.values()].filter(({ status }) => status !== 'done').map(({ id }) => id)
  throw new KnownError('USAGE', `There is nothing to take away with the number ${undo}`, {
    hint: open.length === 0 ? 'There is nothing left.' : `There is: ${open.join(', ')}. sallyport run show says what.`,
  })
}

/**
 * What a user says of steps, as the journal has it.
 *
 * @throws KnownError USAGE where a record is to be forgotten that there is not
 */
export function instructionEvents(
  { from, skip = [], rerun = [], markDone = [], forget = [] }: SessionRequest,
  { workflow, state, by }: { readonly workflow: Workflow; readonly state: RunState; readonly by: string },
): readonly RunEvent[] {
  for (const undo of forget) requireRecord(undo, state)
  const ids = workflow.steps.filter(({ outline }) => outline.phase !== 'post').map(({ outline }) => outline.id)
  const start = from === undefined ? ids.length : ids.indexOf(from)
  const again = ids.slice(start).filter((step) => state.steps.get(step)?.status !== 'pending')
  return [
    ...again.map((step) => ({ type: 'step.reset' as const, step, why: `to be run from ${from}`, by })),
    ...rerun.map(({ step, why }) => ({ type: 'step.reset' as const, step, why, by })),
    ...skip.map(({ step, why }) => ({ type: 'step.skipped' as const, step, why, by })),
    ...markDone.map(({ step, why }) => ({ type: 'step.marked-done' as const, step, why, by })),
    ...forget.map((undo) => ({ type: 'undo.done' as const, undo })),
  ]
}
