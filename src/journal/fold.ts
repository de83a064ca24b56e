/** `fold(events) -> RunState`. Pure, and for the browser too: the dashboard folds the same events as the engine. */
import type { JournalEvent, StepOutline } from './events.ts'
import { type Attempt, type RunState, type StepState, type StepStatus, teardownWord } from './run-state.ts'

export function emptyRunState(): RunState {
  return {
    run: '',
    workflow: '',
    version: '',
    createdAt: 0,
    steps: new Map(),
    undo: new Map(),
    observers: new Map(),
    session: undefined,
    sessions: 0,
    isTearingDown: false,
    remaining: undefined,
    lastForward: 0,
    exportedTo: undefined,
    importedFrom: undefined,
    events: 0,
    lastAt: 0,
    unknown: new Map(),
  }
}

/** The state after all `events`. */
export function fold(events: Iterable<JournalEvent>): RunState {
  const state = emptyRunState()
  for (const event of events) foldOnto(state, event)
  return state
}

type Appliers = {
  readonly [Type in JournalEvent['type']]: (state: RunState, event: JournalEvent & { type: Type }) => void
}

/** Takes one more event into `state`, which is changed. An event of a type that a later version brought is only counted. */
export function foldOnto(state: RunState, event: JournalEvent): void {
  const apply = appliers[event.type] as ((state: RunState, event: JournalEvent) => void) | undefined
  state.events = event.n
  state.lastAt = event.at
  if (apply) apply(state, event)
  else state.unknown.set(event.type, (state.unknown.get(event.type) ?? 0) + 1)
}

const appliers: Appliers = {
  'run.created'(state, { run, workflow, version, steps, at }) {
    Object.assign(state, { run, workflow, version, createdAt: at })
    defineSteps(state, steps)
  },
  'run.redefined'(state, { steps, version }) {
    state.version = version
    defineSteps(state, steps)
  },
  'session.started'(state, { host, pid, user, asked, at }) {
    state.sessions += 1
    state.session = { number: state.sessions, host, pid, user, asked, startedAt: at }
    // Whoever goes on here takes the export back; to take down what was made here leaves the run to the other side.
    if (asked[0] !== teardownWord) state.exportedTo = undefined
    for (const step of state.steps.values()) if (step.status === 'running') endAttempt(step, 'interrupted', at)
  },
  'session.ended'({ session }, { at, outcome, why }) {
    if (session) Object.assign(session, { endedAt: at, outcome, ...(why !== undefined && { why }) })
  },
  'step.started'(state, event) {
    const step = stepOf(state, event.step)
    const { attempt: number, at: startedAt, log, inputs, parts, why } = event
    const given = { inputs, ...(parts && { parts }) }
    step.attempts.push({ number, session: state.sessions, startedAt, log, ...given, why, status: 'running' })
    become(step, 'running', event)
    noteForward(state, step, event.n)
  },
  'step.process'(state, { step, attempt, pid, started }) {
    const entry = attemptOf(stepOf(state, step), attempt)
    if (entry) entry.process = { pid, ...(started !== undefined && { started }) }
  },
  'step.heartbeat'(state, { step, at, note, done, total, unit }) {
    const entry = stepOf(state, step)
    entry.progress = {
      at,
      ...(note !== undefined && { note }),
      ...(done !== undefined && { done }),
      ...(total !== undefined && { total }),
      ...(unit !== undefined && { unit }),
    }
    delete entry.silentForMs
  },
  'step.silent'(state, { step, forMs }) {
    stepOf(state, step).silentForMs = forMs
  },
  'step.succeeded'(state, event) {
    const step = stepOf(state, event.step)
    const attempt = attemptOf(step, event.attempt)
    if (attempt && event.note !== undefined) attempt.note = event.note
    if (attempt && event.warnings !== undefined) attempt.warnings = event.warnings
    step.output = event.output
    if (attempt) takeInputs(step, attempt)
    endAttempt(step, 'succeeded', event.at)
    become(step, 'succeeded', event)
    noteForward(state, step, event.n)
  },
  'step.failed'(state, event) {
    const step = stepOf(state, event.step)
    const attempt = attemptOf(step, event.attempt)
    const { cause, problem, exit, signal, retryAt } = event
    if (attempt) {
      Object.assign(attempt, { cause, problem })
      if (exit !== undefined) attempt.exit = exit
      if (signal !== undefined) attempt.signal = signal
      if (retryAt !== undefined) attempt.retryAt = retryAt
    }
    const status = cause === 'timeout' ? 'timed-out' : cause === 'lost' ? 'interrupted' : 'failed'
    endAttempt(step, status, event.at)
    become(step, status, event)
    noteForward(state, step, event.n)
  },
  'step.cancelled'(state, event) {
    const step = stepOf(state, event.step)
    endAttempt(step, 'cancelled', event.at)
    become(step, 'cancelled', event)
    step.why = event.why
  },
  'step.skipped'(state, event) {
    const step = stepOf(state, event.step)
    become(step, 'skipped', event)
    step.why = event.why
    if (event.by !== undefined && step.outline.phase === 'post') step.isLeftOut = true
  },
  'step.marked-done'(state, event) {
    const step = stepOf(state, event.step)
    become(step, 'marked-done', event)
    step.why = event.why
    noteForward(state, step, event.n)
  },
  'step.reset'(state, event) {
    const step = stepOf(state, event.step)
    become(step, 'pending', event)
    step.why = event.why
    delete step.inputs
    delete step.parts
    delete step.output
  },
  'undo.recorded'(state, { undo, step, record, where }) {
    state.undo.set(undo, { id: undo, step, record, status: 'open', ...(where !== undefined && { where }) })
  },
  'undo.done'(state, { undo }) {
    const entry = state.undo.get(undo)
    if (entry) entry.status = 'done'
  },
  'undo.failed'(state, { undo, problem }) {
    const entry = state.undo.get(undo)
    if (entry) Object.assign(entry, { status: 'failed', problem, triedIn: state.sessions })
  },
  'teardown.started'(state) {
    state.isTearingDown = true
    state.remaining = undefined
  },
  'teardown.ended'(state, { remaining }) {
    state.remaining = remaining
  },
  'observer.started'(state, { observer, log }) {
    state.observers.set(observer, { name: observer, log })
  },
  'observer.ended'(state, { observer, at, problem }) {
    const entry = state.observers.get(observer)
    if (entry) Object.assign(entry, { endedAt: at, ...(problem && { problem }) })
  },
  'run.exported'(state, { file }) {
    state.exportedTo = file
  },
  'run.imported'(state, { host }) {
    state.importedFrom = host
    // Here it goes on.
    state.exportedTo = undefined
  },
}

