import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { exportableStep, notingWorkflow } from '../../../../testkit/exportable-steps.ts'
import { tempDir } from '../../../../testkit/temp-dir.ts'
import type { ExportableWorkflow } from '../exportable-workflow.ts'
import { shellScript } from './shell-script.ts'

interface Ended {
  readonly status: number | null
  readonly printed: string
  readonly order: string
}

/** The script in a directory of its own, which is also the working directory. */
async function written(t: TestContext, workflow: ExportableWorkflow): Promise<string> {
  const dir = await tempDir(t)
  await writeFile(join(dir, 'run.sh'), shellScript(workflow))
  return dir
}

function start(dir: string, args: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
  return spawn('/bin/bash', ['run.sh', ...args], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(dir: string, child: ChildProcess): Promise<Ended> {
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(String(chunk)))
  const [status] = (await once(child, 'close')) as [number | null]
  const order = await readFile(join(dir, 'small-run/shared/order'), 'utf8').catch(() => '')
  return { status, printed: printed.join(''), order: order.trim().split('\n').join(' ') }
}

const run = (dir: string, ...args: string[]): Promise<Ended> => ended(dir, start(dir, args))

test('all steps run in order, each with its own folder of artifacts and one SHARED_DIR', async (t) => {
  const dir = await written(
    t,
    notingWorkflow({
      pre1: 'echo x >"$ARTIFACT_DIR/f"; echo 1 >"$SHARED_DIR/n"',
      test1: 'cat "$SHARED_DIR/n"',
      post1: '',
    }),
  )
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [0, 'pre1 test1 post1'], printed)
  assert.equal(await readFile(join(dir, 'small-run/artifacts/001-pre1/f'), 'utf8'), 'x\n')
  assert.equal(await readFile(join(dir, 'small-run/logs/002-test1.log'), 'utf8'), '1\n')
  assert.match((await run(dir, '--list')).printed, /^done +001-pre1$/m)
})

test('a failure in pre leaves out the rest of pre and test, and no step of post', async (t) => {
  const dir = await written(
    t,
    notingWorkflow({ pre1: 'false; echo not reached', pre2: '', test1: '', post1: 'exit 7', post2: '' }),
  )
  const { status, order } = await run(dir)
  assert.deepEqual([status, order], [1, 'pre1 post1 post2'])
  assert.equal(await readFile(join(dir, 'small-run/logs/001-pre1.log'), 'utf8'), '')
})

test('a failure in post alone fails the run, and running again repeats only what failed', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', post1: '[ -e "$SHARED_DIR/mended" ]', post2: '' }))
  assert.deepEqual(await run(dir).then(({ status, order }) => [status, order]), [1, 'pre1 post1 post2'])
  await writeFile(join(dir, 'small-run/shared/mended'), '')
  assert.deepEqual(await run(dir).then(({ status, order }) => [status, order]), [0, 'pre1 post1 post2 post1'])
})

test('best effort is told and forgiven; optional on success runs only after a failure', async (t) => {
  const steps = (pre: string) => ({
    pre1: pre,
    post1: { script: 'exit 4', isBestEffort: true },
    post2: { isOptionalOnSuccess: true },
    post3: '',
  })
  const well = await run(await written(t, notingWorkflow(steps(''))))
  assert.deepEqual([well.status, well.order], [0, 'pre1 post1 post3'], well.printed)
  const badly = await run(await written(t, notingWorkflow(steps('exit 1'))))
  assert.deepEqual([badly.status, badly.order], [1, 'pre1 post1 post2 post3'])
})

test('a step that takes too long gets SIGTERM, then SIGKILL after its grace, with all that it started', async (t) => {
  const slow = {
    script: 'trap "echo asked >>$SHARED_DIR/order" TERM\nwhile :; do sleep 60 & wait; done',
    timeoutMs: 300,
    graceMs: 300,
  }
  const dir = await written(t, notingWorkflow({ pre1: slow, post1: '' }))
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [1, 'pre1 asked post1'])
  assert.match(printed, /failed 001-pre1/)
})

test('what a step left running ends with the step', async (t) => {
  const pre1 = 'sleep 600 & echo $! >"$SHARED_DIR/pid"'
  // A zombie, which nobody has waited for, has ended.
  const test1 = '! grep "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$(cat "$SHARED_DIR/pid")/status"'
  const dir = await written(t, notingWorkflow({ pre1, test1 }))
  const { status, printed } = await run(dir)
  assert.equal(status, 0, printed)
})

test('SIGTERM in the middle: the step may clean up, then the teardown runs, and the status is 130', async (t) => {
  const waits = 'trap "echo cleaned >>$SHARED_DIR/order; exit 1" TERM\necho >"$SHARED_DIR/ready"\nsleep 60 & wait'
  const dir = await written(t, notingWorkflow({ pre1: waits, pre2: '', test1: '', post1: '', post2: '' }))
  await mkdir(join(dir, 'small-run/shared'), { recursive: true })
  execFileSync('mkfifo', [join(dir, 'small-run/shared/ready')])
  const child = start(dir)
  const end = ended(dir, child)
  await readFile(join(dir, 'small-run/shared/ready'))
  child.kill('SIGTERM')
  const { status, order } = await end
  assert.deepEqual([status, order], [130, 'pre1 cleaned post1 post2'])
})

