import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JournalEvent, Phase, RunEvent, Site } from '../journal/events.ts'
import { emptyRunState, fold, foldOnto } from '../journal/fold.ts'
import { type Asked, decide, type PlannedStep } from './decide.ts'

interface ModelStep {
  readonly phase: Phase
  readonly where: Site | undefined
  /** How often it fails before it succeeds; each failure ends the session. */
  readonly failures: number
  readonly ignoresFailure: boolean
  readonly skipOnSuccess: boolean
  /** How many things it makes. */
  readonly makes: number
}

interface Model {
  readonly steps: readonly ModelStep[]
  readonly teardown: 'never' | 'on-success' | 'always'
  /** After so many events the engine is gone, once each. */
  readonly crashes: readonly number[]
}

const phaseOrder: readonly Phase[] = ['pre', 'test', 'post']

const modelStep = fc.record({
  phase: fc.constantFrom<Phase>('pre', 'test', 'post'),
  where: fc.option(fc.constantFrom<Site>('connected', 'bastion', 'closed'), { nil: undefined }),
  failures: fc.integer({ min: 0, max: 2 }),
  ignoresFailure: fc.boolean(),
  skipOnSuccess: fc.boolean(),
  makes: fc.integer({ min: 0, max: 2 }),
})

const models: fc.Arbitrary<Model> = fc.record({
  steps: fc
    .array(modelStep, { minLength: 1, maxLength: 8 })
    .map((steps) => steps.toSorted((a, b) => phaseOrder.indexOf(a.phase) - phaseOrder.indexOf(b.phase))),
  teardown: fc.constantFrom('never', 'on-success', 'always'),
  crashes: fc.array(fc.integer({ min: 2, max: 60 }), { maxLength: 5 }),
})

/** The engine without the world: what `decide` says is done, and events are written; now and then it is gone. */
class Simulation {
  readonly events: JournalEvent[] = []
  readonly state = emptyRunState()
  readonly model: Model
  readonly #crashes: Set<number>
  #undo = 0

  constructor(model: Model) {
    this.model = model
    this.#crashes = new Set(model.crashes)
    const steps = model.steps.map(({ phase, where }, index) => {
      const id = idOf(index)
      return { id, title: id, phase, groups: [], ...(where && { where }) }
    })
    this.#write({ type: 'run.created', format: 1, run: 'r', workflow: 'w', version: '0', steps })
  }

  get plan(): readonly PlannedStep[] {
    return this.model.steps.map(({ phase, where, ignoresFailure, skipOnSuccess }, index) => ({
      id: idOf(index),
      phase,
      ignoresFailure,
      skipOnSuccess,
      readsEverything: false,
      inputs: { digest: 'sha256:0', parts: {} },
      ...(where && { where }),
    }))
  }

  #write(event: RunEvent): void {
    const numbered = { n: this.events.length + 1, at: this.events.length, ...event }
    this.events.push(numbered)
    foldOnto(this.state, numbered)
    if (this.#crashes.delete(numbered.n)) throw new Crash()
  }

  /** One session, to its end; undefined where the engine was gone. */
  session(asked: Partial<Asked> = {}): string | undefined {
    try {
      this.#write({ type: 'session.started', host: 'h', pid: 1, user: 'u', asked: [] })
      for (let turn = 0; turn < 1000; turn += 1) {
        const all: Asked = { mode: 'forward', teardown: this.model.teardown, isStopped: false, ...asked }
        const decision = decide(this.plan, this.state, all)
        if (decision.do === 'end') return this.#end(decision.outcome)
        if (decision.do === 'gap') return this.#end('gap')
        if (decision.do === 'run') this.#run(decision.step, decision.attempt)
        if (decision.do === 'skip') this.#write({ type: 'step.skipped', step: decision.step, why: decision.why })
        if (decision.do === 'teardown') this.#write({ type: 'teardown.started', why: decision.why })
        if (decision.do === 'undo') this.#write({ type: 'undo.done', undo: decision.undo })
      }
    } catch (error) {
      if (error instanceof Crash) return undefined
      throw error
    }
    throw new Error('it never ends')
  }

  #end(outcome: 'succeeded' | 'failed' | 'stopped' | 'gap'): string {
    this.#write({ type: 'session.ended', outcome })
    return outcome
  }

  #run(step: string, attempt: number): void {
    const { failures, makes } = this.model.steps[Number(step.slice(1))] ?? { failures: 0, makes: 0 }
    this.#write({ type: 'step.started', step, attempt, inputs: 'sha256:0', log: 'l', why: '' })
    for (let made = 0; made < makes; made += 1) {
      this.#undo += 1
      this.#write({ type: 'undo.recorded', step, attempt, undo: this.#undo, record: { kind: 'k', values: {} } })
    }
    const failed = this.state.steps.get(step)?.attempts.filter(({ status }) => status === 'failed').length ?? 0
    if (failed < failures) this.#write({ type: 'step.failed', step, attempt, cause: 'exit', problem: { message: 'm' } })
    else this.#write({ type: 'step.succeeded', step, attempt, output: null })
  }

  /** Sessions until one of them has no failure and no crash. */
  toTheEnd(): string {
    for (let session = 0; session < 60; session += 1) {
      const outcome = this.session()
      if (outcome !== undefined && (outcome !== 'failed' || this.state.isTearingDown)) return outcome
    }
    throw new Error('it never succeeds')
  }
}

