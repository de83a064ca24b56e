/** One unit in the sandbox: its commands one after the other, watched for loops and for its time. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../host/clock.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { parseServiceRecord, type ServiceRecordEntry, summariseServiceRecord } from '../service-records.ts'
import type { AnsweredCall } from '../stand-ins/stand-ins.ts'
import type { PlannedUnit } from './boot-plan.ts'
import type { RehearsedUnit, UnitOutcome } from './level-two-report.ts'
import { commandWords, environmentOf } from './unit-directives.ts'

/** The same call failing this often in a row is a loop: nothing in the sandbox changes between two of them. */
const loopingAfter = 3

const residents: ReadonlySet<string> = new Set(['kubelet', 'hyperkube', 'crio'])

/** Lines of the journal that are kept. */
const journalLines = 30

export interface UnitPlace {
  readonly sandbox: Sandbox
  /** The tree of the sandbox, as the machine sees it. */
  readonly root: string
  readonly clock: Clock
  readonly logOf: (unit: string) => string
}

export class UnitRun {
  readonly unit: PlannedUnit
  readonly #place: UnitPlace
  readonly #startedAt: number
  readonly #failedCalls = new Map<string, { command: string; status: number; inARow: number }>()
  /** True once it started what runs as long as the machine does. */
  isResident = false
  #stopped: UnitOutcome | undefined
  #kill: (() => void) | undefined

  constructor(unit: PlannedUnit, place: UnitPlace) {
    this.unit = unit
    this.#place = place
    this.#startedAt = place.clock.now()
  }

  /** Told of every stand-in that this unit called. */
  noteCall({ call, status }: AnsweredCall): void {
    if (residents.has(call.name)) this.isResident = true
    const command = [call.name, ...call.args].join(' ')
    if (status === 0) {
      this.#failedCalls.delete(command)
      return
    }
    const inARow = (this.#failedCalls.get(command)?.inARow ?? 0) + 1
    this.#failedCalls.set(command, { command, status, inARow })
    if (inARow >= loopingAfter) this.stop('looping')
  }

  /** Ends what runs, and says why. The first reason counts. */
  stop(outcome: UnitOutcome): void {
    this.#stopped ??= outcome
    this.#kill?.()
  }

  /** Commands before the unit counts as started, then the service itself to its end. */
  async run(onStarted: () => void): Promise<RehearsedUnit> {
    const { directives } = this.unit
    const env = await this.#environment()
    const main = directives.all('Service.ExecStart')
    const steps = [...directives.all('Service.ExecStartPre'), ...main, ...directives.all('Service.ExecStartPost')]
    for (const command of steps) {
      if (command === main[0] && !isOneshot(this.unit)) onStarted()
      const status = await this.#runCommand(command, env)
      if (this.#stopped !== undefined) return this.#result(this.#stopped)
      if (status !== 0 && !/^[@:+!|]*-/.test(command)) return this.#result('failed')
    }
    return this.#result('succeeded')
  }

  async #runCommand(command: string, env: Readonly<Record<string, string>>): Promise<number | string> {
    const { sandbox, logOf } = this.#place
    const workingDirectory = this.unit.directives.last('Service.WorkingDirectory')?.replace(/^-/, '') ?? '/'
    const { name } = this.unit
    const process = sandbox.run(commandWords(command, env), { unit: name, workingDirectory, env, logFile: logOf(name) })
    this.#kill = process.kill
    if (this.#stopped !== undefined) process.kill()
    return process.ended
  }

  /** What files say that are there by now wins over `Environment=` (systemd.exec(5), "EnvironmentFile="). */
  async #environment(): Promise<Readonly<Record<string, string>>> {
    const { directives } = this.unit
    const files = directives.all('Service.EnvironmentFile').map((path) => path.replace(/^-/, ''))
    const texts = await Promise.all(files.map((path) => readFile(join(this.#place.root, path), 'utf8').catch(() => '')))
    const pairs = texts.flatMap((text) => [...text.matchAll(/^(\w+)=["']?(.*?)["']?$/gm)])
    return {
      ...environmentOf(directives),
      ...Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value])),
    }
  }

  #failed(): RehearsedUnit['failedCalls'] {
    return [...this.#failedCalls.values()].map(({ command, status }) => ({ command, status }))
  }

  async #result(outcome: UnitOutcome): Promise<RehearsedUnit> {
    const { clock, root, logOf } = this.#place
    const { name } = this.unit
    const journal = await readFile(logOf(name), 'utf8').catch(() => '')
    const record = await readRecord(join(root, 'var/log/openshift', `${name.replace(/\.service$/, '')}.json`))
    const summary = record === undefined ? undefined : summariseServiceRecord(record)
    const failedStage = [...(summary?.failedStages.keys() ?? [])].at(-1)
    const stage = summary?.openStage ?? failedStage
    return {
      name,
      outcome,
      ...(stage !== undefined && outcome !== 'succeeded' && outcome !== 'running' && { stage }),
      stagesDone: summary?.stagesDone ?? [],
      journal: journal
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-journalLines),
      ...(record !== undefined && { record }),
      durationMs: clock.now() - this.#startedAt,
      // What a script that ended well asked in vain, it asked to know.
      failedCalls: outcome === 'succeeded' ? [] : this.#failed(),
    }
  }
}

export function isOneshot({ directives }: PlannedUnit): boolean {
  return directives.last('Service.Type') === 'oneshot'
}

async function readRecord(path: string): Promise<readonly ServiceRecordEntry[] | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseServiceRecord(text)
}
