import assert from 'node:assert/strict'
import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { z } from 'zod'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { openRunSettings, placed, recordingWorkflow } from '../../testkit/workflow-run.ts'
import { KnownError } from '../errors/known-error.ts'
import { type RunSettings, runWorkflow, type SessionRequest } from './engine.ts'
import { readJournal } from './journal-file.ts'
import { runDirectory } from './run-directory.ts'
import { defineStep } from './step.ts'
import type { Workflow } from './workflow.ts'

interface Place {
  readonly runs: string
  readonly run: (workflow: Workflow, request?: Partial<SessionRequest>) => ReturnType<typeof runWorkflow>
}

async function place(t: TestContext): Promise<Place> {
  const runs = await tempDir(t)
  const directory = runDirectory(runs, '20260101T000000-test')
  return {
    runs,
    run: (workflow, request = {}) => runWorkflow(workflow, directory, openRunSettings(runs, request)),
  }
}

test('steps run in order, each is given what those before it gave, and once is enough', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const workflow = recordingWorkflow(done, ['a', 'b', 'c'])
  const first = await run(workflow)
  assert.equal(first.outcome, 'succeeded')
  assert.deepEqual(done, ['a', 'b<-a', 'c<-b'])
  const again = await run(workflow)
  assert.equal(again.outcome, 'succeeded')
  assert.deepEqual(done, ['a', 'b<-a', 'c<-b'])
})

test('a step that failed is run again by the next session, and those before it are not', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const failing = recordingWorkflow(done, ['a', 'b!', 'c'])
  const first = await run(failing)
  assert.equal(first.outcome, 'failed')
  assert.match(first.why, /b failed/)
  assert.deepEqual(done, ['a', 'b<-a'])
  await run(recordingWorkflow(done, ['a', 'b', 'c']))
  assert.deepEqual(done, ['a', 'b<-a', 'b<-a', 'c<-b'])
})

test('a success is stale once its input is another, and what depends on its output with it', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  await run(recordingWorkflow(done, ['a', 'b', 'c']))
  done.length = 0
  await run(recordingWorkflow(done, ['a', 'b', 'c'], { b: 'changed' }))
  assert.deepEqual(done, ['b<-a', 'c<-b'])
})

test('what a step records is taken away in reverse, and a second teardown finds nothing', async (t) => {
  const { run } = await place(t)
  const there = new Set<string>()
  const order: string[] = []
  const make = (id: string) =>
    placed(id, {
      apply: async (_, context) => {
        await context.record({ kind: 'thing', values: { id } })
        there.add(id)
        return {}
      },
    })
  const workflow: Workflow = {
    ...recordingWorkflow([], []),
    steps: [make('a'), make('b'), make('c')],
    undo: {
      thing: {
        describe: ({ id }) => `thing ${String(id)}`,
        remove: async ({ id }) => {
          order.push(String(id))
          there.delete(String(id))
        },
      },
    },
  }
  await run(workflow)
  assert.deepEqual([...there], ['a', 'b', 'c'])
  const down = await run(workflow, { mode: 'teardown' })
  assert.equal(down.outcome, 'succeeded')
  assert.deepEqual(order, ['c', 'b', 'a'])
  assert.equal(down.state.remaining, 0)
  const again = await run(workflow, { mode: 'teardown' })
  assert.equal(again.outcome, 'succeeded')
  assert.deepEqual(order, ['c', 'b', 'a'])
})

test('what cannot be taken away keeps nothing else, is told, and is tried again by the next teardown', async (t) => {
  const { run } = await place(t)
  let isStuck = true
  const order: string[] = []
  const make = (id: string) =>
    placed(id, { apply: (_, context) => context.record({ kind: 'thing', values: { id } }).then(() => ({})) })
  const workflow: Workflow = {
    ...recordingWorkflow([], []),
    steps: [make('a'), make('b'), make('c')],
    undo: {
      thing: {
        describe: ({ id }) => `thing ${String(id)}`,
        remove: async ({ id }) => {
          if (id === 'b' && isStuck) throw new KnownError('STEP_FAILED', 'b is in use')
          order.push(String(id))
        },
      },
    },
  }
  const down = await run(workflow, { teardown: 'always' })
  assert.equal(down.outcome, 'failed')
  assert.deepEqual(order, ['c', 'a'])
  assert.equal(down.state.remaining, 1)
  assert.equal([...down.state.undo.values()].find(({ status }) => status === 'failed')?.problem?.message, 'b is in use')
  isStuck = false
  assert.equal((await run(workflow, { mode: 'teardown' })).outcome, 'succeeded')
  assert.deepEqual(order, ['c', 'a', 'b'])
})

