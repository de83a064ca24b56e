import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findByCookie } from '../../src/host/process-cookies.ts'
import { readWhenThere } from '../../testkit/named-pipe.ts'
import { registryTrial, smallWorkflow } from '../../testkit/registry-run.ts'
import { killAt } from '../../testkit/registry-run-kill.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

test('after kill -9 in a script the run goes on with it, with what it had written until then', async (t) => {
  const trial = await registryTrial(t)
  const pipe = join(await tempDir(t), 'started')
  const resolved = await smallWorkflow(t, {
    pre: {
      'first-one': 'echo one >"$SHARED_DIR/order"',
      'second-one': [
        'if [ "$(tail -n1 "$SHARED_DIR/order")" = begun ]; then echo again >>"$SHARED_DIR/order"; exit 0; fi',
        'echo begun >>"$SHARED_DIR/order"',
        'echo stack-1 >"$SHARED_DIR/to_be_removed"',
        `mkfifo '${pipe}'; echo >'${pipe}'; sleep 60`,
      ].join('\n'),
    },
    post: { 'last-one': 'cat "$SHARED_DIR/to_be_removed"' },
  })
  await killAt(t, pipe, { runs: trial.runs, resolved, options: {} })
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.equal(await trial.shared('order'), 'one\nbegun\nagain\n')
  assert.match(await trial.log('post/last-one'), /stack-1/)
  assert.equal(outcome.state.steps.get('pre/first-one')?.attempts.length, 1)
  assert.deepEqual(findByCookie(`${trial.directory.id}/`), [])
  assert.deepEqual(await readdir(join(trial.directory.root, 'state/pre/second-one')), [])
})

test('an undo that was registered before kill -9 is run by the next teardown', async (t) => {
  const trial = await registryTrial(t)
  const outside = await tempDir(t)
  const pipe = join(outside, 'started')
  const resolved = await smallWorkflow(t, {
    pre: {
      'make-it': `"$SALLYPORT_UNDO" rm '${outside}/made'; echo x >'${outside}/made'; mkfifo '${pipe}'; echo >'${pipe}'; sleep 60`,
    },
  })
  await killAt(t, pipe, { runs: trial.runs, resolved, options: {} })
  assert.equal(await readFile(join(outside, 'made'), 'utf8'), 'x\n')
  const outcome = await trial.run(resolved, {}, { mode: 'teardown' })
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.deepEqual(await readdir(outside), ['started'])
})

test('a script that ended after its engine stood still is not run twice, and what it wrote is kept', async (t) => {
  const trial = await registryTrial(t)
  const outside = await tempDir(t)
  const [pipe, go] = [join(outside, 'started'), join(outside, 'go')]
  const resolved = await smallWorkflow(t, {
    pre: {
      'make-it': `echo made >>"$SHARED_DIR/made"; mkfifo '${go}' '${pipe}'; echo >'${pipe}'; cat '${go}'; echo late >>"$SHARED_DIR/made"`,
    },
    post: { 'last-one': 'cat "$SHARED_DIR/made"' },
  })
  const meanwhile = async () => {
    await writeFile(go, '')
    await readWhenThere(join(trial.directory.root, 'logs/pre/make-it/1.exit'))
  }
  await killAt(t, pipe, { runs: trial.runs, resolved, options: {}, meanwhile })
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.equal(outcome.state.steps.get('pre/make-it')?.attempts.length, 1)
  assert.match(await trial.log('post/last-one'), /Z made\n.*Z late\n/)
})
