import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findByCookie } from '../../src/host/process-cookies.ts'
import type { ResolvedWorkflow } from '../../src/workflow/step-registry/model.ts'
import { readWhenThere } from '../../testkit/named-pipe.ts'
import { type RegistryTrial, registryTrial, smallWorkflow } from '../../testkit/registry-run.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

/** Runs it in a process of its own, which is killed as soon as a script writes into the named pipe. */
async function killAt(t: TestContext, pipe: string, { trial, resolved }: Killed): Promise<void> {
  const file = join(await tempDir(t), 'resolved.json')
  await writeFile(file, JSON.stringify(resolved))
  const child = spawn(process.execPath, ['testkit/registry-run-child.ts', trial.runs, file], { stdio: 'inherit' })
  const ended = once(child, 'exit')
  await Promise.race([readWhenThere(pipe), ended])
  child.kill('SIGKILL')
  const [, signal] = await ended
  assert.equal(signal, 'SIGKILL')
}

interface Killed {
  readonly trial: RegistryTrial
  readonly resolved: ResolvedWorkflow
}

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
  await killAt(t, pipe, { trial, resolved })
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
  await killAt(t, pipe, { trial, resolved })
  assert.equal(await readFile(join(outside, 'made'), 'utf8'), 'x\n')
  const outcome = await trial.run(resolved, {}, { mode: 'teardown' })
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.deepEqual(await readdir(outside), ['started'])
})
