import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from './temp-dir.ts'

const mainFile = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

export interface ServeProcess {
  readonly url: string
  readonly address: string
  readonly caFile: string | undefined
  readonly account: { readonly passwordFile: string } | undefined
  /** Ends it with `signal` and gives its exit status, null where the signal killed it. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

export interface ServeProcessOptions {
  readonly args?: readonly string[]
  /** Words before the command: a namespace to run it in. */
  readonly prefix?: readonly string[]
}

/** `sallyport registry serve` as a process of its own, so that it can be killed. */
export async function serveProcess(
  t: Cleanup,
  root: string,
  { args = [], prefix = [] }: ServeProcessOptions = {},
): Promise<ServeProcess> {
  const serve = [mainFile, '--json', 'registry', 'serve', '--root', root, '--listen', '127.0.0.1:0', ...args]
  const [program = '', ...words] = [...prefix, process.execPath, ...serve]
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => end(child, 'SIGKILL'))
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  if (typeof line !== 'string') throw new Error(`the registry ended with ${line} before it served`)
  return { ...JSON.parse(line), stop: (signal) => end(child, signal) }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return child.exitCode
}
