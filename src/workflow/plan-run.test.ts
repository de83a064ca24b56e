import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../testkit/temp-dir.ts'
import { openRunSettings, placed, recordingWorkflow } from '../../testkit/workflow-run.ts'
import type { Json } from '../journal/events.ts'
import { emptyRunState } from '../journal/fold.ts'
import { runWorkflow, type SessionRequest } from './engine.ts'
import { InputDigests } from './input-digest.ts'
import { readJournal } from './journal-file.ts'
import { planRun } from './plan-run.ts'
import { runDirectory } from './run-directory.ts'
import { openSecretStore } from './secret-store.ts'
import type { Workflow } from './workflow.ts'

const id = '20260101T000000-00000'

/** Ids of the steps that a plan says would be run. */
async function planned(workflow: Workflow, runs: string, request: Partial<SessionRequest> = {}) {
  const directory = runDirectory(runs, id)
  const state = await readJournal(directory.journal).catch(() => emptyRunState())
  const store = await openSecretStore(directory.secrets, () => Promise.resolve(undefined))
  const leaves = await planRun(workflow, state, {
    request: { asked: [], ...request },
    digests: new InputDigests(store),
  })
  const doing = (wanted: string) => leaves.filter((leaf) => leaf.doing === wanted).map(({ step }) => step)
  return { leaves, toRun: doing('run'), perhaps: doing('perhaps') }
}

const names = ['a', 'b', 'c', 'd', 'e'] as const

test('what a plan says is run is what is run, but for what it says that nobody can know', async (t) => {
  const root = await tempDir(t)
  let round = 0
  const someName = fc.constantFrom(...names)
  const asked = fc.record(
    { from: someName, until: someName, skip: fc.uniqueArray(someName), rerun: fc.uniqueArray(someName) },
    { requiredKeys: ['skip', 'rerun'] },
  )
  const scenario = fc.record({ failing: fc.option(someName), changed: fc.option(someName), asked })
  await fc.assert(
    fc.asyncProperty(scenario, async ({ failing, changed, asked: { skip, rerun, ...rest } }) => {
      round += 1
      const runs = join(root, String(round))
      const done: string[] = []
      const first = recordingWorkflow(
        done,
        names.map((name) => (name === failing ? `${name}!` : name)),
      )
      await runWorkflow(first, runDirectory(runs, id), openRunSettings(runs, {}))
      const second = recordingWorkflow(done, names, changed === null ? {} : { [changed]: 'changed' })
      const why = (step: string) => ({ step, why: 'so' })
      const request = { ...rest, skip: skip.map(why), rerun: rerun.map(why) }
      const { toRun, perhaps } = await planned(second, runs, request)
      done.length = 0
      const { outcome } = await runWorkflow(second, runDirectory(runs, id), openRunSettings(runs, request))
      const wereRun = done.map((each) => each.slice(0, 1))
      const isSure = (step: string) => !perhaps.includes(step)
      const sure = wereRun.filter(isSure)
      // A step that needs the output of one that is skipped cannot be run: there the run fails, and the plan goes on.
      assert.deepEqual(sure, outcome === 'failed' ? toRun.slice(0, sure.length) : toRun)
    }),
    { numRuns: 60 },
  )
})

test('a plan goes past the gap, and says which side does what', async (t) => {
  const runs = await tempDir(t)
  const there = (step: string, where: 'connected' | 'closed') => placed(step, { where, apply: async () => ({}) })
  const workflow = { ...recordingWorkflow([], []), steps: [there('a', 'connected'), there('b', 'closed')] }
  const { leaves } = await planned(workflow, runs, { sites: new Set(['connected'] as const) })
  assert.deepEqual(
    leaves.map(({ step, doing, why }) => [step, doing, why]),
    [
      ['a', 'run', 'it has not run yet'],
      ['b', 'elsewhere', 'on the closed side'],
    ],
  )
})

test('what a step expects is in the plan where it is to be run, and nothing is done for it', async (t) => {
  const runs = await tempDir(t)
  const step = placed('a', { apply: () => Promise.reject(new Error('a plan does nothing')) })
  const expect = async () => ({ files: ['install-config.yaml'], bytes: 17 })
  const { leaves } = await planned({ ...recordingWorkflow([], []), steps: [{ ...step, expect }] }, runs)
  assert.deepEqual(leaves[0]?.expected, { files: ['install-config.yaml'], bytes: 17 })
})

test('a plan and a run say which inputs of a step have changed: its fields, its files, secrets, and itself', async (t) => {
  const runs = await tempDir(t)
  const file = join(runs, 'install-config.yaml')
  const given = { mirror: { host: 'm.example', port: 443 }, nodes: ['a'], password: { secret: 'password' } }
  const workflow = (input: Json, version = 1): Workflow => {
    const step = placed('a', { from: () => input, apply: async () => ({}) })
    return { ...recordingWorkflow([], []), steps: [{ ...step, identity: { version }, files: () => [file] }] }
  }
  const why = async (next: Workflow) => (await planned(next, runs)).leaves[0]?.why
  await writeFile(file, 'one')
  await runWorkflow(workflow(given), runDirectory(runs, id), openRunSettings(runs, {}))
  assert.equal(await why(workflow(given)), 'it has succeeded, and its inputs are as they were')
  const port = { ...given, mirror: { host: 'm.example', port: 8443 } }
  assert.equal(await why(workflow(port)), 'its inputs have changed: mirror.port')
  assert.equal(await why(workflow(port, 2)), 'its inputs have changed: step.version, mirror.port')
  assert.equal(
    await why(workflow({ mirror: 'none' })),
    'its inputs have changed: mirror, mirror.host, mirror.port and 3 more',
  )
  const store = await openSecretStore(runDirectory(runs, id).secrets, () => Promise.resolve(undefined))
  await store.keep('password', 'other')
  assert.equal(await why(workflow(given)), 'its inputs have changed: secret password')
  await writeFile(file, 'other')
  await runWorkflow(workflow(given), runDirectory(runs, id), openRunSettings(runs, {}))
  const { steps } = await readJournal(runDirectory(runs, id).journal)
  assert.equal(steps.get('a')?.attempts.at(-1)?.why, `its inputs have changed: ${file}, secret password`)
})

test('of an input with very many fields the names at its top are told', async (t) => {
  const runs = await tempDir(t)
  const workflow = (last: number): Workflow => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`n${n}`, n === 99 ? last : n]))
    const step = placed('a', { from: () => ({ many, other: 1 }), apply: async () => ({}) })
    return { ...recordingWorkflow([], []), steps: [step] }
  }
  await runWorkflow(workflow(1), runDirectory(runs, id), openRunSettings(runs, {}))
  assert.equal((await planned(workflow(2), runs)).leaves[0]?.why, 'its inputs have changed: many')
})
