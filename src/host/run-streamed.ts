import { spawn } from 'node:child_process'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from './env.ts'

export interface StreamedOptions {
  readonly env: Env
  readonly onOutput: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void
  /** Ends it, and all of its group, at once. */
  readonly signal?: AbortSignal
}

/**
 * Runs a program to its end in a process group of its own, handing on what it prints as it comes. Its status, or the name
 * of the signal that ended it.
 *
 * @throws KnownError PROGRAM_FAILED where it cannot be started
 */
export function runStreamed(argv: readonly string[], options: StreamedOptions): Promise<number | string> {
  const { env, onOutput, signal } = options
  const [program = '', ...words] = argv
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const child = spawn(program, words, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const stop = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended already.
      }
    }
    signal?.addEventListener('abort', stop, { once: true })
    child.stdout.on('data', (chunk: Uint8Array) => onOutput(chunk, 'stdout'))
    child.stderr.on('data', (chunk: Uint8Array) => onOutput(chunk, 'stderr'))
    child.on('error', (cause) =>
      reject(new KnownError('PROGRAM_FAILED', `${program}: cannot be run: ${cause.message}`, { cause })),
    )
    child.on('close', (status, killedBy) => {
      signal?.removeEventListener('abort', stop)
      resolve(status ?? killedBy ?? 'ended')
    })
  })
}
