import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from './env.ts'

/**
 * Starts a program that goes on when this process is gone: a session of its own, nothing to read, what it prints at the
 * end of a file. Gives its process id.
 *
 * @throws KnownError PROGRAM_FAILED where it cannot be started
 */
export async function spawnDetached(
  argv: readonly string[],
  { env, logFile }: { readonly env: Env; readonly logFile: string },
): Promise<number> {
  const [program = '', ...words] = argv
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  const log = openSync(logFile, flags, 0o600)
  try {
    const child = spawn(program, words, { env: { ...env }, stdio: ['ignore', log, log], detached: true })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) =>
        reject(new KnownError('PROGRAM_FAILED', `${program}: cannot be run: ${cause.message}`, { cause })),
      )
    })
    child.unref()
    return child.pid ?? 0
  } finally {
    closeSync(log)
  }
}