test('a secret of an output is kept in a file, named in the journal, and taken out of every log', async (t) => {
  const { run, runs } = await place(t)
  const secret = 'hunter2-hunter2'
  const give = placed('give', {
    secretOutput: ['password'],
    output: z.object({ password: z.string() }),
    apply: async (_, context) => {
      context.hide(secret)
      for (const letter of `the password is ${secret}\n`) context.print(letter)
      return { password: secret }
    },
  })
  const take = placed('take', {
    input: z.object({ password: z.object({ secret: z.string() }) }),
    from: (outputs) => outputs('give', z.object({ password: z.object({ secret: z.string() }) })),
    apply: async ({ password }, context) => {
      context.print(`${Buffer.from(await context.secret(password.secret)).toString('base64')}\n`)
      return { length: (await context.secret(password.secret)).length }
    },
  })
  const { outcome, state } = await run({ ...recordingWorkflow([], []), steps: [give, take] })
  assert.equal(outcome, 'succeeded')
  assert.deepEqual(state.steps.get('take')?.output, { length: secret.length })
  const root = runDirectory(runs, '20260101T000000-test').root
  const written = await Promise.all(
    ['journal.jsonl', 'logs/give/1.log', 'logs/take/1.log'].map((path) => readFile(join(root, path), 'utf8')),
  )
  for (const text of written) {
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64')), text)
  }
  assert.match(written[1] ?? '', /the password is \*\*\*/)
})

test('an undo record that a script left before a crash is read without the secrets that the run has made', async (t) => {
  const { run, runs } = await place(t)
  const directory = runDirectory(runs, '20260101T000000-test')
  const give = placed('give', {
    secretOutput: ['password'],
    output: z.object({ password: z.string() }),
    apply: async () => ({ password: 'hunter2-hunter2' }),
  })
  const workflow = { ...recordingWorkflow([], []), steps: [give] }
  await run(workflow)
  await writeFile(join(directory.undoInbox, '1-1.undo'), 'test/give/1\0curl\0-u\0me:hunter2-hunter2\0https://api\0')
  const { state } = await run(workflow)
  assert.deepEqual(
    [...state.undo.values()].map(({ record }) => record.values),
    [{ secret: 'undo-1' }],
  )
  assert.ok(!(await readFile(directory.journal, 'utf8')).includes('hunter2'))
})

test('an output that has a secret where none is declared fails the step', async (t) => {
  const { run } = await place(t)
  const leak = placed('leak', {
    apply: async (_, context) => {
      context.hide('hunter2-hunter2')
      return { url: 'https://me:hunter2-hunter2@proxy' }
    },
  })
  const { state } = await run({ ...recordingWorkflow([], []), steps: [leak] })
  assert.equal(state.steps.get('leak')?.attempts[0]?.problem?.code, 'STEP_OUTPUT')
})

test('a failure that may pass is tried again as often as the step says, one that may not is not', async (t) => {
  const { run } = await place(t)
  let tries = 0
  const flaky = (code: 'STEP_TRANSIENT' | 'STEP_FAILED') =>
    placed('flaky', {
      policy: { retry: { attempts: 3, firstDelayMs: 1 } },
      apply: async () => {
        tries += 1
        throw new KnownError(code, 'not now')
      },
    })
  assert.equal((await run({ ...recordingWorkflow([], []), steps: [flaky('STEP_TRANSIENT')] })).outcome, 'failed')
  assert.equal(tries, 3)
  tries = 0
  assert.equal((await run({ ...recordingWorkflow([], []), steps: [flaky('STEP_FAILED')] })).outcome, 'failed')
  assert.equal(tries, 1)
})

test('a step that does not end in time is ended, and said to have been too slow', async (t) => {
  const { run } = await place(t)
  const slow = placed('slow', {
    policy: { timeoutMs: 20, graceMs: 1000 },
    apply: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        const keep = setInterval(() => undefined, 1000)
        signal.addEventListener('abort', () => {
          clearInterval(keep)
          reject(signal.reason)
        })
      }),
  })
  const { state } = await run({ ...recordingWorkflow([], []), steps: [slow] })
  assert.equal(state.steps.get('slow')?.status, 'timed-out')
})

test('the post steps run after a failure, all of them, and the run has still failed', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const workflow = recordingWorkflow(done, ['a!', 'b', 'x@post', 'y@post!', 'z@post'])
  const { outcome } = await run(workflow, { teardown: 'always' })
  assert.equal(outcome, 'failed')
  assert.deepEqual(
    done.map((name) => name.slice(0, 1)),
    ['a', 'x', 'y', 'z'],
  )
})

