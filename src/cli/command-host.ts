import type { CliContext, ExitStatus } from './context.ts'

/** How a command module meets `main.ts`. */
export interface CommandHost {
  /** The context, once the global options are parsed: call it inside the action. */
  readonly context: () => CliContext
  /** Tells the exit status of the action. */
  readonly done: (status: ExitStatus) => void
}
