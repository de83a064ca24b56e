import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { openRunSettings, placed, recordingWorkflow } from '../../../testkit/workflow-run.ts'
import { systemClock } from '../../host/clock.ts'
import { runWorkflow, type SessionRequest } from '../../workflow/engine.ts'
import { runDirectory } from '../../workflow/run-directory.ts'
import type { Workflow } from '../../workflow/workflow.ts'
import { exportRun } from './export-run.ts'
import { importRun } from './import-run.ts'

const id = '20260101T000000-00000'
const password = 'hunter2-hunter2'
const passphrase = 'correct horse battery staple'

interface Trip {
  readonly here: string
  readonly there: string
  readonly file: string
  readonly done: string[]
  readonly run: (runs: string, request: Partial<SessionRequest>) => ReturnType<typeof runWorkflow>
}

/** A run that has come to the gap: its first step made a thing, and a secret. */
async function atTheGap(t: TestContext): Promise<Trip> {
  const root = await tempDir(t)
  const done: string[] = []
  const workflow = crossing(done)
  const run: Trip['run'] = (runs, request) =>
    runWorkflow(workflow, runDirectory(runs, id), openRunSettings(runs, request))
  const here = join(root, 'here')
  const { outcome } = await run(here, { sites: new Set(['connected'] as const) })
  assert.equal(outcome, 'gap')
  await writeFile(runDirectory(here, id).definition, '{}')
  return { here, there: join(root, 'there'), file: join(root, 'run.tar'), done, run }
}

function crossing(done: string[]): Workflow {
  const collect = placed('collect', {
    where: 'connected',
    secretOutput: ['password'],
    output: z.object({ password: z.string() }),
    apply: async (_, context) => {
      done.push('collect')
      await context.record({ kind: 'thing', values: { id: 'outside' } })
      await writeFile(join(context.directories.shared, 'note'), 'from outside')
      return { password }
    },
  })
  const load = placed('load', {
    where: 'closed',
    input: z.object({ password: z.object({ secret: z.string() }) }),
    from: (outputs) => outputs('collect', z.object({ password: z.object({ secret: z.string() }) })),
    apply: async (input, context) => {
      await context.record({ kind: 'thing', values: { id: 'inside' } })
      done.push(`load ${await context.secret(input.password.secret)}`)
      return { note: await readFile(join(context.directories.shared, 'note'), 'utf8') }
    },
  })
  return {
    ...recordingWorkflow([], []),
    steps: [collect, load],
    undo: {
      thing: {
        describe: (values) => String(values['id']),
        remove: async (values) => void done.push(`away ${String(values['id'])}`),
      },
    },
  }
}

const closed = { sites: new Set(['closed'] as const) }

test('a run stops at the gap, travels, goes on there, and is taken down there, as far as it is from there', async (t) => {
  const { here, there, file, done, run } = await atTheGap(t)
  const exported = await exportRun(runDirectory(here, id), { clock: systemClock, file, passphrase })
  assert.deepEqual(exported.sealedSecrets, ['collect.password'])
  assert.ok(!(await readFile(file)).includes(password))
  const { digest } = exported
  const imported = await importRun(file, { clock: systemClock, runs: there, digest, passphrase })
  assert.deepEqual(imported.missingSecrets, [])
  const { outcome, state } = await run(there, closed)
  assert.equal(outcome, 'succeeded')
  assert.deepEqual(state.steps.get('load')?.output, { note: 'from outside' })
  assert.equal(state.exportedTo, undefined)
  assert.equal((await run(there, { ...closed, mode: 'teardown' })).outcome, 'succeeded')
  assert.deepEqual(done, ['collect', `load ${password}`, 'away inside'])
})

test('secrets stay where they are unless they are sealed, and can be given on the other side', async (t) => {
  const { here, there, file, done, run } = await atTheGap(t)
  const exported = await exportRun(runDirectory(here, id), { clock: systemClock, file })
  assert.deepEqual(exported.missingSecrets, ['collect.password'])
  const bare = await importRun(file, { clock: systemClock, runs: join(there, 'bare') })
  assert.deepEqual(bare.missingSecrets, ['collect.password'])
  const failed = await run(join(there, 'bare'), closed)
  assert.equal(failed.state.steps.get('load')?.attempts[0]?.problem?.code, 'SECRET_ABSENT')
  const misspelled = {
    clock: systemClock,
    runs: join(there, 'misspelled'),
    secrets: { 'colect.password': 'another one' },
  }
  await assert.rejects(importRun(file, misspelled), {
    code: 'USAGE',
    message: `--secret "colect.password" names no secret of run ${id}, which made "collect.password"`,
  })
  assert.deepEqual(await readdir(there), ['bare'])
  const secrets = { 'collect.password': 'another one' }
  const given = await importRun(file, { clock: systemClock, runs: join(there, 'given'), secrets })
  assert.deepEqual(given.missingSecrets, [])
  assert.equal((await run(join(there, 'given'), closed)).outcome, 'succeeded')
  assert.deepEqual(done, ['collect', 'load another one'])
})

