/** `kill -9` of the engine at any moment: what is done stays done, what is not is done again, and nothing is left. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findByCookie } from '../../src/host/process-cookies.ts'
import type { JournalEvent } from '../../src/journal/events.ts'
import { sampleFraction } from '../../src/quickstart/sample-bytes.ts'
import { readJournal } from '../../src/workflow/journal-file.ts'
import { runDirectory } from '../../src/workflow/run-directory.ts'
import { forwardSteps } from '../../testkit/engine-child.ts'
import { runNameIn } from '../../testkit/run-name.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

/** How often the engine is killed. CI takes some; before a release take a hundred. */
const kills = Number(process.env['SALLYPORT_KILLS'] ?? 25)
const seed = process.env['SALLYPORT_SEED'] ?? `${Date.now()}`
const childFile = fileURLToPath(new URL('../../testkit/engine-child.ts', import.meta.url))

/** Starts the engine, kills it after so long unless it has ended, and gives what it ended with. */
async function runFor(runs: string, milliseconds: number): Promise<number | string> {
  const child = spawn(process.execPath, [childFile, runs], { stdio: ['ignore', 'inherit', 'inherit'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds)
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  return status ?? signal ?? 'nothing'
}

async function eventsIn(journal: string): Promise<readonly JournalEvent[]> {
  const lines = (await readFile(journal, 'utf8')).split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEvent)
}

test(`killed ${kills} times at random moments, every step succeeds once, and nothing is left`, async (t) => {
  t.diagnostic(`seed ${seed}`)
  let killed = 0
  for (let round = 0; killed < kills; round += 1) {
    const runs = await tempDir(t)
    for (;;) {
      // Some 300 ms are the start of Node; the run itself takes some two seconds.
      const after = killed < kills ? 250 + sampleFraction(`${seed}/${killed}`) * 900 : 120_000
      const end = await runFor(runs, after)
      if (end !== 'SIGKILL') {
        assert.equal(end, 0)
        break
      }
      killed += 1
    }
    await checkRun(runs, `round ${round}`)
  }
})

async function checkRun(runs: string, message: string): Promise<void> {
  const { journal } = runDirectory(runs, runNameIn(runs))
  const events = await eventsIn(journal)
  const ledger = (await readFile(join(runs, 'ledger'), 'utf8')).trim().split('\n')
  for (let index = 0; index < forwardSteps; index += 1) {
    const step = `step-${index}`
    const own = events.filter((event) => 'step' in event && event.step === step)
    const succeeded = own.filter(({ type }) => type === 'step.succeeded')
    assert.equal(succeeded.length, 1, `${message}: ${step} succeeded ${succeeded.length} times`)
    const last = succeeded[0]
    // Nothing of a step begins after it has succeeded.
    assert.ok(
      !own.some(({ type, n }) => type === 'step.started' && n > (last?.n ?? 0)),
      `${message}: ${step} ran after its success`,
    )
    const attempt = last?.type === 'step.succeeded' ? last.attempt : 0
    assert.ok(ledger.includes(`end ${step} ${attempt}`), `${message}: ${step} is said to have succeeded and did not`)
  }
  const state = await readJournal(journal)
  assert.equal(state.remaining, 0, message)
  assert.deepEqual(
    [...state.undo.values()].filter(({ status }) => status !== 'done'),
    [],
    message,
  )
  assert.deepEqual(
    (await readdir(runs)).filter((name) => name.startsWith('made-')),
    [],
    message,
  )
  assert.deepEqual(findByCookie(`${runNameIn(runs)}/`) ?? [], [], `${message}: processes are left`)
}
