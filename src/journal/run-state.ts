import type {
  FailureCause,
  InputParts,
  Json,
  SessionOutcome,
  Site,
  StepOutline,
  StepProblem,
  UndoRecord,
} from './events.ts'

/** What `asked` of a session begins with where nothing but a teardown was wanted. */
export const teardownWord = 'teardown'

export type StepStatus =
  | 'pending'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'timed-out'
  | 'cancelled'
  /** The engine was gone while it ran. */
  | 'interrupted'
  | 'skipped'
  | 'marked-done'

export interface Attempt {
  readonly number: number
  /** Of the session that began it: 1, 2, 3, … */
  readonly session: number
  readonly startedAt: number
  readonly log: string
  readonly inputs: string
  readonly parts?: InputParts
  readonly why: string
  endedAt?: number
  status: StepStatus
  cause?: FailureCause
  problem?: StepProblem
  exit?: number
  signal?: string
  retryAt?: number
  note?: string
  warnings?: readonly string[]
  process?: { readonly pid: number; readonly started?: string }
}

export interface Progress {
  readonly at: number
  readonly note?: string
  readonly done?: number
  readonly total?: number
  readonly unit?: string
}

export interface StepState {
  readonly outline: StepOutline
  status: StepStatus
  /** Why it is skipped, marked as done, or to be run again. */
  why?: string
  /** A step of the teardown that a user left out: until a teardown is asked for, or it is reset. */
  isLeftOut?: boolean
  readonly attempts: Attempt[]
  /** Of the attempt that succeeded. */
  inputs?: string
  parts?: InputParts
  output?: Json
  /** The number of the event that gave it its status. */
  since: number
  progress?: Progress
  /** Milliseconds without a sign of life, while it runs. */
  silentForMs?: number
}

export interface UndoState {
  readonly id: number
  readonly step: string
  readonly record: UndoRecord
  readonly where?: Site
  status: 'open' | 'done' | 'failed'
  problem?: StepProblem
  /** Of the last try: sessions are counted 1, 2, 3, … */
  triedIn?: number
}

export interface SessionState {
  readonly number: number
  readonly host: string
  readonly pid: number
  readonly user: string
  readonly asked: readonly string[]
  readonly startedAt: number
  endedAt?: number
  outcome?: SessionOutcome
  why?: string
}

export interface ObserverState {
  readonly name: string
  readonly log: string
  endedAt?: number
  problem?: StepProblem
}

/** What a journal says, all of it. Made by `fold` alone; everybody else only reads it. */
export interface RunState {
  run: string
  workflow: string
  version: string
  createdAt: number
  /** In the order in which they run. */
  readonly steps: Map<string, StepState>
  readonly undo: Map<number, UndoState>
  readonly observers: Map<string, ObserverState>
  /** The last one. */
  session: SessionState | undefined
  sessions: number
  /** Set from the beginning of a teardown on, until a step of another phase runs again. */
  isTearingDown: boolean
  /** Things left by the last teardown that came to its end. */
  remaining: number | undefined
  /** The number of the last event of a step that is not of the teardown. */
  lastForward: number
  exportedTo: string | undefined
  importedFrom: string | undefined
  /** The number and the time of the last event. */
  events: number
  lastAt: number
  /** Types that this version does not know, and how often they came. */
  readonly unknown: Map<string, number>
}
