/** One attempt of one step: its time, its log, its processes, and how it ends. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { FailureCause, Json, Site, StepProblem, UndoRecord } from '../journal/events.ts'
import { diskError } from '../store/disk.ts'
import { AttemptWatch } from './attempt-watch.ts'
import { logPath, type RunDirectory, stepPaths } from './run-directory.ts'
import type { RunSecrets } from './run-secrets.ts'
import type { SecretStore } from './secret-store.ts'
import type { CommandEnd, StepCommand, StepContext, StepPolicy, StepProgress } from './step.ts'
import { openStepLog, type StepLog } from './step-log.ts'

/** Runs programs for steps: a process group each. */
export interface ProcessRunner {
  run(command: StepCommand, limits: ProcessLimits): Promise<CommandEnd>
}

export interface ProcessLimits {
  /** Marks every process of it: `RUN/STEP/ATTEMPT`. */
  readonly cookie: string
  /** Written as soon as the program has ended, whatever becomes of this process. */
  readonly exitFile?: string
  readonly graceMs: number
  /** Aborted: it is asked to end, and has its grace. */
  readonly signal: AbortSignal
  /** Aborted: it is ended at once. */
  readonly leaving: AbortSignal
  readonly onOutput: (chunk: Uint8Array) => void
  readonly onStart: (process: { readonly pid: number; readonly started?: string }) => void
}

/** What is known of an attempt while it runs, for the journal. */
export interface AttemptNotes {
  onProcess(process: { readonly pid: number; readonly started?: string }): void
  onProgress(progress: StepProgress): void
  onSilent(forMs: number): void
  onUndo(record: UndoRecord): Promise<void>
  onText(text: Uint8Array): void
}

/** For what is no step of the plan: it makes nothing, and its signs of life are not kept. */
export const silentNotes: AttemptNotes = {
  onProcess: () => undefined,
  onProgress: () => undefined,
  onSilent: () => undefined,
  onUndo: () => Promise.reject(new KnownError('STEP_OUTPUT', 'This only looks or takes away: it makes nothing')),
  onText: () => undefined,
}

export interface AttemptHost {
  readonly directory: RunDirectory
  readonly clock: Clock
  readonly secrets: RunSecrets
  readonly secretStore: SecretStore
  readonly processes: ProcessRunner
  readonly leaving: AbortSignal
}

export interface AttemptOrder {
  readonly step: string
  readonly number: number
  readonly where?: Site
  readonly policy: StepPolicy
  /** Aborted: the run is stopped. */
  readonly signal: AbortSignal
}

export type AttemptEnd =
  | ({ readonly kind: 'succeeded' } & WorkDone)
  | {
      readonly kind: 'failed'
      readonly cause: FailureCause
      readonly problem: StepProblem
      readonly exit?: number
      readonly signal?: string
      readonly isRetryable: boolean
    }
  | { readonly kind: 'cancelled'; readonly why: string }

/** What the work of an attempt gives. */
export interface WorkDone {
  readonly output: Json
  readonly note?: string
  readonly warnings?: readonly string[]
}

type Work = (context: StepContext) => Promise<WorkDone>

/** Runs `work` within the limits of the step. Never rejects for what the step does. */
export async function runAttempt(
  order: AttemptOrder,
  { host, notes, work }: { readonly host: AttemptHost; readonly notes: AttemptNotes; readonly work: Work },
): Promise<AttemptEnd> {
  const { clock, secrets } = host
  const watch = new AttemptWatch(order, { clock, onSilent: (forMs) => notes.onSilent(forMs) })
  let log: StepLog | undefined
  try {
    log = await openLog(order, { host, notes })
    const context = contextOf(order, { host, notes, log, watch })
    return { kind: 'succeeded', ...(await Promise.race([work(context), watch.abandoned])) }
  } catch (error) {
    const end = endOf(error, { order, watch, secrets })
    if (end.kind === 'failed') log?.say(end.problem.message)
    return end
  } finally {
    watch.close()
    log?.close()
  }
}

