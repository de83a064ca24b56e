/**
 * What a session would do, step by step: the journal of the run is gone on with in memory, as if every step succeeded.
 *
 * It is the engine's own `decide` that says what comes next, so that a plan and a run cannot disagree.
 */
import { KnownError } from '../errors/known-error.ts'
import type { Json, RunEvent } from '../journal/events.ts'
import { foldOnto } from '../journal/fold.ts'
import type { RunState } from '../journal/run-state.ts'
import { type Decision, decide, type PlannedStep } from './decide.ts'
import type { SessionRequest } from './engine.ts'
import type { InputDigests } from './input-digest.ts'
import { isDone } from './run-status.ts'
import { askedOf, instructionEvents, plannedSteps } from './session-plan.ts'
import type { StepExpectation } from './step.ts'
import { startedInputs } from './step-inputs.ts'
import type { Workflow, WorkflowStep } from './workflow.ts'

/**
 * `keep`: done already; `perhaps`: done already, but what it was given may be another then; `elsewhere`: on another side of
 * the gap; `leave`: this session does not come to it.
 */
export type PlannedDoing = 'run' | 'perhaps' | 'keep' | 'skip' | 'elsewhere' | 'leave'

export interface PlannedLeaf {
  readonly step: string
  readonly doing: PlannedDoing
  readonly why: string
  readonly expected?: StepExpectation
}

export interface PlanOptions {
  readonly request: SessionRequest
  readonly digests: InputDigests
}

/** @param state of the run as it is, or an empty one; it is changed */
export async function planRun(
  workflow: Workflow,
  state: RunState,
  options: PlanOptions,
): Promise<readonly PlannedLeaf[]> {
  const simulation = new Simulation(workflow, state, options)
  await simulation.run()
  return simulation.leaves()
}

class Simulation {
  readonly #workflow: Workflow
  readonly #state: RunState
  readonly #options: PlanOptions
  readonly #decided = new Map<string, Pick<PlannedLeaf, 'doing' | 'why'>>()
  /** What the steps gave last time: it may be the same again. */
  readonly #outputs: ReadonlyMap<string, Json | undefined>
  readonly #expected = new Map<string, StepExpectation>()

  constructor(workflow: Workflow, state: RunState, options: PlanOptions) {
    this.#workflow = workflow
    this.#state = state
    this.#options = options
    this.#outputs = new Map([...state.steps].map(([id, { output }]) => [id, output]))
  }

