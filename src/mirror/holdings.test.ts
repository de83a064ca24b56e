import assert from 'node:assert/strict'
import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { digestOf } from '../oci/digest.ts'
import { Holdings } from './holdings.ts'
import { workspaceAt } from './workspace.ts'

async function workspaceOf(t: TestContext) {
  const workspace = workspaceAt(await tempDir(t), '/')
  return { workspace, file: join(workspace.state, 'holdings.ndjson') }
}

const [one, two] = [digestOf('one'), digestOf('two')]
const session = (location: string) => ({ location })

test('what a run learned of a target is known to the next, and not to a run into another target', async (t) => {
  const { workspace } = await workspaceOf(t)
  const first = await Holdings.open(workspace, 'lab/ocp')
  await first.arrived('lab/ocp/a', one)
  await first.began('lab/ocp/a', two, session('http://lab/upload/1'))
  await first.began('lab/ocp/a', two, session('http://lab/upload/2'))
  await first.close()
  const next = await Holdings.open(workspace, 'lab/ocp')
  t.after(() => next.close())
  assert.equal(next.holderOf(one), 'lab/ocp/a')
  assert.deepEqual(next.uploadOf('lab/ocp/a', two), session('http://lab/upload/2'))
  assert.equal(next.uploadOf('lab/ocp/b', two), undefined)
  const other = await Holdings.open(workspace, 'elsewhere')
  t.after(() => other.close())
  assert.deepEqual([other.holderOf(one), other.uploadOf('lab/ocp/a', two)], [undefined, undefined])
})

test('an upload that was finished is forgotten', async (t) => {
  const { workspace } = await workspaceOf(t)
  const holdings = await Holdings.open(workspace, 'lab')
  await holdings.began('lab/a', one, session('http://lab/upload/1'))
  await holdings.arrived('lab/a', one)
  await holdings.close()
  const next = await Holdings.open(workspace, 'lab')
  t.after(() => next.close())
  assert.deepEqual([next.uploadOf('lab/a', one), next.holderOf(one)], [undefined, 'lab/a'])
})

test('a line that a crash cut is passed over, and what follows it is not lost', async (t) => {
  const { workspace, file } = await workspaceOf(t)
  const before = await Holdings.open(workspace, 'lab')
  await before.arrived('lab/a', one)
  await before.close()
  await appendFile(file, '{"target":"lab","repository":"lab/b","dig')
  const after = await Holdings.open(workspace, 'lab')
  await after.arrived('lab/b', two)
  await after.close()
  await appendFile(file, '{"target":1}\nnot json\n{]}\n')
  const last = await Holdings.open(workspace, 'lab')
  t.after(() => last.close())
  assert.deepEqual([last.holderOf(one), last.holderOf(two)], ['lab/a', 'lab/b'])
})

test('the file is for its owner only: the location of an upload can hold a token', async (t) => {
  const { workspace, file } = await workspaceOf(t)
  await (await Holdings.open(workspace, 'lab')).close()
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('what is known already is not written again', async (t) => {
  const { workspace, file } = await workspaceOf(t)
  const holdings = await Holdings.open(workspace, 'lab')
  t.after(() => holdings.close())
  await holdings.arrived('lab/a', one)
  const size = (await readFile(file)).byteLength
  await holdings.arrived('lab/a', one)
  assert.equal((await readFile(file)).byteLength, size)
})
