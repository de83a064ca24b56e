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

export interface Contender {
  readonly name: string
  readonly command: readonly string[]
}

/** All of them in turn, so many times; the first that fails ends it. */
export async function measureInTurn(
  contenders: readonly Contender[],
  runs: number,
): Promise<ReadonlyMap<string, readonly Measure[]>> {
  const results = new Map<string, Measure[]>()
  for (let run = 0; run < runs; run += 1) {
    for (const { name, command } of contenders) {
      const one = await measure(command)
      if (one.failure !== undefined) throw new Error(`${name}: ${one.failure}`)
      results.set(name, [...(results.get(name) ?? []), one])
    }
  }
  return results
}

/** Medians as a table for RESULTS.md, ended by a line break. */
export function measureTable(results: ReadonlyMap<string, readonly Measure[]>): string {
  const row = ([name, all]: readonly [string, readonly Measure[]]) => {
    const wall = all.map(({ wallSeconds }) => wallSeconds)
    const span = `${Math.min(...wall).toFixed(2)}–${Math.max(...wall).toFixed(2)}`
    const cpu = median(all.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2)
    const peak = median(all.map(({ peakMiB }) => peakMiB)).toFixed(0)
    return `| ${name} | **${median(wall).toFixed(2)}** (${span}) | ${cpu} | ${peak} |`
  }
  return ['| what | wall s (min–max) | CPU s | peak MiB |', '|---|---|---|---|', ...[...results].map(row), ''].join(
    '\n',
  )
}