/** What is known of a step stays with its id; the order is the new one. A step that is there no more keeps its past. */
function defineSteps(state: RunState, outlines: readonly StepOutline[]): void {
  const before = new Map(state.steps)
  state.steps.clear()
  for (const outline of outlines) {
    const known = before.get(outline.id)
    before.delete(outline.id)
    state.steps.set(outline.id, known ? { ...known, outline } : newStep(outline))
  }
  for (const [id, gone] of before) if (gone.attempts.length > 0) state.steps.set(id, gone)
}

function newStep(outline: StepOutline): StepState {
  return { outline, status: 'pending', attempts: [], since: 0 }
}

/** A step that no outline told of: a journal whose first lines are of another version. */
function stepOf(state: RunState, id: string): StepState {
  const known = state.steps.get(id)
  if (known) return known
  const step = newStep({ id, title: id, phase: 'pre', groups: [] })
  state.steps.set(id, step)
  return step
}

function takeInputs(step: StepState, { inputs, parts }: Attempt): void {
  step.inputs = inputs
  delete step.parts
  if (parts) step.parts = parts
}

/** Nearly always the last one. */
function attemptOf({ attempts }: StepState, number: number): Attempt | undefined {
  return attempts.findLast((attempt) => attempt.number === number)
}

function endAttempt(step: StepState, status: StepStatus, at: number): void {
  const attempt = step.attempts.at(-1)
  if (attempt?.status === 'running') Object.assign(attempt, { status, endedAt: at })
  step.status = status
  delete step.silentForMs
}

function become(step: StepState, status: StepStatus, { n }: JournalEvent): void {
  step.status = status
  step.since = n
  delete step.why
  delete step.isLeftOut
  delete step.progress
}

/** What a teardown took away may be there again as soon as another step runs. */
function noteForward(state: RunState, { outline }: StepState, n: number): void {
  if (outline.phase === 'post') return
  state.lastForward = n
  state.isTearingDown = false
  state.remaining = undefined
}
