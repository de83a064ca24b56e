/**
 * The engine: fold, decide, do, write it down; until there is nothing more to do.
 *
 * What is about to happen is on the disk before it happens, and what has happened before anything else does: a process that
 * is killed at any moment is followed by one that reads the journal and goes on.
 */
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { acquireLock } from '../host/lock.ts'
import type { JournalEvent, RunEvent, SessionOutcome, Site, StepOutline, UndoRecord } from '../journal/events.ts'
import type { RunState } from '../journal/run-state.ts'
import { diskError } from '../store/disk.ts'
import type { ProcessRunner } from './attempt.ts'
import { type Decision, decide, type PlannedStep, remains } from './decide.ts'
import { InputDigests } from './input-digest.ts'
import { type JournalFile, openJournal } from './journal-file.ts'
import { ObserverGroup } from './observers.ts'
import { makeRunDirectory, type RunDirectory } from './run-directory.ts'
import { RunSecrets } from './run-secrets.ts'
import { openSecretStore, type SecretLookup, type SecretStore } from './secret-store.ts'
import { askedOf, instructionEvents, plannedSteps } from './session-plan.ts'
import { StepRunner } from './step-runner.ts'
import { UndoRunner } from './undo-runner.ts'
import type { TeardownPolicy, Workflow, WorkflowStep } from './workflow.ts'

/** The world outside, as the engine needs it. */
export interface EngineHost {
  readonly clock: Clock
  readonly processes: ProcessRunner
  /** Ends what processes of this run have left, after a crash; resolves with their number. */
  readonly endOrphans: (cookie: string) => Promise<number>
  readonly machine: { readonly host: string; readonly pid: number; readonly user: string }
  /** Of Sallyport. */
  readonly version: string
  /** What leases are taken in. */
  readonly leases: string
}

/** Something that a user says of a step, with the reason, for the record. */
export interface Instruction {
  readonly step: string
  readonly why: string
}

export interface SessionRequest {
  readonly mode?: 'forward' | 'teardown'
  /** Default: what the workflow says. */
  readonly teardown?: TeardownPolicy
  readonly sites?: ReadonlySet<Site>
  /** This step and all after it are run again. */
  readonly from?: string
  readonly until?: string
  readonly only?: string
  readonly scope?: string
  readonly skip?: readonly Instruction[]
  readonly rerun?: readonly Instruction[]
  readonly markDone?: readonly Instruction[]
  /** Undo records that a user took care of. */
  readonly forget?: readonly number[]
  /** As the user wrote it, for the journal. */
  readonly asked: readonly string[]
}

export interface RunSettings {
  readonly host: EngineHost
  readonly request: SessionRequest
  readonly secrets: SecretLookup
  /** Aborted by the first Ctrl-C: what runs is asked to end; a teardown is not. */
  readonly signal: AbortSignal
  /** Aborted by the second: everything ends at once. */
  readonly leaving: AbortSignal
  /** Hears each event once it is in the journal. */
  readonly onEvent?: (event: JournalEvent, state: RunState) => void
  /** Hears what steps print, as it goes to their logs. */
  readonly onText?: (step: string, text: Uint8Array) => void
}

export interface RunOutcome {
  readonly outcome: SessionOutcome
  readonly why: string
  /** The step before which the run has to cross the gap, and the side that it needs. */
  readonly gap?: { readonly step: string; readonly where: Site }
  readonly state: RunState
}

/**
 * Runs what there is to run, in a run that is new or was begun before.
 *
 * @throws KnownError STORE_LOCKED where another process runs it, JOURNAL_CORRUPT, DISK_FULL
 */
