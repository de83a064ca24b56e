import { readFile } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { randomFraction } from '../host/random.ts'
import type { Json, JsonRecord, RunEvent, Site, UndoRecord } from '../journal/events.ts'
import type { RunState, StepState } from '../journal/run-state.ts'
import {
  type AttemptEnd,
  type AttemptHost,
  type AttemptNotes,
  exitFileOf,
  failWith,
  runAttempt,
  silentNotes,
  type WorkDone,
} from './attempt.ts'
import { logPath } from './run-directory.ts'
import type { StepContext, StepProgress } from './step.ts'
import { type StepInputs, startedInputs } from './step-inputs.ts'
import type { Workflow, WorkflowStep } from './workflow.ts'

/** Signs of life are written at most so often. */
const heartbeatMs = 10_000
const maxOutputBytes = 256 * 1024

export interface JournalWriter {
  readonly attempts: AttemptHost
  readonly state: RunState
  readonly write: (event: RunEvent, isFlushed?: boolean) => Promise<void>
  readonly onText: ((step: string, text: Uint8Array) => void) | undefined
  /** 1, 2, 3, …: each number once. */
  readonly nextUndo: () => number
  /** The record with what it is, for people. */
  readonly described: (record: UndoRecord) => UndoRecord
}

/** Runs steps, one attempt at a time, and writes down how they go. */
export class StepRunner {
  readonly #host: JournalWriter
  readonly #signal: AbortSignal
  #unseen: Set<string> = new Set()

  constructor({ signal, ...host }: JournalWriter & { readonly signal: AbortSignal }) {
    this.#host = host
    this.#signal = signal
  }