test('an observer whose log cannot be begun is told, and ends nothing else', async (t) => {
  const { runs } = await place(t)
  const directory = runDirectory(runs, '20260101T000000-test')
  await mkdir(join(directory.root, 'logs'), { recursive: true })
  await writeFile(join(directory.root, 'logs', 'observers'), 'in the way')
  const done: string[] = []
  const observers = [{ name: 'watch', run: () => Promise.resolve() }]
  const ended = Promise.withResolvers<void>()
  const settings: RunSettings = {
    ...openRunSettings(runs, {}),
    onEvent: ({ type }) => (type === 'observer.ended' ? ended.resolve() : undefined),
  }
  const { steps, ...workflow } = recordingWorkflow(done, ['a', 'b', 'c@post'])
  // Steps that are over before its log is opened would end it first.
  const patient = placed('patient', { apply: () => ended.promise.then(() => ({})) })
  const all = { ...workflow, steps: [patient, ...steps], observers, teardown: 'always' as const }
  const { outcome, state } = await runWorkflow(all, directory, settings)
  assert.equal(outcome, 'succeeded')
  assert.deepEqual(done, ['a', 'b<-a', 'c'])
  assert.match(state.observers.get('watch')?.problem?.message ?? '', /ENOTDIR|EEXIST/)
})

test('a journal that was cut in the middle of a line loses that line alone', async (t) => {
  const { run, runs } = await place(t)
  const done: string[] = []
  const { journal } = runDirectory(runs, '20260101T000000-test')
  await run(recordingWorkflow(done, ['a', 'b!']))
  const bytes = await readFile(journal)
  const cut = bytes.lastIndexOf('"step.failed"')
  await truncate(journal, cut)
  done.length = 0
  assert.equal((await run(recordingWorkflow(done, ['a', 'b']))).outcome, 'succeeded')
  assert.deepEqual(done, ['b<-a'])
})

test('a journal of which a line in the middle is missing is refused, with the line', async (t) => {
  const { run, runs } = await place(t)
  const { journal } = runDirectory(runs, '20260101T000000-test')
  await run(recordingWorkflow([], ['a']))
  const lines = (await readFile(journal, 'utf8')).split('\n')
  await writeFile(journal, lines.filter((_, index) => index !== 2).join('\n'))
  await assert.rejects(readJournal(journal), { code: 'JOURNAL_CORRUPT', message: /Line 3/ })
})

test('two sessions of one run exclude each other', async (t) => {
  const { run } = await place(t)
  let release: () => void = () => undefined
  const entered = Promise.withResolvers<void>()
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const waiting = placed('waiting', {
    apply: async () => {
      entered.resolve()
      await gate
      return {}
    },
  })
  const workflow = { ...recordingWorkflow([], []), steps: [waiting] }
  const first = run(workflow)
  await entered.promise
  await assert.rejects(run(workflow), { code: 'STORE_LOCKED' })
  release()
  assert.equal((await first).outcome, 'succeeded')
})

test('a run for which the disk has no room at all says so, and leaves no lock', async (t) => {
  const disk = await smallDisk(t, 0)
  if (disk === undefined) return
  const directory = runDirectory(disk.path, '20260101T000000-test')
  const session = () => runWorkflow(recordingWorkflow([], ['a']), directory, openRunSettings(disk.path, {}))
  await assert.rejects(session(), { code: 'DISK_FULL' })
  assert.deepEqual((await readdir(directory.root)).sort(), ['shared', 'undo'])
  await disk.free()
  assert.equal((await session()).outcome, 'succeeded')
})

test('a run stops at the gap, and goes on at the other side', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const there = (id: string, where: 'connected' | 'closed') =>
    placed(id, { where, apply: async () => ({ done: done.push(id) }) })
  const workflow = { ...recordingWorkflow([], []), steps: [there('a', 'connected'), there('b', 'closed')] }
  const here = await run(workflow, { sites: new Set(['connected'] as const) })
  assert.equal(here.outcome, 'gap')
  assert.deepEqual(here.gap, { step: 'b', where: 'closed' })
  assert.deepEqual(done, ['a'])
  assert.equal((await run(workflow, { sites: new Set(['bastion', 'closed'] as const) })).outcome, 'succeeded')
  assert.deepEqual(done, ['a', 'b'])
})