export async function runWorkflow(
  workflow: Workflow,
  directory: RunDirectory,
  settings: RunSettings,
): Promise<RunOutcome> {
  await makeRunDirectory(directory)
  const releases = [await lock(directory.lock)]
  try {
    for (const lease of workflow.leases) releases.push(await takeLease(settings.host.leases, lease))
    const journal = await openJournal(directory.journal)
    try {
      const store = await openSecretStore(directory.secrets, settings.secrets)
      return await new Session({ workflow, directory, settings, journal, store }).run()
    } finally {
      await journal.close()
    }
  } finally {
    for (const release of releases.reverse()) await release()
  }
}

async function lock(path: string): Promise<() => Promise<void>> {
  try {
    return await acquireLock(path)
  } catch (error) {
    throw diskError(error, path)
  }
}

async function takeLease(leases: string, name: string): Promise<() => Promise<void>> {
  try {
    return await lock(join(leases, encodeURIComponent(name)))
  } catch (cause) {
    if (!(cause instanceof KnownError && cause.code === 'STORE_LOCKED')) throw cause
    throw new KnownError(cause.code, `${name} is in use by another run: ${cause.message}`, { cause })
  }
}

interface SessionParts {
  readonly workflow: Workflow
  readonly directory: RunDirectory
  readonly settings: RunSettings
  readonly journal: JournalFile
  readonly store: SecretStore
}

class Session {
  readonly #workflow: Workflow
  readonly #directory: RunDirectory
  readonly #settings: RunSettings
  readonly #journal: JournalFile
  readonly #store: SecretStore
  readonly #secrets = new RunSecrets()
  readonly #digests: InputDigests
  readonly #steps: StepRunner
  readonly #undo: UndoRunner
  readonly #observers: ObserverGroup

  constructor({ workflow, directory, settings, journal, store }: SessionParts) {
    this.#workflow = workflow
    this.#directory = directory
    this.#settings = settings
    this.#journal = journal
    this.#store = store
    this.#digests = new InputDigests(store)
    const { host, leaving, signal } = settings
    const { clock, processes } = host
    const write = (event: RunEvent, isFlushed = true) => this.#write(event, isFlushed)
    const attempts = { directory, clock, secrets: this.#secrets, secretStore: store, processes, leaving }
    let lastUndo = Math.max(0, ...journal.state.undo.keys())
    const nextUndo = () => {
      lastUndo += 1
      return lastUndo
    }
    const described = (record: UndoRecord) => describedBy(workflow, record)
    const shared = { attempts, state: journal.state, write, onText: settings.onText, nextUndo, described }
    this.#steps = new StepRunner({ ...shared, signal })
    this.#undo = new UndoRunner({ ...shared, handlers: workflow.undo })
    this.#observers = new ObserverGroup(workflow.observers, shared)
  }

  get #state(): RunState {
    return this.#journal.state
  }

