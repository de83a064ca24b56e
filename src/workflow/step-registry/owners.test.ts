import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeRegistry } from '../../../testkit/step-registry.ts'
import { ownersOf } from './owners.ts'

test('owners are those of the metadata beside the file, else of the nearest OWNERS up to the root', async (t) => {
  const root = await writeRegistry(t, {
    OWNERS: 'approvers: [top]\n',
    'a/OWNERS': 'approvers:\n- middle\nreviewers:\n- reader\n',
    'a/b/a-b-ref.metadata.json': '{"path": "a/b/a-b-ref.yaml", "owners": {"approvers": ["own"]}}',
    'a/b/c/OWNERS': 'aliases\n',
  })
  const approvers = (path: string) => ownersOf(join(root, path), root)?.approvers
  assert.deepEqual(approvers('a/b/a-b-ref.yaml'), ['own'])
  assert.deepEqual(approvers('a/b/a-b-chain.yaml'), ['middle'])
  assert.deepEqual(approvers('a/b/c/a-b-c-ref.yaml'), ['middle'])
  assert.deepEqual(approvers('x/x-ref.yaml'), ['top'])
  assert.deepEqual(ownersOf(join(root, 'a/a-ref.yaml'), root)?.reviewers, ['reader'])
  assert.equal(ownersOf(join(root, 'a/a-ref.yaml'), join(root, 'a/a-ref.yaml/deeper')), undefined)
})
