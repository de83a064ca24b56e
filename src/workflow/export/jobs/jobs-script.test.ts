import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { exportableStep, notingWorkflow } from '../../../../testkit/exportable-steps.ts'
import { tempDir } from '../../../../testkit/temp-dir.ts'
import type { ExportableWorkflow } from '../exportable-workflow.ts'
import { jobsScript } from './jobs-script.ts'

const kubectl = fileURLToPath(new URL('../../../../testkit/kubectl-child.ts', import.meta.url))

/** The driver beside a stand-in for kubectl, whose cluster is the same directory. */
async function written(t: TestContext, workflow: ExportableWorkflow): Promise<string> {
  const dir = await tempDir(t)
  await mkdir(join(dir, 'shared'))
  await writeFile(join(dir, 'jobs.sh'), jobsScript(workflow))
  await writeFile(join(dir, 'kubectl'), `#!/bin/sh\nexec '${process.execPath}' '${kubectl}' "$@"\n`, { mode: 0o755 })
  return dir
}

function start(dir: string, args: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
  return spawn('/bin/bash', ['jobs.sh', ...args], {
    cwd: dir,
    env: { PATH: `${dir}:${process.env['PATH'] ?? ''}`, KUBECTL_STATE: dir, SALLYPORT_POLL_SECONDS: '0.02', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(
  dir: string,
  child: ChildProcess,
): Promise<{ status: number | null; printed: string; order: string }> {
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(String(chunk)))
  const [status] = (await once(child, 'close')) as [number | null]
  const order = await readFile(join(dir, 'shared/order'), 'utf8').catch(() => '')
  return { status, printed: printed.join(''), order: order.trim().split('\n').join(' ') }
}

const run = (dir: string, ...args: string[]) => ended(dir, start(dir, args))

test('Jobs are made in order, and post is optional where everything went well', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', test1: '', post1: { isOptionalOnSuccess: true }, post2: '' }))
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [0, 'pre1 test1 post2'], printed)
  assert.match((await run(dir, '--list')).printed, /^Complete +002-test1\nabsent +003-post1$/m)
})

test('a failure in pre leaves out test, not post; run again, what failed in post is done again', async (t) => {
  const dir = await written(
    t,
    notingWorkflow({ pre1: 'exit 3', pre2: '', test1: '', post1: '[ -e "$SHARED_DIR/mended" ]', post2: '' }),
  )
  assert.deepEqual(await run(dir).then(({ status, order }) => [status, order]), [1, 'pre1 post1 post2'])
  await writeFile(join(dir, 'shared/mended'), '')
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [1, 'pre1 post1 post2 post1'], printed)
})

test('--keep leaves what a failed run made, --retry goes on with it', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', pre2: '[ -e "$SHARED_DIR/mended" ]', test1: '', post1: '' }))
  assert.deepEqual(await run(dir, '--keep').then(({ status, order }) => [status, order]), [1, 'pre1 pre2'])
  await writeFile(join(dir, 'shared/mended'), '')
  const { status, order } = await run(dir, '--retry')
  assert.deepEqual([status, order], [0, 'pre1 pre2 pre2 test1 post1'])
})

test('killed in the middle, the driver finds the Job that runs and goes on', async (t) => {
  const wait = 'echo >"$SHARED_DIR/ready"; read -r _ <"$SHARED_DIR/go"'
  const dir = await written(t, notingWorkflow({ pre1: '', pre2: wait, test1: '', post1: '' }))
  for (const name of ['ready', 'go']) execFileSync('mkfifo', [join(dir, 'shared', name)])
  const child = start(dir)
  const end = ended(dir, child)
  await readFile(join(dir, 'shared/ready'))
  child.kill('SIGKILL')
  await end
  const again = run(dir)
  await writeFile(join(dir, 'shared/go'), 'go\n')
  const { status, order, printed } = await again
  assert.deepEqual([status, order], [0, 'pre1 pre2 test1 post1'], printed)
})

test('SIGTERM ends the step that runs, then the teardown follows', async (t) => {
  const wait = 'trap "echo cleaned >>$SHARED_DIR/order; exit 1" TERM\necho >"$SHARED_DIR/ready"; sleep 60 & wait'
  const dir = await written(t, notingWorkflow({ pre1: wait, test1: '', post1: '' }))
  execFileSync('mkfifo', [join(dir, 'shared/ready')])
  const child = start(dir)
  const end = ended(dir, child)
  await readFile(join(dir, 'shared/ready'))
  child.kill('SIGTERM')
  const { status, order, printed } = await end
  assert.deepEqual([status, order], [130, 'pre1 cleaned post1'], printed)
})

test('an API server that does not answer for a while is asked again', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', post1: '' }))
  await writeFile(join(dir, 'down'), '5')
  const { status, order, printed } = await run(dir)
  assert.deepEqual([status, order], [0, 'pre1 post1'], printed)
})

test('values that are given reach the step, and are no arguments', async (t) => {
  const env = [{ name: 'RELEASE' }, { name: 'PLAIN', value: "it's" }]
  const steps = [exportableStep('a', 'printf %s "$RELEASE $PLAIN" >"$SHARED_DIR/order"', { env })]
  const dir = await written(t, { name: 'small', steps })
  assert.match((await run(dir)).printed, /variable RELEASE, for 001-a[\s\S]*nothing was begun/)
  const { status, order, printed } = await ended(dir, start(dir, [], { RELEASE: 'r $(id)\n' }))
  assert.deepEqual([status, order], [0, "r $(id)  it's"], printed)
})

test('--print shows every object, and no cluster is asked', async (t) => {
  const dir = await written(t, notingWorkflow({ pre1: '', post1: '' }))
  const { printed, status } = await run(dir, '--print')
  assert.equal(status, 0)
  const kinds = parseAllDocuments(printed).map((one) => one.get('kind'))
  assert.deepEqual(kinds, ['PersistentVolumeClaim', 'ConfigMap', 'Job', 'ConfigMap', 'Job'])
})
