/**
 * Level 2 of the rehearsal: the scripts of this very config, run in a sandbox from the boot to the end of bootkube, with
 * stand-ins that ask level 1.
 *
 * Where an image cannot be pulled, the script that pulls it fails as it would on the machine, in its own words and with its
 * own record.
 */
import { readFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import { openSandbox, whyNoSandbox } from '../sandbox/sandbox.ts'
import { createStandIns } from '../stand-ins/stand-ins.ts'
import { type PlannedUnit, planBoot } from './boot-plan.ts'
import type { LevelTwoReport, RehearsedUnit } from './level-two-report.ts'
import { placeConfig } from './place-config.ts'
import { isOneshot, type UnitPlace, UnitRun } from './unit-run.ts'

export interface LevelTwoOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** For the whole, in milliseconds. Default: 60 s. */
  readonly timeLimitMs?: number
  /** Where the sandbox has its files. Default: the folder for temporary files. */
  readonly tempFolder?: string
  /** Told of what begins and ends, for a person who waits. */
  readonly onUnit?: (name: string, outcome: RehearsedUnit['outcome'] | 'started') => void
}

/** The service that the others are there for. */
const mainUnit = 'bootkube.service'

/** How long services that only wait for bootkube may take to notice its end. */
const graceMs = 1500

/** @throws KnownError PROGRAM_FAILED */
export async function runLevelTwo(
  bootstrap: BootstrapConfig,
  {
    config,
    access,
    ...options
  }: LevelTwoOptions & { readonly config: IgnitionConfig; readonly access: BootstrapAccess },
): Promise<LevelTwoReport> {
  const startedAt = options.clock.now()
  const unavailable = await whyNoSandbox()
  if (unavailable !== undefined) return notRun(unavailable)
  const directory = await mkdtemp(join(options.tempFolder ?? tmpdir(), 'sallyport-rehearsal-'))
  const root = join(directory, 'root')
  const logOf = (unit: string) => join(directory, `${unit.replaceAll('/', '_')}.log`)
  try {
    await placeConfig(config, root, options.signal)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    if (!(error instanceof KnownError) || error.code === 'INTERRUPTED') throw error
    return notRun(`the config cannot be made a machine: ${error.message}`)
  }
  const unknown = new Set<string>()
  const running = new Map<string, UnitRun>()
  const journal = (unit: string) => readFileSync(logOf(unit), 'utf8')
  const standIns = createStandIns({ ...access, bootstrap, journal }, (answered) => {
    if (!standIns.names.includes(answered.call.name)) unknown.add(answered.call.name)
    running.get(answered.call.unit)?.noteCall(answered)
  })
  const sandbox = await openSandbox({ directory, standIns: standIns.names, answer: standIns.answer })
  const place: UnitPlace = { sandbox, root, clock: options.clock, logOf }
  const boot = new Boot(place, running, options)
  const cancel = options.clock.after(options.timeLimitMs ?? 60_000, () => boot.stop('timed-out'))
  const onAbort = () => boot.stop('timed-out')
  options.signal.addEventListener('abort', onAbort, { once: true })
  try {
    const first = await defaultTarget(bootstrap, place)
    await boot.reach(planBoot(bootstrap.units, first))
    if (first !== multiUser && boot.hasSwitched) await boot.reach(planBoot(bootstrap.units, multiUser))
    options.signal.throwIfAborted()
    const units = boot.results
    const isComplete = units.some(({ name, outcome }) => name === mainUnit && outcome === 'succeeded')
    return { units, isComplete, unknownPrograms: [...unknown].sort(), durationMs: options.clock.now() - startedAt }
  } finally {
    cancel()
    options.signal.removeEventListener('abort', onAbort)
    boot.stop('timed-out')
    await sandbox.close()
  }
}

function notRun(unavailable: string): LevelTwoReport {
  return { unavailable, units: [], isComplete: false, unknownPrograms: [], durationMs: 0 }
}

const multiUser = 'multi-user.target'

/** What the generators of the config make of `default.target` (systemd.generator(7)). */
async function defaultTarget({ files }: BootstrapConfig, { sandbox, root, logOf }: UnitPlace): Promise<string> {
  const folders = ['generator', 'generator.early', 'generator.late'].map((name) => `/run/systemd/${name}`)
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  for (const path of files.keys()) {
    if (!path.startsWith('/etc/systemd/system-generators/')) continue
    const options = { unit: 'generators', workingDirectory: '/', env: {}, logFile: logOf('generators') }
    await sandbox.run([path, ...folders], options).ended
  }
  for (const folder of folders.toReversed()) {
    const target = await readlink(join(root, folder, 'default.target')).catch((error: unknown) => {
      if (hasSystemCode(error, 'ENOENT', 'EINVAL')) return undefined
      throw error
    })
    if (target !== undefined) return target.split('/').at(-1) ?? multiUser
  }
  return multiUser
}

interface StartingUnit {
  /** Units that come after it may start. */
  readonly started: Promise<void>
  readonly ended: Promise<void>
}

/** Starts units in their order and keeps what became of them. */
class Boot {
  readonly #place: UnitPlace
  readonly #running: Map<string, UnitRun>
  readonly #options: LevelTwoOptions
  readonly #results = new Map<string, RehearsedUnit>()
  #isStopped = false

  constructor(place: UnitPlace, running: Map<string, UnitRun>, options: LevelTwoOptions) {
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

  stop(outcome: 'timed-out'): void {
    this.#isStopped = true
    for (const run of this.#running.values()) run.stop(outcome)
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
    for (const condition of directives.all('Unit.ConditionPathExists')) {
      const [, negation, path = ''] = /^\|?(!?)(.*)$/.exec(condition) ?? []
      const isThere = await exists(join(this.#place.root, path))
      if (isThere === (negation === '!')) return false
    }
    return true
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

function notStarted({ name }: PlannedUnit) {
  return { name, stagesDone: [], journal: [], durationMs: 0, failedCalls: [] }
}