test('killed by SIGKILL, it goes on where it stopped once the step that it left has ended', async (t) => {
  const once = 'echo $PPID >"$SHARED_DIR/group"; echo >"$SHARED_DIR/ready"; sleep 60'
  const waits = `[ -e "$SHARED_DIR/group" ] || { ${once}; }`
  const dir = await written(t, notingWorkflow({ pre1: '', pre2: waits, test1: '', post1: '' }))
  const shared = join(dir, 'small-run/shared')
  await mkdir(shared, { recursive: true })
  execFileSync('mkfifo', [join(shared, 'ready')])
  const child = start(dir)
  const end = ended(dir, child)
  await readFile(join(shared, 'ready'))
  child.kill('SIGKILL')
  assert.equal((await end).status, null)
  assert.match((await run(dir)).printed, /in use by a run/)
  process.kill(-Number(await readFile(join(shared, 'group'), 'utf8')), 'SIGKILL')
  // Until the system has closed the files of what was killed, the lock is held.
  execFileSync('flock', ['-w', '10', join(dir, 'small-run/lock'), 'true'])
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [0, 'pre1 pre2 pre2 test1 post1'], printed)
})

test('--keep leaves what a failed run made; --from begins later; --teardown ends it', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', pre2: 'exit 1', test1: '', post1: '' }))
  assert.deepEqual(await run(dir, '--keep').then(({ status, order }) => [status, order]), [1, 'pre1 pre2'])
  assert.deepEqual(await run(dir, '--keep', '--from', 'nowhere').then(({ status }) => status), 64)
  assert.deepEqual(await run(dir, '--teardown').then(({ status, order }) => [status, order]), [1, 'pre1 pre2 post1'])
  await rm(join(dir, 'small-run'), { recursive: true })
  assert.deepEqual(await run(dir, '--from', 'test1').then(({ status, order }) => [status, order]), [0, 'test1 post1'])
})

test('what nobody gave is told before anything begins', async (t) => {
  const mount = join(await tempDir(t), 'vault')
  const steps = [
    exportableStep('a', 'echo "$RELEASE" >"$SHARED_DIR/order"', {
      env: [{ name: 'RELEASE' }],
      secretMounts: [{ secret: 's', mountPath: mount }],
    }),
  ]
  const dir = await written(t, { name: 'small', clusterProfile: 'aws', steps })
  const { status, printed, order } = await run(dir)
  assert.deepEqual([status, order], [1, ''])
  assert.match(
    printed,
    /variable RELEASE, for 001-a[\s\S]*CLUSTER_PROFILE_DIR[\s\S]*vault, for 001-a[\s\S]*nothing was begun/,
  )
  await mkdir(mount)
  const given = await ended(dir, start(dir, [], { RELEASE: 'r $(id)', CLUSTER_PROFILE_DIR: dir }))
  assert.deepEqual([given.status, given.order], [0, 'r $(id)'], given.printed)
})

test('a step gets what it declares, byte for byte, and nothing of the environment around it', async (t) => {
  const value = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', ''))
  const nasty = fc.oneof(
    value,
    fc.constantFrom("'", "''\\''", '$(id)', '`id`', '$$', '\n', '\\\n', 'a\r\n', '!', 'END_OF_001', '\u0001\u007f'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(nasty, { minLength: 1, maxLength: 60 }), async (values) => {
      const env = values.map((one, index) => ({ name: `V${index}`, value: one }))
      const steps = [exportableStep('dump', 'env -0 >"$SHARED_DIR/env"', { env })]
      const dir = await written(t, { name: 'small', steps })
      const { status, printed } = await ended(
        dir,
        start(dir, [], { AROUND: 'x', V9999: 'x', 'BASH_FUNC_f%%': '() { :; }' }),
      )
      assert.equal(status, 0, printed)
      const seen = (await readFile(join(dir, 'small-run/shared/env'))).toString('utf8').split('\0')
      for (const { name, value: expected } of env)
        assert.ok(seen.includes(`${name}=${expected}`), JSON.stringify(expected))
      assert.deepEqual(
        seen.filter((one) => /^(AROUND|V9999|BASH_FUNC)/.test(one)),
        [],
      )
      await rm(dir, { recursive: true })
    }),
    { numRuns: 25 },
  )
})

test('a program runs by its own first line; a script reaches bash byte for byte', async (t) => {
  const script = "#!/bin/cat\nEND_OF_001\n'\\\t$x \u00e9\n"
  const dir = await written(t, { name: 'small', steps: [exportableStep('cat', script, { isProgram: true })] })
  assert.equal((await run(dir)).status, 0)
  assert.equal(await readFile(join(dir, 'small-run/logs/001-cat.log'), 'utf8'), script)
})

test('nobody else may read what a run leaves, and two runs at once do not share a directory', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: 'echo >"$SHARED_DIR/ready"; read -r _ <"$SHARED_DIR/go"' }))
  await mkdir(join(dir, 'small-run/shared'), { recursive: true })
  await chmod(join(dir, 'small-run'), 0o700)
  for (const name of ['ready', 'go']) execFileSync('mkfifo', [join(dir, 'small-run/shared', name)])
  const first = ended(dir, start(dir))
  await readFile(join(dir, 'small-run/shared/ready'))
  const second = await run(dir)
  assert.equal(second.status, 1)
  assert.match(second.printed, /in use by a run/)
  await writeFile(join(dir, 'small-run/shared/go'), 'go\n')
  assert.equal((await first).status, 0)
  const modes = execFileSync('find', [join(dir, 'small-run/logs'), '-perm', '/077'], { encoding: 'utf8' })
  assert.equal(modes, '')
  assert.ok(existsSync(join(dir, 'small-run/logs/001-pre1.log')))
  assert.deepEqual(await readdir(join(dir, 'small-run/done')), ['001-pre1'])
})
