import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findByCookie } from '../../src/host/process-cookies.ts'
import type { RunOutcome } from '../../src/workflow/engine.ts'
import { readWhenThere } from '../../testkit/named-pipe.ts'
import { configuredTest, registryTrial, smallWorkflow } from '../../testkit/registry-run.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

function statuses({ state }: RunOutcome): Record<string, string> {
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
  assert.equal(outcome.state.steps.get('pre/make-it')?.attempts.at(-1)?.exit, 3)
})

test('a time-out and a grace of zero are the usual ones, and one of a month is no shorter', async (t) => {
  const script = 'sleep 0.1; echo still here'
  for (const timeout of ['0s', '720h']) {
    const resolved = await smallWorkflow(t, { test: { 'try-it': { script, timeout, grace_period: '0s' } } })
    const trial = await registryTrial(t)
    const { outcome, why } = await trial.run(resolved)
    assert.equal(outcome, 'succeeded', why)
    assert.match(await trial.log('test/try-it'), /still here/)
  }
})

test('daemons of a script end with it, as they do in a container, and do not hold it up', async (t) => {
  const skip = findByCookie('') === undefined
  if (skip) return t.skip('there is no /proc')
  const script = 'setsid sleep 1000 & until [ "$(ps -o sid= -p $! | tr -d " ")" = $! ]; do :; done'
  const resolved = await smallWorkflow(t, { test: { 'try-it': { script, grace_period: '10m' } } })
  const trial = await registryTrial(t)
  const { outcome, state } = await trial.run(resolved)
  assert.equal(outcome, 'succeeded')
  assert.deepEqual(findByCookie(`${trial.directory.id}/`), [])
  const { startedAt = 0, endedAt = 0 } = state.steps.get('test/try-it')?.attempts.at(-1) ?? {}
  assert.ok(endedAt - startedAt < 4000, `${endedAt - startedAt} ms`)
})

test('what a script made is named without the secret in the command that takes it away', async (t) => {
  const clusterProfileDir = await tempDir(t)
  await writeFile(join(clusterProfileDir, 'password'), 'a-Secret-of-8')
  const script = '"$SALLYPORT_UNDO" sh -c "exit 1" "$(cat "$CLUSTER_PROFILE_DIR/password")"'
  const resolved = await smallWorkflow(t, { pre: { 'make-it': script } })
  const trial = await registryTrial(t)
  const { state } = await trial.run(resolved, { clusterProfileDir })
  assert.deepEqual(state.undo.get(1)?.record, {
    kind: 'script.command',
    what: 'what a script has made, by sh -c exit 1 ***',
    values: { secret: 'undo-1' },
  })
})

test('what a script leaves that is no undo record is told with what is left, and hinders nothing else', async (t) => {
  const inbox = '$(dirname "$SALLYPORT_UNDO")'
  const resolved = await smallWorkflow(t, {
    pre: { 'make-it': `echo gibberish >"${inbox}/1.undo"; mkdir "${inbox}/9.undo"; "$SALLYPORT_UNDO" true` },
    test: { 'spoil-it': `rm -r "${inbox}"` },
    post: { 'remove-it': 'echo removing' },
  })
  const trial = await registryTrial(t)
  const { outcome, state } = await trial.run(resolved)
  assert.equal(outcome, 'failed')
  assert.match(await trial.log('post/remove-it'), /removing/)
  assert.deepEqual(
    [...state.undo.values()].map(({ status, record: { what = '' } }) => `${status} ${what}`),
    [
      'failed what a script has made, by undo/1.undo.invalid, which is no undo record',
      'done what a script has made, by true',
      'failed what a script has made, by undo/9.undo.invalid, which is no undo record',
    ],
  )
  const forgotten = await trial.run(resolved, {}, { mode: 'teardown', forget: [1, 2, 3] })
  assert.equal(forgotten.outcome, 'succeeded', forgotten.why)
})

test('best effort is what the workflow allows, and not what a step wishes for', async (t) => {
  for (const isAllowed of [true, false]) {
    const resolved = await smallWorkflow(t, {
      test: { 'try-it': ':' },
      post: { 'gather-it': { script: 'exit 1', best_effort: true, timeout: '1m' } },
      settings: { allow_best_effort_post_steps: isAllowed },
    })
    const { outcome } = await (await registryTrial(t)).run(resolved)
    assert.equal(outcome, isAllowed ? 'succeeded' : 'failed')
  }
})

test('a step that is optional on success runs only after a failure, where the workflow allows to skip it', async (t) => {
  for (const [script, isAllowed, wanted] of [
    [':', true, 'skipped'],
    ['exit 1', true, 'succeeded'],
    [':', false, 'succeeded'],
  ] as const) {
    const resolved = await smallWorkflow(t, {
      test: { 'try-it': script },
      post: { 'gather-it': { script: ':', optional_on_success: true } },
      settings: { allow_skip_on_success: isAllowed },
    })
    assert.equal(statuses(await (await registryTrial(t)).run(resolved))['post/gather-it'], wanted)
  }
})

