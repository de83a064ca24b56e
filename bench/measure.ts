/** Whole processes, measured from outside by the accounting of the operating system (GNU time). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Measure {
  readonly wallSeconds: number
  /** User and system time of the process and all its children. */
  readonly cpuSeconds: number
  /** Of the largest single process. */
  readonly peakMiB: number
  /** What the command printed, where it failed. */
  readonly failure?: string
}

export async function measure(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Measure> {
  const file = join(tmpdir(), `sallyport-bench-${process.pid}-${command.length}.time`)
  const child = spawn('/usr/bin/time', ['-f', '%e %U %S %M', '-o', file, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  const output = await readFile(file, 'utf8')
  await rm(file)
  const failure = Buffer.concat(errors).toString('utf8').slice(-2000) || `exit status ${status}`
  const [wall = 0, user = 0, system = 0, peak = 0] = (output.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
  return { wallSeconds: wall, cpuSeconds: user + system, peakMiB: peak / 1024, ...(status !== 0 && { failure }) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** Collects what a run leaves to clean up; the newest first. */
export class Cleanups {
  readonly #actions: (() => unknown)[] = []

  after(action: () => unknown): void {
    this.#actions.push(action)
  }

  /** A missing peer ends a benchmark: a comparison without it says nothing. */
  skip(reason?: string): void {
    throw new Error(reason)
  }

  async run(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) await action()
  }
}
