import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const mainFile = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

export interface CliResult {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Kills the process (SIGKILL) when it aborts: the result then has `signal`. */
  readonly kill?: AbortSignal
  /** Words before the command: a namespace to run it in. */
  readonly prefix?: readonly string[]
}

/**
 * Runs `sallyport` as a process of its own, from the sources.
 *
 * It sees nothing of who runs the test: no home directory with credentials, no proxy, no registries.conf.
 */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const [program = '', ...words] = [...(options.prefix ?? []), process.execPath, mainFile, ...args]
  const child = spawn(program, words, {
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      XDG_RUNTIME_DIR: '/nonexistent',
      NO_COLOR: '1',
      ...options.env,
    },
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.kill && { signal: options.kill, killSignal: 'SIGKILL' }),
  })
  const ended = new Promise<Pick<CliResult, 'status' | 'signal'>>((resolve, reject) => {
    child.on('error', (error) => (options.kill?.aborted ? undefined : reject(error)))
    child.on('close', (status, signal) => resolve({ status, signal }))
  })
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { ...end, stdout, stderr }
}
