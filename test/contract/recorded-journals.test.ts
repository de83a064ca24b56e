/**
 * Journals of every version that wrote one must fold to the same state for ever.
 *
 * A new version adds files, under its own name: `SALLYPORT_RECORD=1 node --test test/contract/recorded-journals.test.ts`. What is
 * there is never written anew.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { version } from '../../src/cli/version.ts'
import type { JournalEvent } from '../../src/journal/events.ts'
import { foldBytes } from '../../src/workflow/journal-file.ts'
import { runEventfully } from '../../testkit/eventful-run.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const fixtures = fileURLToPath(new URL('../fixtures/journals', import.meta.url))

/** Maps as objects, so that it can be kept as JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (inner instanceof Map ? Object.fromEntries(inner) : inner)),
  )
}

function eventsOf(text: string): readonly JournalEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEvent)
}

const types: Record<JournalEvent['type'], true> = {
  'run.created': true,
  'run.redefined': true,
  'session.started': true,
  'session.ended': true,
  'step.started': true,
  'step.process': true,
  'step.heartbeat': true,
  'step.silent': true,
  'step.succeeded': true,
  'step.failed': true,
  'step.cancelled': true,
  'step.skipped': true,
  'step.marked-done': true,
  'step.reset': true,
  'undo.recorded': true,
  'undo.done': true,
  'undo.failed': true,
  'teardown.started': true,
  'teardown.ended': true,
  'observer.started': true,
  'observer.ended': true,
  'run.exported': true,
  'run.imported': true,
}

test('what this version records is recorded for the next ones', async (t) => {
  const { journal } = await runEventfully(await tempDir(t))
  const text = await readFile(journal, 'utf8')
  const seen = new Set(eventsOf(text).map(({ type }) => type))
  const missing = Object.keys(types).filter((type) => !seen.has(type as JournalEvent['type']))
  assert.deepEqual(missing, [])
  if (process.env['SALLYPORT_RECORD'] === undefined) return
  const folder = join(fixtures, version)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'eventful.jsonl'), text, { flag: 'wx' })
  await writeFile(
    join(folder, 'eventful.state.json'),
    `${JSON.stringify(plain(foldBytes(Buffer.from(text))), undefined, 1)}\n`,
    { flag: 'wx' },
  )
})

test('every journal that was ever recorded folds to the state that it had then', async (t) => {
  const entries = await readdir(fixtures, { recursive: true })
  const journals = entries.filter((name) => name.endsWith('.jsonl'))
  assert.ok(journals.length > 0)
  for (const name of journals) {
    await t.test(name, async () => {
      const bytes = await readFile(join(fixtures, name))
      const expected: unknown = JSON.parse(
        await readFile(join(fixtures, name.replace(/\.jsonl$/, '.state.json')), 'utf8'),
      )
      assert.deepEqual(plain(foldBytes(bytes)), expected)
    })
  }
})