/** @throws KnownError DISK_FULL */
async function openLog(
  { step, number }: AttemptOrder,
  { host, notes }: { readonly host: AttemptHost; readonly notes: AttemptNotes },
): Promise<StepLog> {
  const { directory, clock, secrets } = host
  const path = join(directory.root, logPath(step, number))
  try {
    const paths = stepPaths(directory, step)
    await Promise.all([paths.state, paths.artifacts].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
    return openStepLog(path, { clock, secrets, onText: (text) => notes.onText(text) })
  } catch (cause) {
    throw diskError(cause, path)
  }
}

interface ContextParts {
  readonly host: AttemptHost
  readonly notes: AttemptNotes
  readonly log: StepLog
  readonly watch: AttemptWatch
}

function contextOf(order: AttemptOrder, { host, notes, log, watch }: ContextParts): StepContext {
  const { directory, clock, secrets, secretStore, processes, leaving } = host
  const onOutput = (chunk: Uint8Array) => {
    watch.sign()
    log.write(chunk)
  }
  let isShortTold = false
  const hide = (value: string) => {
    if (secrets.add(value) || value.trim() === '' || isShortTold) return
    isShortTold = true
    log.say('warning: a secret is shorter than 4 bytes: it is not taken out of logs')
  }
  const limits: ProcessLimits = {
    cookie: cookieOf(directory.id, order),
    exitFile: exitFileOf(directory, order),
    graceMs: order.policy.graceMs,
    signal: watch.signal,
    leaving,
    onOutput,
    onStart: (process) => notes.onProcess(process),
  }
  return {
    run: directory.id,
    step: order.step,
    attempt: order.number,
    signal: watch.signal,
    clock,
    directories: { ...stepPaths(directory, order.step), run: directory.root, shared: directory.shared },
    print: (text) => onOutput(Buffer.from(text)),
    progress(progress) {
      watch.sign()
      notes.onProgress({ ...progress, ...(progress.note !== undefined && { note: secrets.clean(progress.note) }) })
    },
    record: (undo) => notes.onUndo(undo),
    async secret(name) {
      const value = await secretStore.read(name)
      hide(value)
      return value
    },
    hide,
    exec: (command) => watch.during(processes.run(command, limits)),
  }
}

/** `RUN/STEP/ATTEMPT`, in the environment of every process of an attempt. */
function cookieOf(run: string, { step, number }: Pick<AttemptOrder, 'step' | 'number'>): string {
  return `${run}/${step}/${number}`
}

/** Where the status of the program of a script stands as soon as it has ended. */
export function exitFileOf(directory: RunDirectory, { step, number }: Pick<AttemptOrder, 'step' | 'number'>): string {
  return join(directory.root, logPath(step, number).replace(/\.log$/, '.exit'))
}

interface EndParts {
  readonly order: AttemptOrder
  readonly watch: AttemptWatch
  readonly secrets: RunSecrets
}

function endOf(error: unknown, { order, watch, secrets }: EndParts): AttemptEnd {
  const { tooLate } = watch
  if (order.signal.aborted && tooLate === undefined) return { kind: 'cancelled', why: 'the run was stopped' }
  if (tooLate) {
    const { code, message } = tooLate
    return { kind: 'failed', cause: 'timeout', problem: { code, message }, isRetryable: false }
  }
  if (!(error instanceof KnownError)) {
    const message = secrets.clean(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return { kind: 'failed', cause: 'error', problem: { message }, isRetryable: false }
  }
  const { code, message, hint, retryable: isRetryable, details } = error
  const problem = { code, message: secrets.clean(message), hint: secrets.clean(hint) }
  const { exit, signal } = details
  return {
    kind: 'failed',
    cause: exit === undefined && signal === undefined ? 'error' : 'exit',
    problem,
    isRetryable,
    ...(typeof exit === 'number' && { exit }),
    ...(typeof signal === 'string' && { signal }),
  }
}

/** What makes findings of severity error of a verification into the failure of an attempt. */
export function failWith(findings: readonly Finding[]): void {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  throw new KnownError('STEP_FAILED', `${first.summary}${more}`, {
    ...(first.remedy !== undefined && { hint: first.remedy }),
    details: { finding: first.id },
  })
}