test('a script runs as bash -c with -eu, and a program by its own first line', async (t) => {
  const resolved = await smallWorkflow(t, {
    test: {
      'as-bash': 'echo "$-"; echo "zero $0"; false\necho not reached',
      'as-program': { script: '#!/bin/sh\nfalse\necho "reached $nothing"', run_as_script: true },
    },
  })
  const trial = await registryTrial(t)
  await trial.run(resolved, {}, { teardown: 'never' })
  const log = await trial.log('test/as-bash')
  assert.match(log, /Z \w*e\w*\n/)
  assert.match(log, /zero \/bin\/bash/)
  assert.doesNotMatch(log, /not reached/)
  await trial.run(resolved, {}, { only: 'test/as-program' })
  assert.match(await trial.log('test/as-program'), /Z reached \n/)
})

test('a script longer than an argument may be runs, too', async (t) => {
  const resolved = await smallWorkflow(t, { test: { 'long-one': `# ${'x'.repeat(200_000)}\necho done` } })
  const trial = await registryTrial(t)
  assert.equal((await trial.run(resolved)).outcome, 'succeeded')
  assert.match(await trial.log('test/long-one'), /Z done\n/)
})

test('the environment is what the registry declares and ci-operator gives, and nothing of this machine', async (t) => {
  process.env['SALLYPORT_TEST_LEAK'] = 'leaked'
  t.after(() => delete process.env['SALLYPORT_TEST_LEAK'])
  const resolved = await smallWorkflow(t, {
    test: {
      'look-around': {
        script: 'env -0 | sort -z | tr "\\0" "\\n" >"$SHARED_DIR/env"',
        env: [
          { name: 'ZONES', default: '3' },
          { name: 'EMPTY', default: '' },
        ],
        dependencies: [{ name: 'release:latest', env: 'OO_RELEASE' }],
        leases: [{ resource_type: 'aws-quota-slice', env: 'REGION' }],
      },
    },
    settings: { env: { ZONES: '2' } },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved, {
    path: '/usr/bin:/bin',
    dependencies: { 'release:latest': 'quay.io/ocp/release@sha256:1' },
    leases: { REGION: 'us-east-2' },
    releaseImages: { latest: 'quay.io/ocp/release:4.20' },
  })
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  const lines = (await trial.shared('env')).trim().split('\n')
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const { root } = trial.directory
  const given = {
    ZONES: '2',
    EMPTY: '',
    OO_RELEASE: 'quay.io/ocp/release@sha256:1',
    REGION: 'us-east-2',
    RELEASE_IMAGE_LATEST: 'quay.io/ocp/release:4.20',
    JOB_NAME: 'site',
    JOB_NAME_SAFE: 'site',
    PATH: '/usr/bin:/bin',
    HOME: join(root, 'home'),
    ARTIFACT_DIR: join(root, 'artifacts/test/look-around'),
    SALLYPORT_UNDO: join(root, 'undo/record'),
    SALLYPORT_STEP: `${trial.directory.id}/test/look-around/1`,
  }
  for (const [name, value] of Object.entries(given)) assert.equal(env[name], value, name)
  assert.match(env['NAMESPACE'] ?? '', /^ci-op-[0-9a-f]{8}$/)
  assert.match(env['BUILD_ID'] ?? '', /^\d{19}$/)
  const ofOurs =
    'BUILD_ID JOB_NAME_HASH KUBEADMIN_PASSWORD_FILE KUBECONFIG KUBECONFIGMINIMAL NAMESPACE SHARED_DIR TMPDIR UNIQUE_HASH'
  const more = 'ORIGINAL_RELEASE_IMAGE_LATEST PWD SHLVL _'
  assert.deepEqual(Object.keys(env).sort(), [...Object.keys(given), ...ofOurs.split(' '), ...more.split(' ')].sort())
})

test('a time-out asks with SIGINT, a trap has its grace, and what it wrote is kept', async (t) => {
  const resolved = await smallWorkflow(t, {
    test: {
      'wait-long': {
        script: `trap 'echo cleaned >"$SHARED_DIR/trapped"; echo in trap; exit 1' INT\nsleep 60 & wait`,
        // The trap has to be there by then, on a busy machine, too.
        timeout: '3s',
        grace_period: '20s',
      },
    },
    post: { 'see-it': 'cat "$SHARED_DIR/trapped"' },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'failed')
  assert.equal(statuses(outcome)['test/wait-long'], 'timed-out')
  assert.match(await trial.log('test/wait-long'), /in trap/)
  assert.match(await trial.log('post/see-it'), /cleaned/)
})

test('a run that is stopped ends its script, and takes down what there is', async (t) => {
  const stop = new AbortController()
  const resolved = await smallWorkflow(t, {
    pre: {
      'wait-long':
        'echo made >"$SHARED_DIR/made"; mkfifo "$ARTIFACT_DIR/started"; echo >"$ARTIFACT_DIR/started"; sleep 60',
    },
    post: { 'remove-it': 'cat "$SHARED_DIR/made"' },
  })
  const trial = await registryTrial(t)
  const running = trial.run(resolved, {}, { signal: stop.signal })
  await readWhenThere(join(trial.directory.root, 'artifacts/pre/wait-long/started'), running)
  stop.abort(new Error('stopped'))
  const outcome = await running
  assert.equal(statuses(outcome)['pre/wait-long'], 'cancelled')
  assert.match(await trial.log('post/remove-it'), /made/)
})

test('only regular files are kept, and of more than a Secret holds is warned', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: {
      'write-all': [
        'cd "$SHARED_DIR"',
        'mkdir sub; echo x >sub/x; ln -s nowhere broken; ln -s plain link; mkfifo pipe',
        "echo text >plain; printf '\\0\\377\\n' >binary; : >empty; echo s >'with space'; echo h >.hidden",
        'head -c 1100000 /dev/zero >big',
      ].join('\n'),
    },
    test: {
      'look-at': 'ls -A "$SHARED_DIR"; cat "$SHARED_DIR/link"; cmp "$SHARED_DIR/binary" <(printf "\\0\\377\\n")',
    },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  const kept = ['.hidden', 'big', 'binary', 'empty', 'link', 'plain', 'with space']
  assert.deepEqual((await readdir(trial.directory.shared)).sort(), kept)
  const log = await trial.log('pre/write-all')
  assert.match(log, /SHARED_DIR\/sub is not kept: it is a directory/)
  assert.match(log, /SHARED_DIR\/broken is not kept: it is a symbolic link to nothing/)
  assert.match(log, /SHARED_DIR\/pipe is not kept/)
  assert.match(log, /SHARED_DIR has 11000\d+ bytes/)
})

test('a step without kubeconfig has none, and changes nothing in SHARED_DIR', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: {
      'make-one': 'echo conf >"$SHARED_DIR/kubeconfig"',
      'have-none': {
        script: '! printenv KUBECONFIG; cat "$SHARED_DIR/kubeconfig"; echo x >"$SHARED_DIR/x"',
        no_kubeconfig: true,
      },
    },
    test: { 'have-one': 'test ! -e "$SHARED_DIR/x"; grep conf "$KUBECONFIG"; echo mine >"$KUBECONFIG"' },
    post: { 'have-another': 'grep conf "$KUBECONFIG"' },
  })
  const outcome = await (await registryTrial(t)).run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
})

