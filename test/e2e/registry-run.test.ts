import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { registryTrial, smallWorkflow } from '../../testkit/registry-run.ts'

function statuses({ state }: Awaited<ReturnType<Awaited<ReturnType<typeof registryTrial>>['run']>>) {
  return Object.fromEntries([...state.steps].map(([id, { status }]) => [id, status]))
}

test('steps run in order, each in a copy of SHARED_DIR that replaces all of it afterwards', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: {
      'first-one': 'echo one >"$SHARED_DIR/a"; echo gone >"$SHARED_DIR/b"',
      'second-one': 'rm "$SHARED_DIR/b"; cat "$SHARED_DIR/a"',
    },
    test: { 'third-one': 'test ! -e "$SHARED_DIR/b"; echo three >>"$SHARED_DIR/a"' },
    post: { 'last-one': 'cat "$SHARED_DIR/a"' },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.equal(await trial.shared('a'), 'one\nthree\n')
  assert.match(await trial.log('post/last-one'), /Z one\n.*Z three\n/)
  assert.deepEqual(await readdir(trial.directory.shared), ['a'])
})

test('a failure in pre skips the rest of it and the test, and every step of post runs', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: { 'make-it': 'echo kept >"$SHARED_DIR/left"; exit 3', 'make-more': ':' },
    test: { 'try-it': ':' },
    post: { 'gather-it': 'exit 1', 'remove-it': 'cat "$SHARED_DIR/left"' },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'failed')
  assert.deepEqual(statuses(outcome), {
    'pre/make-it': 'failed',
    'pre/make-more': 'pending',
    'test/try-it': 'pending',
    'post/gather-it': 'failed',
    'post/remove-it': 'succeeded',
  })
  assert.match(await trial.log('post/remove-it'), /kept/)
})
