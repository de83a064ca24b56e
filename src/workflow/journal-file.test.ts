import assert from 'node:assert/strict'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { openJournal, readJournal } from './journal-file.ts'

/** Network file systems say only when a file is flushed that they have no space for it. */
async function failFlushes(t: TestContext, path: string, { times }: { readonly times: number }): Promise<void> {
  const file = await open(path, 'w')
  await file.close()
  const full = Object.assign(new Error('ENOSPC: no space left on device, fdatasync'), { code: 'ENOSPC' })
  let failures = 0
  const files = Object.getPrototypeOf(file) as FileHandle
  const flush = files.datasync
  t.mock.method(files, 'datasync', function (this: FileHandle) {
    failures += 1
    return failures > times ? flush.call(this) : Promise.reject(full)
  })
}

const created = { type: 'run.created', format: 1, run: 'r', workflow: 'w', steps: [], version: '1' } as const
const started = { type: 'session.started', host: 'h', pid: 1, user: 'u', asked: [] } as const

test('an event that cannot be flushed is not in the journal, and the next has its number', async (t) => {
  const directory = await tempDir(t)
  const path = join(directory, 'journal')
  const journal = await openJournal(path)
  await journal.append(created, { at: 1 })
  const { size } = await stat(path)
  await failFlushes(t, join(directory, 'other'), { times: 2 })
  await assert.rejects(journal.append(started, { at: 2 }), { code: 'DISK_FULL' })
  assert.equal((await stat(path)).size, size)
  await journal.append(started, { at: 3 })
  await journal.close()
  assert.equal((await readJournal(path)).events, 2)
})

test('where the reserve makes room for a flush, the event is in the journal once', async (t) => {
  const directory = await tempDir(t)
  const path = join(directory, 'journal')
  const journal = await openJournal(path)
  await failFlushes(t, join(directory, 'other'), { times: 1 })
  await journal.append(created, { at: 1 })
  await journal.close()
  assert.equal((await readJournal(path)).events, 1)
})