test('another passphrase opens nothing, and leaves nothing', async (t) => {
  const { here, there, file } = await atTheGap(t)
  await exportRun(runDirectory(here, id), { clock: systemClock, file, passphrase })
  const wrong = importRun(file, { clock: systemClock, runs: there, passphrase: 'another passphrase' })
  await assert.rejects(wrong, { code: 'RUN_FILE_INVALID', message: /cannot be opened/ })
  assert.deepEqual(await readdir(there), [])
})

test('a run of many files, and of one that is large, arrives as it left', async (t) => {
  const { here, there, file } = await atTheGap(t)
  const { shared } = runDirectory(here, id)
  const large = Buffer.alloc(5_000_000, 'large ')
  await writeFile(join(shared, 'large'), large)
  for (let index = 0; index < 400; index += 1) await writeFile(join(shared, `small-${index}`), String(index))
  await exportRun(runDirectory(here, id), { clock: systemClock, file })
  await importRun(file, { clock: systemClock, runs: there })
  const arrived = runDirectory(there, id).shared
  assert.deepEqual((await readdir(arrived)).sort(), (await readdir(shared)).sort())
  assert.ok(large.equals(await readFile(join(arrived, 'large'))))
})

test('what scripts have in their home, and attempts in their directories, does not travel; a copy of SHARED_DIR that is out does', async (t) => {
  const { here, there, file } = await atTheGap(t)
  const { root } = runDirectory(here, id)
  for (const path of ['home/.docker/config.json', 'state/load/1/pull-secret.json', 'state/load/2/shared/kubeconfig']) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), password)
  }
  const stateHere = async () => (await readdir(join(runDirectory(there, id).root, 'state', 'load'))).sort()
  await rm(join(root, 'shared', 'note'))
  const bare = await exportRun(runDirectory(here, id), { clock: systemClock, file })
  assert.ok(!(await readFile(file)).includes(password))
  assert.equal(bare.hasShared, false)
  await writeFile(join(root, 'shared.out'), 'state/load/2/shared')
  const exported = await exportRun(runDirectory(here, id), { clock: systemClock, file })
  assert.equal(exported.hasShared, true)
  await importRun(file, { clock: systemClock, runs: there })
  assert.deepEqual(await stateHere(), ['2'])
})

test('a file within the run does not hold the one that it takes the place of', async (t) => {
  const { here } = await atTheGap(t)
  const file = join(runDirectory(here, id).root, 'run.tar')
  const [first, again] = [
    await exportRun(runDirectory(here, id), { clock: systemClock, file }),
    await exportRun(runDirectory(here, id), { clock: systemClock, file }),
  ]
  assert.equal(again.files, first.files)
})

test('a run that is there already is not touched', async (t) => {
  const { here, file } = await atTheGap(t)
  await exportRun(runDirectory(here, id), { clock: systemClock, file })
  const before = await readFile(runDirectory(here, id).journal)
  await assert.rejects(importRun(file, { clock: systemClock, runs: here }), { code: 'RUN_EXISTS' })
  assert.deepEqual(await readFile(runDirectory(here, id).journal), before)
})

test('the same run gives the same bytes', async (t) => {
  const { here, there, file } = await atTheGap(t)
  await cp(here, there, { recursive: true, preserveTimestamps: false })
  const [one, other] = await Promise.all(
    [here, there].map((runs, index) =>
      exportRun(runDirectory(runs, id), { clock: systemClock, file: `${file}.${index}` }),
    ),
  )
  assert.equal(one?.digest, other?.digest)
})

test('a file that is cut or changed anywhere is refused, and nothing of it is to be seen', async (t) => {
  const { here, there, file } = await atTheGap(t)
  await exportRun(runDirectory(here, id), { clock: systemClock, file })
  const bytes = await readFile(file)
  let round = 0
  const change = fc.record({ at: fc.nat(bytes.byteLength - 1), bit: fc.nat(7), isCut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, bit, isCut }) => {
      round += 1
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 << bit)
      const bad = `${file}.bad`
      await writeFile(bad, isCut ? bytes.subarray(0, at) : changed)
      const runs = join(there, String(round))
      const refused = await importRun(bad, { clock: systemClock, runs }).then(
        () => undefined,
        (error: { code?: string }) => error,
      )
      if (refused === undefined) return sameRun(here, runs)
      assert.equal(refused.code, 'RUN_FILE_INVALID', String(refused))
      assert.deepEqual(await readdir(runs).catch(() => []), [])
    }),
    { numRuns: 100 },
  )
})

/** Fields of tar headers, and the bytes between entries, are nothing that a run depends on. */
async function sameRun(here: string, there: string): Promise<void> {
  const [one, other] = await Promise.all([here, there].map((runs) => readFile(runDirectory(runs, id).journal, 'utf8')))
  const withoutLast = (text = '') => text.split('\n').slice(0, -2)
  assert.deepEqual(withoutLast(other), withoutLast(one))
}