test('an observer gets the kubeconfig while the step still runs, changes nothing, and its failure fails nothing', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: { 'make-ready': ':' },
    test: {
      'install-it': [
        'echo "kind: Config" >"$SHARED_DIR/kubeconfig"',
        'for i in $(seq 300); do test -e "$ARTIFACT_DIR/../../observers/watch-it/seen" && exit 0; sleep 0.1; done; exit 1',
      ].join('\n'),
    },
    post: { 'check-it': 'test "$(ls "$SHARED_DIR")" = kubeconfig' },
    observers: {
      'watch-it':
        'echo x >"$SHARED_DIR/intruder"; until test -s "$KUBECONFIG"; do sleep 0.1; done; cp "$KUBECONFIG" "$ARTIFACT_DIR/seen"; sleep 60',
      'fail-it': 'exit 1',
    },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  assert.match(outcome.state.observers.get('fail-it')?.problem?.message ?? '', /ended with status 1/)
  assert.equal(outcome.state.observers.get('watch-it')?.problem, undefined)
})

test('secrets that a step writes are not in the logs of later steps, nor after a resume', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: {
      'make-secrets': [
        'cd "$SHARED_DIR"',
        'echo Xk3-9fQz-77ab >kubeadmin-password',
        'echo http://proxyuser:pr0xyPassw0rd@10.0.0.1:3128/ >proxy_private_url',
        'echo plain-text-value >vpc_id',
      ].join('\n'),
      'print-secrets': 'cd "$SHARED_DIR"; cat kubeadmin-password proxy_private_url vpc_id; base64 kubeadmin-password',
    },
    test: { 'fail-once': 'cat "$SHARED_DIR/kubeadmin-password"; echo pr0xyPassw0rd; exit 1' },
  })
  const trial = await registryTrial(t)
  await trial.run(resolved, {}, { teardown: 'never' })
  await trial.run(resolved, {}, { teardown: 'never' })
  const logs = [
    await trial.log('pre/print-secrets'),
    await trial.log('test/fail-once'),
    await trial.log('test/fail-once', 2),
  ]
  for (const log of logs) {
    assert.doesNotMatch(log, /9fQz|pr0xyPassw0rd|WGszLTlm/)
  }
  assert.match(logs[0] ?? '', /plain-text-value/)
  assert.equal(await trial.shared('kubeadmin-password'), 'Xk3-9fQz-77ab\n')
})