  async run(): Promise<void> {
    const { request, digests } = this.#options
    this.#begin()
    // The teardown is told apart: here it is how a run goes forward.
    const asked = { ...askedOf(request, this.#workflow, false), teardown: 'never' as const }
    for (;;) {
      const plan = await plannedSteps(this.#workflow, this.#state, digests)
      const decision = decide(plan, this.#state, asked)
      if (decision.do === 'gap') {
        this.#note(decision.step, 'elsewhere', `on the ${decision.where} side`)
        this.#succeed(decision.step, undefined)
        continue
      }
      if (decision.do === 'run') await this.#take(decision, plan)
      else if (decision.do === 'skip') this.#skip(decision)
      else return
    }
  }

  /** Every step in its order, with what becomes of it. */
  leaves(): readonly PlannedLeaf[] {
    const unsure = new Set<string>()
    return this.#workflow.steps.map((step) => {
      const { id } = step.outline
      const expected = this.#expected.get(id)
      const leaf = { step: id, ...this.#become(step, unsure), ...(expected && { expected }) }
      if (leaf.doing === 'run' || leaf.doing === 'perhaps') unsure.add(id)
      return leaf
    })
  }

  /** @param unsure steps whose output nobody knows before they have run */
  #become(step: WorkflowStep, unsure: ReadonlySet<string>): Pick<PlannedLeaf, 'doing' | 'why'> {
    const { id, phase } = step.outline
    const decided = this.#decided.get(id)
    if (decided) return decided
    const { status, why, isLeftOut } = this.#state.steps.get(id) ?? { status: 'pending' }
    if (isLeftOut) return { doing: 'skip', why: why ?? status }
    if (phase === 'post') return this.#post(step.policy.skipOnSuccess, step.skipWhy)
    if (status !== 'succeeded') {
      return isDone(status) ? { doing: 'skip', why: why ?? status } : { doing: 'leave', why: 'not asked for' }
    }
    const open = this.#reads(step).filter((each) => unsure.has(each))
    if (open.length > 0) return { doing: 'perhaps', why: `where ${open.join(' or ')} gives something else than before` }
    return { doing: 'keep', why: 'it has succeeded, and its inputs are as they were' }
  }

  /** The steps whose outputs it is given. */
  #reads(step: WorkflowStep): readonly string[] {
    const reads = new Set<string>()
    try {
      step.input((id) => {
        reads.add(id)
        return this.#state.steps.get(id)?.output
      })
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
    }
    return [...reads]
  }

  #post(skipsOnSuccess: boolean, skipWhy: string | undefined): Pick<PlannedLeaf, 'doing' | 'why'> {
    const { request } = this.#options
    const teardown = request.teardown ?? this.#workflow.teardown
    if (skipWhy !== undefined) return { doing: 'skip', why: skipWhy }
    if (request.only !== undefined || request.until !== undefined)
      return { doing: 'leave', why: 'the run stops before' }
    if (teardown === 'never') return { doing: 'leave', why: 'nothing is taken down; run teardown does it' }
    if (skipsOnSuccess) return { doing: 'run', why: 'only where a step before it fails' }
    return { doing: 'run', why: teardown === 'always' ? 'always, at the end' : 'at the end, where all has succeeded' }
  }

  #begin(): void {
    const { request } = this.#options
    const steps = this.#workflow.steps.map(({ outline }) => outline)
    const { run, version } = this.#state
    if (run === '') {
      this.#fold({ type: 'run.created', format: 1, run: 'plan', workflow: this.#workflow.name, steps, version: '' })
    } else this.#fold({ type: 'run.redefined', steps, version })
    this.#fold({ type: 'session.started', host: '', pid: 0, user: '', asked: [] })
    const said = { workflow: this.#workflow, state: this.#state, by: '' }
    for (const event of instructionEvents(request, said)) this.#fold(event)
  }

  async #take({ step: id, attempt, why }: Decision & { do: 'run' }, plan: readonly PlannedStep[]): Promise<void> {
    const step = this.#workflow.steps.find(({ outline }) => outline.id === id)
    this.#note(id, 'run', why)
    const expected = step && (await this.#expect(step))
    if (expected) this.#expected.set(id, expected)
    const inputs = plan.find((each) => each.id === id)?.inputs
    this.#fold({ type: 'step.started', step: id, attempt, ...startedInputs(inputs), log: '', why })
    this.#succeed(id, attempt)
  }

  #expect(step: WorkflowStep): Promise<StepExpectation> | undefined {
    return step.expect?.(this.#inputOf(step))
  }

  /** undefined before the steps that it is made of have run. */
  #inputOf(step: WorkflowStep): Json | undefined {
    try {
      return step.input((id) => this.#outputs.get(id))
    } catch (error) {
      if (error instanceof KnownError) return undefined
      throw error
    }
  }

  #skip({ step, why }: Decision & { do: 'skip' }): void {
    this.#note(step, 'skip', why)
    this.#fold({ type: 'step.skipped', step, why })
  }

  #succeed(step: string, attempt: number | undefined): void {
    const output = this.#outputs.get(step) ?? null
    const last = this.#state.steps.get(step)?.attempts.at(-1)?.number ?? 0
    this.#fold({ type: 'step.succeeded', step, attempt: attempt ?? last, output })
  }

  #note(step: string, doing: PlannedDoing, why: string): void {
    this.#decided.set(step, { doing, why })
  }

  #fold(event: RunEvent): void {
    foldOnto(this.#state, { n: this.#state.events + 1, at: this.#state.lastAt, ...event })
  }
}
