import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readWhenThere } from './named-pipe.ts'
import type { ChildOrder } from './registry-run-child.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

interface KillOrder extends ChildOrder {
  readonly runs: string
  /** What happens before it is killed, while it stands still. */
  readonly meanwhile?: () => Promise<unknown>
}

/** Begins a run in a process of its own, which is killed as soon as a script writes into the named pipe. */
export async function killAt(t: Cleanup, pipe: string, order: KillOrder): Promise<void> {
  const { runs, meanwhile, ...rest } = order
  const file = join(await tempDir(t), 'order.json')
  await writeFile(file, JSON.stringify(rest))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'registry-run-child.ts'), runs, file], {
    stdio: 'inherit',
  })
  const ended = once(child, 'exit')
  await readWhenThere(pipe, ended)
  if (meanwhile) {
    child.kill('SIGSTOP')
    await meanwhile()
  }
  child.kill('SIGKILL')
  const [, signal] = await ended
  assert.equal(signal, 'SIGKILL')
}