test('a secret that a step writes and prints at once is not in its own log either', async (t) => {
  const resolved = await smallWorkflow(t, {
    test: {
      'make-secret': [
        'for i in 1 2 3 4 5 6 7 8; do',
        '  echo "n0t-in-a-log-$i" >"$SHARED_DIR/token"',
        '  cat "$SHARED_DIR/token"',
        'done',
        'echo "http://me:n0t-in-a-log-x@10.0.0.1" >"$SHARED_DIR/proxy_url" && cat "$SHARED_DIR/proxy_url"; echo end',
      ].join('\n'),
    },
  })
  const trial = await registryTrial(t)
  await trial.run(resolved)
  const log = await trial.log('test/make-secret')
  assert.match(log, /Z end\n/)
  assert.doesNotMatch(log, /n0t-in-a-log-[8x]/)
})

test('what is in the cluster profile is not in any log, nor copied into the run', async (t) => {
  const profile = await tempDir(t)
  await writeFile(
    join(profile, '.awscred'),
    '[default]\naws_access_key_id = AKIAEXAMPLE0001\naws_secret_access_key = wJalrXUtnFEMI\n',
  )
  await writeFile(join(profile, 'ssh-publickey'), 'ssh-ed25519 AAAApublic me@here\n')
  const resolved = await smallWorkflow(t, {
    test: {
      'print-it': 'cat "$CLUSTER_PROFILE_DIR/.awscred" "$CLUSTER_PROFILE_DIR/ssh-publickey"; echo "$CLUSTER_TYPE"',
    },
    settings: { cluster_profile: 'aws' },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved, { clusterProfileDir: profile, clusterType: 'aws' })
  assert.equal(outcome.outcome, 'succeeded', outcome.why)
  const log = await trial.log('test/print-it')
  assert.doesNotMatch(log, /wJalrXUtnFEMI|AKIAEXAMPLE0001/)
  assert.match(log, /AAAApublic/)
  assert.match(log, /Z aws\n/)
})

test('an undo that a script registers runs at the teardown, youngest first, with its words as they were', async (t) => {
  const outside = await tempDir(t)
  await mkdir(join(outside, 'a b'))
  await mkdir(join(outside, 'second'))
  const resolved = await smallWorkflow(t, {
    pre: {
      'make-it': [
        `"$SALLYPORT_UNDO" rmdir '${outside}/a b'`,
        `"$SALLYPORT_UNDO" sh -c 'echo "$0 in $NAMESPACE" >>${outside}/log; rmdir ${outside}/second' "it's"`,
        'exit 1',
      ].join('\n'),
    },
    post: { 'last-one': `ls ${outside}` },
  })
  const trial = await registryTrial(t)
  const outcome = await trial.run(resolved)
  assert.deepEqual(
    [...outcome.state.undo.values()].map(({ status }) => status),
    ['done', 'done'],
  )
  assert.deepEqual(await readdir(outside), ['log'])
  assert.match(await readFile(join(outside, 'log'), 'utf8'), /^it's in ci-op-/)
  assert.match(await trial.log('post/last-one'), /second/)
})

test('the same step in pre and in post is two steps, and those of a chain stand in it', async (t) => {
  const resolved = await configuredTest(t, {
    steps: {
      pre: [{ literal: literal('gather-it') }],
      post: [{ literal: literal('gather-it') }],
    },
  })
  const outcome = await (await registryTrial(t)).run(resolved)
  assert.deepEqual(statuses(outcome), { 'pre/gather-it': 'succeeded', 'post/gather-it': 'succeeded' })
})

function literal(as: string) {
  return { as, from: 'cli', commands: ':', resources: { requests: { cpu: '1' } } }
}

test('a changed script or parameter makes a success stale, and all after it', async (t) => {
  const scripts = (script: string) => ({ pre: { 'make-it': script, 'use-it': 'echo used' } })
  const trial = await registryTrial(t)
  await trial.run(await smallWorkflow(t, scripts('echo 1')), {}, { teardown: 'never' })
  const same = await trial.run(await smallWorkflow(t, scripts('echo 1')), {}, { teardown: 'never' })
  assert.equal(same.state.steps.get('pre/make-it')?.attempts.length, 1)
  const changed = await trial.run(await smallWorkflow(t, scripts('echo 2')), {}, { teardown: 'never' })
  assert.equal(changed.state.steps.get('pre/make-it')?.attempts.length, 2)
  assert.equal(changed.state.steps.get('pre/use-it')?.attempts.length, 2)
})
