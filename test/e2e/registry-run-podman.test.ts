import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ContainerOptions } from '../../src/workflow/registry-run/run-options.ts'
import { peer } from '../../testkit/peers.ts'
import { podmanSite } from '../../testkit/podman-site.ts'
import { registryTrial, smallWorkflow } from '../../testkit/registry-run.ts'
import { killAt } from '../../testkit/registry-run-kill.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

async function site(t: TestContext): Promise<ContainerOptions | undefined> {
  const program = peer(t, 'podman')
  return program === undefined ? undefined : podmanSite(t, program)
}

function containers({ program, env }: ContainerOptions): string {
  return execFileSync(program, ['ps', '--all', '--quiet'], { env, encoding: 'utf8' })
}

test('in containers the contract is the same, and credentials are where the step looks for them', async (t) => {
  const container = await site(t)
  if (container === undefined) return
  const secret = await tempDir(t)
  await writeFile(join(secret, 'token'), 'Sup3rS3cretToken\n')
  const profile = await tempDir(t)
  await writeFile(join(profile, 'pull-secret'), '{}\n')
  const resolved = await smallWorkflow(t, {
    pre: {
      'write-it': {
        script: [
          'echo "$GREETING" >"$SHARED_DIR/greeting"',
          'ls -A / >"$ARTIFACT_DIR/root"',
          'cat /var/run/vault/token; cat "$CLUSTER_PROFILE_DIR/pull-secret"',
          '! touch /var/run/vault/mine',
          '"$SALLYPORT_UNDO" sh -c "ls -A / >/dev/null; echo undone in \\$JOB_NAME"',
          'echo "home $HOME"; test -w "$HOME"; echo file >"$TMPDIR/file"',
        ].join('\n'),
        env: [{ name: 'GREETING', default: 'hello "world"\nagain' }],
        credentials: [{ namespace: 'ns', name: 'vault', mount_path: '/var/run/vault' }],
      },
    },
    test: { 'read-it': 'cat "$SHARED_DIR/greeting"' },
    post: { 'as-program': { script: '#!/bin/bash\necho program', run_as_script: true } },
    settings: { cluster_profile: 'aws' },
  })
  const trial = await registryTrial(t)
  const credentials = { vault: secret }
  const outcome = await trial.run(resolved, { container, credentials, clusterProfileDir: profile })
  assert.equal(outcome.outcome, 'succeeded', `${outcome.why}\n${await trial.log('pre/write-it')}`)
  assert.equal(await trial.shared('greeting'), 'hello "world"\nagain\n')
  assert.doesNotMatch(await trial.log('pre/write-it'), /Sup3rS3cret/)
  const root = await readFile(join(trial.directory.root, 'artifacts/pre/write-it/root'), 'utf8')
  assert.doesNotMatch(root, /^(?:home|usr|opt)$/m)
  assert.match(await trial.log('undo/1'), /undone in site/)
  assert.equal(containers(container), '')
})

test('a time-out ends the container', async (t) => {
  const container = await site(t)
  if (container === undefined) return
  const script = `trap 'echo in trap; exit 1' INT\nsleep 300 & wait`
  const resolved = await smallWorkflow(t, {
    test: { 'wait-long': { script, timeout: '4s', grace_period: '10s' } },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved, { container })
  assert.equal(outcome.state.steps.get('test/wait-long')?.status, 'timed-out')
  assert.match(await trial.log('test/wait-long'), /in trap/)
  assert.equal(containers(container), '')
})

test('a container that kill -9 has left is gone before its step runs again', async (t) => {
  const container = await site(t)
  if (container === undefined) return
  const trial = await registryTrial(t)
  const pipe = join(trial.directory.root, 'artifacts/test/wait-long/started')
  const resolved = await smallWorkflow(t, {
    test: {
      'wait-long': [
        'test -e "$SHARED_DIR/begun" && exit 0',
        'echo x >"$SHARED_DIR/begun"',
        'mkfifo "$ARTIFACT_DIR/started"; echo >"$ARTIFACT_DIR/started"; sleep 300',
      ].join('\n'),
    },
  })
  await killAt(t, pipe, { runs: trial.runs, resolved, options: { container } })
  const outcome = await trial.run(resolved, { container })
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.equal(containers(container), '')
})
