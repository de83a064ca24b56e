/**
 * Services started as systemd starts them: each when what it comes after has started, or for a oneshot has ended.
 *
 * Source: systemd.unit(5) "Before=, After=", systemd.service(5) "Type=".
 */
import type { Clock } from '../../host/clock.ts'
import { RootedTree } from '../materialise/rooted-tree.ts'
import type { PlannedUnit } from './boot-plan.ts'
import type { RehearsedUnit } from './level-two-report.ts'
import { isOneshot, type UnitPlace, UnitRun } from './unit-run.ts'

/** The service that the others are there for. */
export const mainUnit = 'bootkube.service'

/** How long services that only wait for bootkube may take to notice its end. */
const graceMs = 1500

interface BootOptions {
  readonly clock: Clock
  readonly onUnit?: (name: string, outcome: RehearsedUnit['outcome'] | 'started') => void
}

interface StartingUnit {
  /** Units that come after it may start. */
  readonly started: Promise<void>
  readonly ended: Promise<void>
}

/** Starts units in their order and keeps what became of them. */
export class Boot {
  readonly #place: UnitPlace
  readonly #running: Map<string, UnitRun>
  readonly #options: BootOptions
  readonly #results = new Map<string, RehearsedUnit>()
  #isStopped = false

  constructor(place: UnitPlace, running: Map<string, UnitRun>, options: BootOptions) {
    this.#place = place
    this.#running = running
    this.#options = options
  }

  get results(): readonly RehearsedUnit[] {
    return [...this.#results.values()]
  }

  /** True where every unit of the first target came up: its last one then goes on to the next target. */
  get hasSwitched(): boolean {
    return this.results.every(({ outcome }) => outcome === 'succeeded' || outcome === 'condition-failed')
  }

  /** Ends everything: the time is up. */
  stop(): void {
    this.#isStopped = true
    for (const run of this.#running.values()) run.stop('timed-out')
  }

  /** Resolves once bootkube has ended and the others had their time to notice: what still waits then, waits for a cluster. */
  async reach(plan: readonly PlannedUnit[]): Promise<void> {
    const starts = new Map<string, StartingUnit>()
    for (const unit of plan) {
      if (this.#results.get(unit.name)?.outcome === 'succeeded') continue
      const before = unit.after.flatMap((name) => starts.get(name)?.started ?? [])
      starts.set(unit.name, this.#startAfter(unit, before))
    }
    const all = Promise.all([...starts.values()].map(({ ended }) => ended))
    const main = starts.get(mainUnit)
    if (main !== undefined) {
      await main.ended
      for (const run of this.#running.values()) if (run.isResident) run.stop('running')
      const stopRest = () => {
        for (const run of this.#running.values()) run.stop('running')
      }
      const cancel = this.#options.clock.after(graceMs, stopRest)
      await all.finally(cancel)
    }
    await all
  }

  #startAfter(unit: PlannedUnit, before: readonly Promise<void>[]): StartingUnit {
    const { promise: started, resolve: onStarted } = Promise.withResolvers<void>()
    const ended = Promise.all(before).then(async () => {
      const because = this.#whyNot(unit)
      if (because !== undefined) this.#keep({ ...notStarted(unit), outcome: 'not-started', because })
      else if (!(await this.#isWanted(unit))) this.#keep({ ...notStarted(unit), outcome: 'condition-failed' })
      else await this.#run(unit, onStarted)
      onStarted()
    })
    return { started: isOneshot(unit) ? ended : started, ended }
  }

  async #run(unit: PlannedUnit, onStarted: () => void): Promise<void> {
    const run = new UnitRun(unit, this.#place)
    this.#running.set(unit.name, run)
    this.#options.onUnit?.(unit.name, 'started')
    if (this.#isStopped) run.stop('timed-out')
    const result = await run.run(onStarted)
    this.#running.delete(unit.name)
    this.#keep(result)
  }

  #keep(result: RehearsedUnit): void {
    this.#results.set(result.name, result)
    this.#options.onUnit?.(result.name, result.outcome)
  }

  /** A required unit that failed, or one to wait for that never ends. */
  #whyNot({ requires, after }: PlannedUnit): string | undefined {
    const outcomeOf = (name: string) => this.#results.get(name)?.outcome
    const isDown = (name: string) => ['failed', 'looping', 'timed-out', 'not-started'].includes(outcomeOf(name) ?? '')
    const neverEnds = (name: string) => ['looping', 'timed-out', 'running'].includes(outcomeOf(name) ?? '')
    return requires.find(isDown) ?? after.find(neverEnds)
  }

  async #isWanted({ directives }: PlannedUnit): Promise<boolean> {
    const tree = new RootedTree(this.#place.root)
    for (const condition of directives.all('Unit.ConditionPathExists')) {
      const [, negation, path = ''] = /^\|?(!?)(.*)$/.exec(condition) ?? []
      // systemd asks access(2) (systemd/systemd: src/shared/condition.c `condition_test_path_exists`).
      if ((await tree.leadsTo(path)) === (negation === '!')) return false
    }
    return true
  }
}

function notStarted({ name }: PlannedUnit) {
  return { name, stagesDone: [], journal: [], durationMs: 0, failedCalls: [] }
}
