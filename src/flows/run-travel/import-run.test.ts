import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { tarFile, writeTar } from '../../archive/tar/ustar.ts'
import { systemClock } from '../../host/clock.ts'
import { importRun } from './import-run.ts'
import { manifestSum, runFileNames } from './run-file.ts'

const id = '20260101T000000-00000'
const created = { n: 1, at: 1, type: 'run.created', format: 1, run: id, workflow: 'w', steps: [], version: '0' }
const journal = `${JSON.stringify(created)}\n`

/** A run file that is whole, whatever it holds. */
async function runFile(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { format = 1, host = 'there' }: { readonly format?: number; readonly host?: string } = {},
) {
  const root = await tempDir(t)
  const entries = Object.entries(files).map(([name, text]) => {
    const sha256 = createHash('sha256').update(text).digest('hex')
    return { name, size: Buffer.byteLength(text), sha256, mode: 0o600 }
  })
  const manifest = JSON.stringify({ format, run: id, workflow: 'w', host, entries, secrets: [] })
  const heads = [tarFile(runFileNames.manifest, manifest), tarFile(runFileNames.manifestSum, manifestSum(manifest))]
  const file = join(root, 'run.tar')
  const contents = Object.entries(files).map(([name, text]) => tarFile(name, text))
  await writeFile(file, Buffer.concat([...writeTar([...heads, ...contents])]))
  return { file, runs: join(root, 'runs') }
}

test('a file without the journal of its run, or whose names cannot be in one directory, is no run, and leaves nothing', async (t) => {
  const broken: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'journal.jsonl': '' },
    { 'journal.jsonl': journal.replace(id, '20250101T000000-11111') },
    { 'journal.jsonl/x': '' },
    { 'journal.jsonl': journal, a: '', 'a/b': '' },
    { 'journal.jsonl': journal, 'a/b': '', a: '' },
    { 'journal.jsonl': journal, shared: '' },
    { 'journal.jsonl': journal, 'secrets.sealed/x': '' },
    { 'journal.jsonl': journal, ['x'.repeat(300)]: '' },
    { 'journal.jsonl': journal, '../x': '' },
    { 'journal.jsonl': journal, 'secrets/x': '' },
  ]
  for (const files of broken) {
    const { file, runs } = await runFile(t, files)
    await assert.rejects(importRun(file, { clock: systemClock, runs }), { code: 'RUN_FILE_INVALID' })
    assert.deepEqual(await readdir(runs).catch(() => []), [], JSON.stringify(files))
  }
  const { file, runs } = await runFile(t, { 'journal.jsonl': journal })
  await importRun(file, { clock: systemClock, runs })
  assert.deepEqual(await readdir(runs), [id])
})

test('the file of a newer version is told as such', async (t) => {
  const { file, runs } = await runFile(t, { 'journal.jsonl': journal }, { format: 2 })
  await assert.rejects(importRun(file, { clock: systemClock, runs }), {
    code: 'JOURNAL_NEWER',
    message: `${file} has format 2; this version knows 1`,
  })
})

test('a machine whose name would write over a terminal is refused', async (t) => {
  const { file, runs } = await runFile(t, { 'journal.jsonl': journal }, { host: 'there\u001b[2J' })
  await assert.rejects(importRun(file, { clock: systemClock, runs }), {
    code: 'RUN_FILE_INVALID',
    message: /control characters/,
  })
})
