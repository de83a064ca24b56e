import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import type { Env } from './env.ts'

export interface LoggedProcess {
  /** Resolves with the status, or with the name of the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Ends it and all that it started, at once. */
  kill(): void
}

/** Starts a program in a process group of its own, with what it prints going to a file and nothing to read. */
export function spawnLogged(
  program: string,
  args: readonly string[],
  { env, logFile }: { readonly env: Env; readonly logFile: string },
): LoggedProcess {
  const log = openSync(
    logFile,
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW,
    0o600,
  )
  const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', log, log], detached: true })
  closeSync(log)
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status, signal) => resolve(status ?? signal ?? 'ended'))
  })
  const kill = () => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
  return { ended, kill }
}