test('before the gap everything is done that can be done on this side', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const there = (id: string, where: 'connected' | 'bastion' | 'closed', from?: string) =>
    placed(id, {
      where,
      from: (outputs) => (from === undefined ? {} : outputs(from, z.object({ done: z.number() }))),
      apply: async () => ({ done: done.push(id) }),
    })
  const steps = [
    there('infrastructure', 'connected'),
    there('registry', 'bastion'),
    there('collect', 'connected', 'infrastructure'),
    there('load', 'bastion', 'collect'),
    there('after', 'connected', 'load'),
  ]
  const workflow = { ...recordingWorkflow([], []), steps }
  const here = await run(workflow, { sites: new Set(['connected'] as const) })
  assert.deepEqual(here.gap, { step: 'registry', where: 'bastion' })
  assert.deepEqual(done, ['infrastructure', 'collect'])
  assert.equal((await run(workflow, { sites: new Set(['bastion'] as const) })).gap?.step, 'after')
  assert.deepEqual(done, ['infrastructure', 'collect', 'registry', 'load'])
})

test('what is there no more is made again by the next session, and nothing else', async (t) => {
  const { run } = await place(t)
  let isThere = false
  const done: string[] = []
  const made = placed('made', {
    holds: async () => isThere,
    apply: async () => {
      isThere = true
      done.push('made')
      return {}
    },
  })
  const workflow = { ...recordingWorkflow([], []), steps: [made, ...recordingWorkflow(done, ['a']).steps] }
  await run(workflow)
  await run(workflow)
  assert.deepEqual(done, ['made', 'a'])
  isThere = false
  assert.equal((await run(workflow)).outcome, 'succeeded')
  assert.deepEqual(done, ['made', 'a', 'made'])
})

test('what is gone together with what it stands on is made again, too', async (t) => {
  const { run } = await place(t)
  const standing = new Set<string>()
  const done: string[] = []
  const making = (id: string) => ({
    holds: async () => standing.has(id),
    apply: async () => {
      standing.add(id)
      done.push(id)
      return { id }
    },
  })
  const network = placed('network', making('network'))
  const server = placed('server', { ...making('server'), from: (of) => of('network', z.object({ id: z.string() })) })
  const workflow = { ...recordingWorkflow([], []), steps: [network, server] }
  await run(workflow)
  standing.clear()
  await run(workflow)
  assert.deepEqual(done, ['network', 'server', 'network', 'server'])
})

test('a step of the teardown that a user leaves out is run once a teardown is asked for', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const workflow = { ...recordingWorkflow(done, ['a', 'b', 'y@post', 'z@post']), teardown: 'always' as const }
  await run(workflow, { skip: [{ step: 'y', why: 'it is still wanted' }] })
  assert.deepEqual(done, ['a', 'b<-a', 'z'])
  await run(workflow, { from: 'b' })
  assert.deepEqual(done, ['a', 'b<-a', 'z', 'b<-a', 'z'])
  await run(workflow, { mode: 'teardown' })
  assert.deepEqual(done, ['a', 'b<-a', 'z', 'b<-a', 'z', 'y'])
})

test('what users say of steps is in the journal, with their reason', async (t) => {
  const { run } = await place(t)
  const done: string[] = []
  const workflow = recordingWorkflow(done, ['a!', 'b', 'c'])
  const { outcome, state } = await run(workflow, {
    skip: [{ step: 'b', why: 'done by hand' }],
    markDone: [{ step: 'a', why: 'it is there' }],
    until: 'b',
  })
  assert.equal(outcome, 'stopped')
  assert.deepEqual(done, [])
  assert.equal(state.steps.get('a')?.why, 'it is there')
  assert.equal(state.steps.get('b')?.status, 'skipped')
})

test('a later version may add types of events: they are counted, and the rest is folded', async (t) => {
  const { run, runs } = await place(t)
  const { journal } = runDirectory(runs, '20260101T000000-test')
  await run(recordingWorkflow([], ['a']))
  const { events } = await readJournal(journal)
  await appendFile(journal, `${JSON.stringify({ n: events + 1, at: 1, type: 'step.dreamt', step: 'a' })}\n`)
  const state = await readJournal(journal)
  assert.equal(state.unknown.get('step.dreamt'), 1)
  assert.equal(state.steps.get('a')?.status, 'succeeded')
})

test('a definition keeps its types', () => {
  const step = defineStep({
    title: 'adds one',
    version: 1,
    input: z.object({ number: z.number() }),
    output: z.object({ number: z.number() }),
    apply: async ({ number }) => ({ number: number + 1 }),
  })
  assert.equal(step.title, 'adds one')
})