class Crash extends Error {}

function idOf(index: number): string {
  return `s${index}`
}

function started(events: readonly JournalEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'step.started' ? [event.step] : []))
}

test('whatever fails and whenever the engine is gone, sessions come to an end, and no success is repeated', () => {
  fc.assert(
    fc.property(models, (model) => {
      const simulation = new Simulation(model)
      simulation.toTheEnd()
      for (const [index, { phase }] of model.steps.entries()) {
        const own = simulation.events.filter((event) => 'step' in event && event.step === idOf(index))
        const successes = own.filter(({ type }) => type === 'step.succeeded')
        assert.ok(successes.length <= 1, `${idOf(index)} succeeded ${successes.length} times`)
        const firstSuccess = successes[0]?.n ?? Number.POSITIVE_INFINITY
        if (phase !== 'post') assert.ok(!own.some(({ type, n }) => type === 'step.started' && n > firstSuccess))
      }
    }),
  )
})

test('no step begins while one before it, of its phase or an earlier one, has yet to be done', () => {
  fc.assert(
    fc.property(models, (model) => {
      const simulation = new Simulation(model)
      simulation.toTheEnd()
      const settled = new Set<string>()
      for (const event of simulation.events) {
        if (event.type === 'step.started') {
          const index = Number(event.step.slice(1))
          const { phase } = model.steps[index] ?? {}
          for (const [other, step] of model.steps.slice(0, index).entries()) {
            if (phase === 'post' || step.phase === 'post') continue
            assert.ok(settled.has(idOf(other)), `${event.step} began before ${idOf(other)} was done`)
          }
        }
        if (event.type === 'step.succeeded' || event.type === 'step.skipped') settled.add(event.step)
        if (event.type === 'step.failed' && model.steps[Number(event.step.slice(1))]?.ignoresFailure)
          settled.add(event.step)
      }
    }),
  )
})

test('a teardown runs every post step, takes away everything, the youngest first, and is over then', () => {
  fc.assert(
    fc.property(models, (model) => {
      const simulation = new Simulation({ ...model, teardown: 'never' })
      simulation.session()
      const before = simulation.events.length
      for (let session = 0; session < 30 && simulation.session({ mode: 'teardown' }) !== 'succeeded'; session += 1);
      const { state, events } = simulation
      assert.ok([...state.undo.values()].every(({ status }) => status === 'done'))
      const undone = events.slice(before).flatMap((event) => (event.type === 'undo.done' ? [event.undo] : []))
      // A post step may make something too, in a later session: within a session the order holds.
      const sessions = splitBySession(events.slice(before))
      for (const session of sessions) {
        const order = session.flatMap((event) => (event.type === 'undo.done' ? [event.undo] : []))
        assert.deepEqual(
          order,
          order.toSorted((a, b) => b - a),
        )
      }
      assert.equal(new Set(undone).size, undone.length, 'nothing is taken away twice')
      for (const [index, { phase }] of model.steps.entries()) {
        if (phase !== 'post') continue
        const status = state.steps.get(idOf(index))?.status
        assert.ok(
          status === 'succeeded' || status === 'skipped' || model.steps[index]?.ignoresFailure,
          `${idOf(index)}: ${status}`,
        )
      }
    }),
  )
})

function splitBySession(events: readonly JournalEvent[]): readonly (readonly JournalEvent[])[] {
  const sessions: JournalEvent[][] = []
  for (const event of events) {
    if (event.type === 'session.started') sessions.push([])
    sessions.at(-1)?.push(event)
  }
  return sessions
}

test('on one side of the gap nothing of the other side is begun', () => {
  fc.assert(
    fc.property(models, fc.constantFrom<Site>('connected', 'bastion', 'closed'), (model, here) => {
      const simulation = new Simulation({ ...model, teardown: 'never', crashes: [] })
      simulation.session({ sites: new Set([here]) })
      for (const step of started(simulation.events)) {
        const where = model.steps[Number(step.slice(1))]?.where
        assert.ok(where === undefined || where === here, `${step} is of ${where}`)
      }
    }),
  )
})

test('the state of a journal is the same in one piece and event by event, and each event moves it once', () => {
  fc.assert(
    fc.property(models, (model) => {
      const simulation = new Simulation(model)
      simulation.toTheEnd()
      assert.deepEqual(fold(simulation.events), simulation.state)
      assert.equal(simulation.state.events, simulation.events.length)
    }),
  )
})