  /** What was running when the engine was gone: a script whose end was still seen by its own wrapper has ended so. */
  async recover(running: readonly StepState[], workflow: Workflow): Promise<void> {
    for (const { outline, attempts } of running) {
      const attempt = attempts.at(-1)
      const step = workflow.steps.find((each) => each.outline.id === outline.id)
      if (attempt === undefined || step?.readsEverything !== true) continue
      const status = await exitStatusIn(
        exitFileOf(this.#host.attempts.directory, { step: outline.id, number: attempt.number }),
      )
      if (status !== 0) continue
      const note = 'it had succeeded when the engine was gone'
      await this.#host.write({ type: 'step.succeeded', step: outline.id, attempt: attempt.number, output: null, note })
    }
  }

  /** Whether what earlier sessions have made is still there. */
  async lookAgain(workflow: Workflow, sites: ReadonlySet<Site> | undefined): Promise<void> {
    this.#unseen = new Set(workflow.steps.map(({ outline }) => outline.id))
    await this.lookAtRest(workflow, sites)
  }

  /** At what could not be looked at so far, since a step before it had to be run again first. */
  async lookAtRest(workflow: Workflow, sites: ReadonlySet<Site> | undefined): Promise<void> {
    const looked = this.#unseen
    this.#unseen = new Set()
    for (const step of workflow.steps) {
      const { id, where } = step.outline
      if (!looked.has(id)) continue
      const known = this.#host.state.steps.get(id)
      const isHere = where === undefined || sites === undefined || sites.has(where)
      if (step.holds === undefined || known?.status !== 'succeeded' || !isHere || this.#signal.aborted) continue
      const { output = null } = known
      const end = await this.#look(step, output)
      if (end.kind === 'succeeded' && end.output === true) continue
      // What a step before gave is to be made again: then this one is looked at with its new input.
      if (end.kind === 'failed' && end.problem.code === 'STEP_INPUT') {
        this.#unseen.add(id)
        continue
      }
      const why = end.kind === 'failed' ? `it is there no more: ${end.problem.message}` : 'it is there no more'
      if (end.kind !== 'cancelled') await this.#host.write({ type: 'step.reset', step: id, why })
    }
  }

  /** An attempt that only looks: its log is that of attempt 0. */
  #look(step: WorkflowStep, output: Json): Promise<AttemptEnd> {
    const { id: stepId } = step.outline
    const order = { step: stepId, number: 0, policy: step.policy, signal: this.#signal }
    return runAttempt(order, {
      host: this.#host.attempts,
      notes: { ...silentNotes, onText: (text) => this.#host.onText?.(stepId, text) },
      work: async (context) => {
        const input = step.input((id) => this.#host.state.steps.get(id)?.output)
        return { output: (await step.holds?.(input, output, context)) ?? true }
      },
    })
  }

  async run(
    step: WorkflowStep,
    {
      attempt,
      why,
      inputs,
    }: { readonly attempt: number; readonly why: string; readonly inputs: StepInputs | undefined },
  ): Promise<void> {
    const { id, phase, where } = step.outline
    const log = logPath(id, attempt)
    await this.#host.write({ type: 'step.started', step: id, attempt, ...startedInputs(inputs), log, why })
    // A teardown goes on when the run is stopped.
    const signal = phase === 'post' ? new AbortController().signal : this.#signal
    const order = { step: id, number: attempt, policy: step.policy, signal, ...(where && { where }) }
    const pending: Promise<void>[] = []
    const end = await runAttempt(order, {
      host: this.#host.attempts,
      notes: this.#notes(step, { attempt, pending }),
      work: (context) => this.#work(step, context),
    })
    await Promise.all(pending)
    await this.#conclude(step, { attempt, end })
  }

  async #work(step: WorkflowStep, context: StepContext): Promise<WorkDone> {
    const input = step.input((id) => this.#host.state.steps.get(id)?.output)
    const found = await step.check?.(input, context)
    if (found !== undefined) return { output: await this.#keepSecrets(step, found), note: 'it was so already' }
    const output = await step.apply(input, context)
    context.signal.throwIfAborted()
    const findings = (await step.verify?.(input, output, context)) ?? []
    for (const { severity, summary, remedy = '' } of findings) context.print(`${severity}: ${summary} ${remedy}\n`)
    failWith(findings)
    const warnings = findings.filter(({ severity }) => severity === 'warning').map(({ summary }) => summary)
    return { output: await this.#keepSecrets(step, output), ...(warnings.length > 0 && { warnings }) }
  }

  /** Secrets of an output go into files of their own; what is left must be free of any. */
  async #keepSecrets(step: WorkflowStep, output: Json): Promise<Json> {
    const { secrets, secretStore } = this.#host.attempts
    const { id } = step.outline
    const clean: Record<string, Json> = {}
    for (const name of step.secretOutput) {
      const value = (output as JsonRecord)[name]
      if (typeof value !== 'string') continue
      secrets.add(value)
      await secretStore.keep(`${id}.${name}`, value)
      clean[name] = { secret: `${id}.${name}` }
    }
    const kept = step.secretOutput.length === 0 ? output : { ...(output as JsonRecord), ...clean }
    const text = JSON.stringify(kept)
    if (Buffer.byteLength(text) > maxOutputBytes) {
      throw new KnownError('STEP_OUTPUT', `${id} gives ${Buffer.byteLength(text)} bytes; ${maxOutputBytes} are allowed`)
    }
    if (secrets.clean(text) !== text)
      throw new KnownError('STEP_OUTPUT', `${id} gives a secret in a field that is not declared to be one`)
    return kept
  }

  #notes(
    { outline }: WorkflowStep,
    { attempt, pending }: { readonly attempt: number; readonly pending: Promise<void>[] },
  ): AttemptNotes {
    const { id: step, where } = outline
    const { write, onText, attempts } = this.#host
    let lastBeat = Number.NEGATIVE_INFINITY
    // What is lost of these is lost: a disk that is full is told where something has to be written.
    const tell = (event: RunEvent) => pending.push(write(event, false).catch(() => undefined))
    return {
      onProcess: (process) => tell({ type: 'step.process', step, attempt, ...process }),
      onSilent: (forMs) => tell({ type: 'step.silent', step, attempt, forMs }),
      onProgress: (progress: StepProgress) => {
        const now = attempts.clock.now()
        // Also where the clock was set back.
        if (Math.abs(now - lastBeat) < heartbeatMs) return
        lastBeat = now
        tell({ type: 'step.heartbeat', step, attempt, ...progress })
      },
      onUndo: async (record: UndoRecord) => {
        const text = JSON.stringify(record)
        if (attempts.secrets.clean(text) !== text) {
          throw new KnownError('STEP_OUTPUT', `${step} puts a secret into an undo record`)
        }
        const undo = this.#host.nextUndo()
        const described = this.#host.described(record)
        await write({ type: 'undo.recorded', step, attempt, undo, record: described, ...(where && { where }) })
      },
      onText: (text) => onText?.(step, text),
    }
  }

  async #conclude(
    step: WorkflowStep,
    { attempt, end }: { readonly attempt: number; readonly end: AttemptEnd },
  ): Promise<void> {
    const place = { step: step.outline.id, attempt }
    if (end.kind === 'cancelled') return this.#host.write({ type: 'step.cancelled', ...place, why: end.why })
    if (end.kind === 'succeeded') {
      const { kind: _, ...done } = end
      return this.#host.write({ type: 'step.succeeded', ...place, ...done })
    }
    const { cause, problem, exit, signal, isRetryable } = end
    const retryAt = isRetryable ? this.#retryTime(step) : undefined
    await this.#host.write({
      type: 'step.failed',
      ...place,
      cause,
      problem,
      ...(exit !== undefined && { exit }),
      ...(signal !== undefined && { signal }),
      ...(retryAt !== undefined && { retryAt }),
    })
  }

  /** Doubled from attempt to attempt, and never the same for two runs that failed together. */
  #retryTime({ outline, policy }: WorkflowStep): number | undefined {
    const { sessions, steps } = this.#host.state
    const tried = (steps.get(outline.id)?.attempts ?? []).filter(({ session }) => session === sessions).length
    if (tried >= policy.retry.attempts) return undefined
    const delayMs = policy.retry.firstDelayMs * 2 ** (tried - 1)
    return Math.round(this.#host.attempts.clock.now() + delayMs * (0.75 + randomFraction() / 2))
  }
}

async function exitStatusIn(path: string): Promise<number | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim()
    return /^\d+$/.test(text) ? Number(text) : undefined
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}
