import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { KnownError } from '../../errors/known-error.ts'
import { systemClock } from '../../host/clock.ts'
import { makeLabDirectory } from './lab-directory.ts'
import { remainsInLab, removeFromLab } from './lab-undo.ts'

const host = { env: {}, clock: systemClock }
const hasCode = (code: string) => (error: unknown) => error instanceof KnownError && error.code === code

test('no undo record removes what is not the lab’s own', async (t) => {
  const path = join(await tempDir(t), 'home')
  const file = join(path, 'letter')
  await mkdir(path)
  await writeFile(file, 'dear')
  await assert.rejects(removeFromLab(host, { kind: 'lab-directory', lab: 'a', path }), hasCode('LAB_FAILED'))
  await assert.rejects(removeFromLab(host, { kind: 'lab-file', lab: 'a', path: file }), hasCode('LAB_FAILED'))
  await assert.rejects(makeLabDirectory(path, 'a'), hasCode('LAB_FAILED'))
  assert.equal(await readFile(file, 'utf8'), 'dear')
})

test('the directory of another lab stays', async (t) => {
  const path = join(await tempDir(t), 'lab')
  await makeLabDirectory(path, 'one')
  await assert.rejects(makeLabDirectory(path, 'other'), hasCode('LAB_FAILED'))
  await assert.rejects(removeFromLab(host, { kind: 'lab-directory', lab: 'other', path }), hasCode('LAB_FAILED'))
  assert.equal(await removeFromLab(host, { kind: 'lab-directory', lab: 'one', path }), 'removed')
  assert.deepEqual(await remainsInLab({ kind: 'lab-directory', lab: 'one', path }), [])
})

test('a directory that was made and not marked yet is removed', async (t) => {
  const path = join(await tempDir(t), 'lab')
  await mkdir(path)
  assert.equal(await removeFromLab(host, { kind: 'lab-directory', lab: 'one', path }), 'removed')
  assert.equal(await removeFromLab(host, { kind: 'lab-directory', lab: 'one', path }), 'gone')
})

test('a record that is none of the lab’s is refused, whatever it names', async () => {
  for (const record of [
    { kind: 'aws-stack', name: 'x' },
    { kind: 'lab-namespace', lab: 'a', name: 'default' },
    { kind: 'lab-namespace', lab: 'a', name: 'sallyport-../x' },
    { kind: 'lab-directory', lab: 'a', path: 'relative' },
    { kind: 'lab-process', lab: 'a' },
  ]) {
    await assert.rejects(removeFromLab(host, record), hasCode('UNDO_INVALID'))
    await assert.rejects(remainsInLab(record), hasCode('UNDO_INVALID'))
  }
})