  async run(): Promise<RunOutcome> {
    await this.#begin()
    try {
      const outcome = await this.#loop()
      await this.#observers.stop()
      await this.#write({ type: 'session.ended', outcome: outcome.outcome, why: outcome.why })
      return { ...outcome, state: this.#state }
    } catch (error) {
      await this.#observers.stop()
      throw error
    }
  }

  async #loop(): Promise<Omit<RunOutcome, 'state'>> {
    for (;;) {
      const { request, signal } = this.#settings
      const plan = await plannedSteps(this.#workflow, this.#state, this.#digests)
      const asked = askedOf(request, this.#workflow, signal.aborted)
      const decision = decide(plan, this.#state, asked)
      if (decision.do === 'end') {
        if (this.#state.isTearingDown && this.#state.remaining === undefined) {
          await this.#write({ type: 'teardown.ended', remaining: remains(plan, this.#state, asked) })
        }
        return { outcome: decision.outcome, why: decision.why }
      }
      if (decision.do === 'gap') {
        const { step, where } = decision
        return { outcome: 'gap', why: `${step} has to be run on the ${where} side`, gap: { step, where } }
      }
      await this.#carryOut(decision, plan)
    }
  }

  async #carryOut(decision: Exclude<Decision, { do: 'end' | 'gap' }>, plan: readonly PlannedStep[]): Promise<void> {
    switch (decision.do) {
      case 'wait':
        return this.#wait(decision.until)
      case 'skip':
        return this.#write({ type: 'step.skipped', step: decision.step, why: decision.why })
      case 'teardown':
        await this.#observers.stop()
        return this.#write({ type: 'teardown.started', why: decision.why })
      case 'undo':
        return this.#undo.run(decision.undo)
      case 'run': {
        const step = this.#stepOf(decision.step)
        if (step.outline.phase !== 'post') await this.#observers.start()
        const inputs = plan.find(({ id }) => id === decision.step)?.inputs
        await this.#steps.run(step, { ...decision, inputs })
        await this.#undo.takeInbox()
        return this.#steps.lookAtRest(this.#workflow, this.#settings.request.sites)
      }
    }
  }

  /** Until it is time to try again, or until somebody stops the run. */
  async #wait(until: number): Promise<void> {
    const { host, signal } = this.#settings
    const milliseconds = until - host.clock.now()
    if (milliseconds > 0) await host.clock.sleep(milliseconds, signal).catch(() => undefined)
    const step = [...this.#state.steps.values()].find((each) => each.attempts.at(-1)?.retryAt === until)
    const why = 'tried again after a failure that may pass'
    if (step && !signal.aborted) await this.#write({ type: 'step.reset', step: step.outline.id, why })
    else if (step) await this.#cancel(step.outline.id)
  }

  async #cancel(step: string): Promise<void> {
    const attempt = this.#state.steps.get(step)?.attempts.at(-1)?.number ?? 0
    await this.#write({ type: 'step.cancelled', step, attempt, why: 'the run was stopped' })
  }

  async #begin(): Promise<void> {
    const { host, request } = this.#settings
    const { version } = host
    const steps = this.#workflow.steps.map(({ outline }) => outline)
    if (this.#state.run === '') {
      const run = this.#directory.id
      await this.#write({ type: 'run.created', format: 1, run, workflow: this.#workflow.name, steps, version })
    } else if (!hasSameSteps(this.#state, steps) || this.#state.version !== version) {
      await this.#write({ type: 'run.redefined', steps, version })
    }
    for (const secret of await this.#store.made()) this.#secrets.add(secret)
    await host.endOrphans(`${this.#directory.id}/`)
    const running = [...this.#state.steps.values()].filter(({ status }) => status === 'running')
    await this.#steps.recover(running, this.#workflow)
    await this.#undo.takeInbox()
    const said = { workflow: this.#workflow, state: this.#state, by: host.machine.user }
    const instructions = instructionEvents(request, said)
    await this.#write({ type: 'session.started', ...host.machine, asked: request.asked })
    for (const event of instructions) await this.#write(event)
    if ((request.mode ?? 'forward') === 'forward' && !this.#state.isTearingDown) {
      await this.#steps.lookAgain(this.#workflow, request.sites)
    }
  }

  #stepOf(id: string): WorkflowStep {
    const step = this.#workflow.steps.find(({ outline }) => outline.id === id)
    if (step === undefined) throw new KnownError('STEP_UNKNOWN', `There is no step ${id}`, { details: { step: id } })
    return step
  }

  async #write(event: RunEvent, isFlushed = true): Promise<void> {
    const written = await this.#journal.append(event, { at: this.#settings.host.clock.now(), isFlushed })
    this.#settings.onEvent?.(written, this.#state)
  }
}

function describedBy({ undo }: Workflow, record: UndoRecord): UndoRecord {
  const what = record.what ?? undo[record.kind]?.describe(record.values)
  return what === undefined ? record : { ...record, what }
}

function hasSameSteps(state: RunState, steps: readonly StepOutline[]): boolean {
  return JSON.stringify([...state.steps.values()].map(({ outline }) => outline)) === JSON.stringify(steps)
}
