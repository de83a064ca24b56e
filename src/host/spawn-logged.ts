import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import type { Env } from './env.ts'

export interface LoggedProcess {
  /** Resolves with the status, or with the name of the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Ends it and all that it started, at once. */
  kill(): void
}

/**
 * Runs the arguments as a command until it ends, or until this process is gone, however that came: then nobody holds the
 * other end of standard input any more.
 */
const untilWeAreGone = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
(read -r _ <&3; kill -9 $child) &
watcher=$!
wait $child
status=$?
kill $watcher 2>/dev/null
exit $status
`

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
  const words = ['-c', untilWeAreGone, 'sallyport', program, ...args]
  const child = spawn('/bin/sh', words, { env: { ...env }, stdio: ['pipe', log, log], detached: true })
  child.stdin?.on('error', () => undefined)
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
