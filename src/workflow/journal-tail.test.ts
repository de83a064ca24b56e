import assert from 'node:assert/strict'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../testkit/temp-dir.ts'
import { openRunSettings, recordingWorkflow } from '../../testkit/workflow-run.ts'
import { runWorkflow } from './engine.ts'
import { readJournal } from './journal-file.ts'
import { JournalTail } from './journal-tail.ts'
import { runDirectory } from './run-directory.ts'

test('a journal that is read while it is written, in whatever pieces, says what it says as a whole', async (t) => {
  const runs = await tempDir(t)
  const { journal } = runDirectory(runs, '20260101T000000-00000')
  const workflow = recordingWorkflow([], ['ä', 'b', 'c!', 'z@post'])
  await runWorkflow(workflow, runDirectory(runs, '20260101T000000-00000'), openRunSettings(runs, {}))
  const bytes = await readFile(journal)
  const whole = await readJournal(journal)
  const path = join(runs, 'piecewise')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.byteLength)), async (cuts) => {
      await writeFile(path, '')
      const tail = new JournalTail(path)
      const ends = [...cuts, bytes.byteLength].sort((a, b) => a - b)
      for (const [index, end] of ends.entries()) {
        await appendFile(path, bytes.subarray(ends[index - 1] ?? 0, end))
        await tail.advance()
      }
      assert.deepEqual(tail.state, whole)
    }),
    { numRuns: 30 },
  )
})
