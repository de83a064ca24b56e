/** `sallyport` as a process that is still running: to be interrupted, killed and looked at. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const mainFile = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

export interface RunningCli {
  readonly child: ChildProcess
  readonly output: { stdout: string; stderr: string }
  /** As Ctrl-C does: to the whole process group. */
  signal(signal: NodeJS.Signals): void
  /** Its status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** In a process group of its own; ended with the test. */
export function startCli(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  { cwd }: { readonly cwd: string },
): RunningCli {
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', NO_COLOR: '1' },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString('utf8')
  })
  const ended = once(child, 'close').then(([status, signal]) => status ?? signal)
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), name)
    } catch {
      // It has ended.
    }
  }
  t.after(() => signal('SIGKILL'))
  return { child, output, signal, ended }
}

/** Waits until `isSo`; fails after two minutes with what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 120_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`)
    await pause(20)
  }
}

/** Processes of this machine that carry the mark of a run. */
export async function processesOf(run: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const marked = pids.map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    return environment.split('\0').some((word) => word.startsWith(`SALLYPORT_STEP=${run}/`)) ? [Number(pid)] : []
  })
  return (await Promise.all(marked)).flat()
}

/** Ends what a run has left: of a test that failed. */
export async function endProcessesOf(run: string): Promise<void> {
  for (const pid of await processesOf(run)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
