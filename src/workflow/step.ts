/** What a step is: its contract with the engine, which owns journal, retries, time-outs, redaction and teardown. */
import type { z } from 'zod'
import type { Finding } from '../errors/finding.ts'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import type { Json, JsonRecord, Site, UndoRecord } from '../journal/events.ts'

/** How far a step is; whatever it says counts as a sign of life. */
export interface StepProgress {
  /** What it does or waits for just now. */
  readonly note?: string
  readonly done?: number
  readonly total?: number
  readonly unit?: string
}

/** Where things of a run lie; all of it is in the directory of the run. */
export interface StepDirectories {
  /** Of the run. */
  readonly run: string
  /** Of this step alone, kept from attempt to attempt. */
  readonly state: string
  /** What is kept for people: logs, reports. */
  readonly artifacts: string
  /** Of all steps: small, flat files (SHARED_DIR). */
  readonly shared: string
}

/** A program that a step runs; everything that it prints goes into the log of the step. */
export interface StepCommand {
  readonly argv: readonly string[]
  /** All of its environment: nothing is inherited. */
  readonly env: Env
  readonly cwd?: string
  /** Of its standard output, where the step wants to read it. Default: the log gets everything. */
  readonly onOutput?: (chunk: Uint8Array) => void
  /** Waited for before what it prints goes on: the way to learn in time what has to be hidden in it. Does not reject. */
  readonly beforeOutput?: () => Promise<void>
  /** Daemons that it left outside of its process group end with it, as in a container. Default: they stay. */
  readonly endsDaemons?: boolean
  /** What asks it to end. Default TERM. */
  readonly first?: 'INT' | 'TERM'
}

export interface CommandEnd {
  readonly status?: number
  readonly signal?: string
}

/** What an attempt of a step is given. */
export interface StepContext {
  readonly run: string
  readonly step: string
  readonly attempt: number
  /** Aborted when the time is up, or when somebody stops the run. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly directories: StepDirectories
  /** Into the log of the step, without its secrets. */
  print(text: string): void
  progress(progress: StepProgress): void
  /** To be called, and waited for, before a resource is made: what is written can be taken away, days later too. */
  record(undo: UndoRecord): Promise<void>
  /**
   * The value of a secret of the run; from now on it is taken out of every log.
   *
   * @throws KnownError SECRET_ABSENT
   */
  secret(name: string): Promise<string>
  /** From now on this value is taken out of every log of the run. */
  hide(value: string): void
  /** In a process group of its own, which ends with the attempt, or with the engine. */
  exec(command: StepCommand): Promise<CommandEnd>
}

/** What an undo is given: the record has the rest. */
export type UndoContext = Pick<
  StepContext,
  'run' | 'signal' | 'clock' | 'directories' | 'print' | 'secret' | 'hide' | 'exec'
>

/** Knows how to take one kind of thing away, from its record alone. */
export interface UndoHandler {
  /** What it is, for people: `the network namespace lab1-closed`. */
  describe(values: JsonRecord): string
  /** Safe to repeat; gone already is success. */
  remove(values: JsonRecord, context: UndoContext): Promise<void>
}

export interface RetryPolicy {
  /** All of them, the first included. */
  readonly attempts: number
  /** Before the second attempt; doubled before each later one. */
  readonly firstDelayMs: number
}

/** Limits and rules that the engine holds a step to. */
export interface StepPolicy {
  readonly timeoutMs: number
  /** Between the request to end and the end. */
  readonly graceMs: number
  /** Without a sign of life for so long the step is said to be silent. */
  readonly silenceMs: number
  /** For failures that may pass: retryable errors. */
  readonly retry: RetryPolicy
  /** Its failure is told, and changes nothing (`best_effort`). */
  readonly ignoresFailure: boolean
  /** Not run where everything before has succeeded (`optional_on_success`). */
  readonly skipOnSuccess: boolean
}

/** What a step will write and take, as far as it can tell before it is run. */
export interface StepExpectation {
  /** Files that are to be written. */
  readonly files?: readonly string[]
  /** To be moved over the network. */
  readonly bytes?: number
  /** To be kept in the directory of the run. */
  readonly diskBytes?: number
  /** How long it will take, in milliseconds. */
  readonly ms?: number
  readonly notes?: readonly string[]
}

export interface StepDefinition<Input, Output> {
  readonly title: string
  /** Raised when the same input means something else than before: every success of an older version is then stale. */
  readonly version: number
  readonly input: z.ZodType<Input>
  readonly output: z.ZodType<Output>
  /** Fields of the output that are secrets: kept in a file, 0600, and named in the journal. */
  readonly secretOutput?: readonly (keyof Output & string)[]
  readonly where?: Site
  readonly policy?: Partial<StepPolicy>
  /** Is the world as wanted already? What it returns counts as the output of a success, and nothing is done. */
  check?(input: Input, context: StepContext): Promise<Output | undefined>
  /** Does it. Safe to repeat: an attempt before may have done half. */
  apply(input: Input, context: StepContext): Promise<Output>
  /** Looks whether it is true. A finding of severity error fails the attempt. */
  verify?(input: Input, output: Output, context: StepContext): Promise<readonly Finding[]>
  /**
   * Is what a success gave still there? Asked once by each later session: machines start again, and people tidy up.
   *
   * @param output as the journal has it: secrets by name
   */
  holds?(input: Input, output: Json, context: StepContext): Promise<boolean>
  /**
   * For a plan: asked before anything is done. Cheap, and changes nothing.
   *
   * @param input undefined where it is made of what a step before has yet to give
   */
  expect?(input: Input | undefined): Promise<StepExpectation>
  readonly undo?: Readonly<Record<string, UndoHandler>>
}

/** Typed identity: input and output follow from the schemas. */
export function defineStep<Input, Output>(definition: StepDefinition<Input, Output>): StepDefinition<Input, Output> {
  return definition
}

export const defaultPolicy: StepPolicy = {
  timeoutMs: 2 * 60 * 60_000,
  graceMs: 15_000,
  silenceMs: 5 * 60_000,
  retry: { attempts: 1, firstDelayMs: 10_000 },
  ignoresFailure: false,
  skipOnSuccess: false,
}

/** Outputs of the steps before, by their ids. */
export type Outputs = (step: string) => Json | undefined
