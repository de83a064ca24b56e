import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import type { Log } from '../host/log.ts'

/** What `main.ts` hands to every command: all ambient authority, and where to print. */
export interface CliContext {
  readonly env: Env
  readonly clock: Clock
  /** What relative paths are relative to. */
  readonly cwd: string
  readonly log: Log
  /** The words that run this program: Node, and its main file. */
  readonly self: readonly string[]
  readonly user: { readonly platform: string; readonly uid: number }
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal
  /** Aborted by the second, just before the process ends: there is time for what is done at once, and for nothing else. */
  readonly leaving: AbortSignal
  /** `--json`: exactly one JSON document goes to `stdout`. */
  readonly json: boolean
  /** `--events FILE`: one JSON event a line; undefined where not asked for. */
  readonly emitEvent: ((event: Readonly<Record<string, unknown>>) => void) | undefined
  /** Writes a result. Everything else (progress, warnings) goes to `stderr`. */
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** True where progress may be redrawn in place. */
  readonly isTerminal: boolean
  /** True where ANSI colours are wanted. */
  readonly color: boolean
}

/** What a command returns: the exit status (design.md 5). */
export type ExitStatus = number
