import { spawn } from 'node:child_process'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from './env.ts'

export interface ExecOptions {
  readonly env: Env
  /** Written to its standard input. The way for secrets: arguments are visible to every user of a machine. */
  readonly input?: string
  readonly signal?: AbortSignal
  /** What it may print before it is stopped. */
  readonly maxOutputBytes?: number
}

export interface ExecResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs another program to its end, without a shell.
 *
 * @throws KnownError PROGRAM_FAILED when it cannot be started, is killed or prints more than allowed; a status other
 * than 0 is for the caller to judge
 */
export function exec(program: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
  const { env, input = '', signal, maxOutputBytes = 1024 * 1024 } = options
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(new KnownError('PROGRAM_FAILED', `${program}: ${why}`, { details: { program }, cause }))
    const child = spawn(program, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'], ...(signal && { signal }) })
    const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
    let size = 0
    const collect = (chunks: Uint8Array[]) => (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size <= maxOutputBytes) chunks.push(chunk)
      else child.kill('SIGKILL')
    }
    child.stdout.on('data', collect(output.stdout))
    child.stderr.on('data', collect(output.stderr))
    child.on('error', (error) => fail(`cannot be run: ${error.message}`, error))
    // A program that does not want its input ends before it is read; its status tells.
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(input)
    child.on('close', (status, killedBy) => {
      if (size > maxOutputBytes) return fail(`printed more than ${maxOutputBytes} bytes`)
      if (status === null) return fail(`was ended by ${killedBy}`)
      const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).toString('utf8')
      resolve({ status, stdout: text(output.stdout), stderr: text(output.stderr) })
    })
  })
}
