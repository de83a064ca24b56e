/**
 * What happens in a run, as its journal keeps it: one JSON object a line, in the order of `n`, never changed afterwards.
 *
 * Events are the past: whoever reads a journal of an older version must come to the same state for ever
 * (test/fixtures/journals). A new version may add types and fields; a meaning never changes.
 */

export type Phase = 'pre' | 'test' | 'post'

/** On which side of the gap a step does its work. */
export type Site = 'connected' | 'bastion' | 'closed'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export type JsonRecord = { readonly [name: string]: Json }

/** A step, as somebody sees it who has nothing but the journal. */
export interface StepOutline {
  readonly id: string
  readonly title: string
  readonly phase: Phase
  /** Stages or chains that it stands in, outermost first. */
  readonly groups: readonly string[]
  readonly where?: Site
  /** Its failure changes nothing for the run: best effort. */
  readonly ignoresFailure?: true
}

/** How to take away again what a step is about to make. `kind` names who knows how; the rest are its values, never secrets. */
export interface UndoRecord {
  readonly kind: string
  /** What it is, for people: `network namespace demo-closed`. */
  readonly what?: string
  /** What belongs together when only a part is taken away: `bootstrap`, `bastion`, … */
  readonly scope?: string
  readonly values: JsonRecord
}

export interface StepProblem {
  readonly message: string
  readonly code?: string
  readonly hint?: string
}

/** Why an attempt did not succeed. `lost`: the engine was gone before it ended. */
export type FailureCause = 'exit' | 'error' | 'timeout' | 'lost'

interface Numbered {
  /** 1, 2, 3, … without a gap. */
  readonly n: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

interface OfStep {
  readonly step: string
}

interface OfAttempt extends OfStep {
  /** 1, 2, 3, … over all sessions. */
  readonly attempt: number
}

export interface RunCreated {
  readonly type: 'run.created'
  /** Of the journal. */
  readonly format: 1
  readonly run: string
  readonly workflow: string
  readonly steps: readonly StepOutline[]
  /** The version of Sallyport. */
  readonly version: string
}

/** The same run with other steps: what it is made from has changed, or the newer program has other steps. */
export interface RunRedefined {
  readonly type: 'run.redefined'
  readonly steps: readonly StepOutline[]
  readonly version: string
}

/** A process took the run up. */
export interface SessionStarted {
  readonly type: 'session.started'
  readonly host: string
  readonly pid: number
  readonly user: string
  /** What was asked of it, for the record: `--from x`, `--teardown always`, … */
  readonly asked: readonly string[]
}

export type SessionOutcome = 'succeeded' | 'failed' | 'stopped' | 'interrupted' | 'gap'

export interface SessionEnded {
  readonly type: 'session.ended'
  readonly outcome: SessionOutcome
  readonly why?: string
}

export type InputParts = Readonly<Record<string, string>>

export interface StepStarted extends OfAttempt {
  readonly type: 'step.started'
  /** Of everything that, changed, makes a success stale. */
  readonly inputs: string
  /** What the digest is made of, by name: short digests, to tell later which of it has changed. */
  readonly parts?: InputParts
  /** Of its log, in the directory of the run. */
  readonly log: string
  readonly why: string
}

/** The process group of a script, to find it again after a crash. */
export interface StepProcess extends OfAttempt {
  readonly type: 'step.process'
  readonly pid: number
  /** As /proc tells it: process ids are used again. */
  readonly started?: string
}

/** It lives: how far it is, or what it waits for. */
export interface StepHeartbeat extends OfAttempt {
  readonly type: 'step.heartbeat'
  readonly note?: string
  readonly done?: number
  readonly total?: number
  readonly unit?: string
}

/** Nothing was heard of it for so long. */
export interface StepSilent extends OfAttempt {
  readonly type: 'step.silent'
  readonly forMs: number
}

export interface StepSucceeded extends OfAttempt {
  readonly type: 'step.succeeded'
  readonly output: Json
  /** Says what is unusual about it: that it was found done, or that its end was found after a crash. */
  readonly note?: string
  /** What its verification found that fails nothing, and that people have to know: what is not proven. */
  readonly warnings?: readonly string[]
}

export interface StepFailed extends OfAttempt {
  readonly type: 'step.failed'
  readonly cause: FailureCause
  readonly problem: StepProblem
  readonly exit?: number
  readonly signal?: string
  /** When it is tried again, in milliseconds since the epoch; absent where it is not. */
  readonly retryAt?: number
}

export interface StepCancelled extends OfAttempt {
  readonly type: 'step.cancelled'
  readonly why: string
}

export interface StepSkipped extends OfStep {
  readonly type: 'step.skipped'
  readonly why: string
  /** The user who said so; absent where a rule of the workflow did. */
  readonly by?: string
}

/** Counted as done, because a user says that it is. */
export interface StepMarkedDone extends OfStep {
  readonly type: 'step.marked-done'
  readonly why: string
  readonly by: string
}

/** To be run again, whatever came of it before. */
export interface StepReset extends OfStep {
  readonly type: 'step.reset'
  readonly why: string
  readonly by?: string
}

/** Written before the resource is made. */
export interface UndoRecorded extends OfAttempt {
  readonly type: 'undo.recorded'
  readonly undo: number
  readonly record: UndoRecord
  readonly where?: Site
}

export interface UndoDone {
  readonly type: 'undo.done'
  readonly undo: number
}

export interface UndoFailed {
  readonly type: 'undo.failed'
  readonly undo: number
  readonly problem: StepProblem
}

export interface TeardownStarted {
  readonly type: 'teardown.started'
  readonly why: string
}

export interface TeardownEnded {
  readonly type: 'teardown.ended'
  /** Undo records that are still to be done, and post steps that failed. */
  readonly remaining: number
}

export interface ObserverStarted {
  readonly type: 'observer.started'
  readonly observer: string
  readonly log: string
}

export interface ObserverEnded {
  readonly type: 'observer.ended'
  readonly observer: string
  readonly problem?: StepProblem
}

/** Put into a file, to travel. */
export interface RunExported {
  readonly type: 'run.exported'
  readonly file: string
}

export interface RunImported {
  readonly type: 'run.imported'
  /** On which it was exported. */
  readonly host: string
  /** Of the file that it came in. */
  readonly digest: string
}

export type RunEvent =
  | RunCreated
  | RunRedefined
  | SessionStarted
  | SessionEnded
  | StepStarted
  | StepProcess
  | StepHeartbeat
  | StepSilent
  | StepSucceeded
  | StepFailed
  | StepCancelled
  | StepSkipped
  | StepMarkedDone
  | StepReset
  | UndoRecorded
  | UndoDone
  | UndoFailed
  | TeardownStarted
  | TeardownEnded
  | ObserverStarted
  | ObserverEnded
  | RunExported
  | RunImported

/** An event with its place in the journal. */
export type JournalEvent = RunEvent & Numbered
