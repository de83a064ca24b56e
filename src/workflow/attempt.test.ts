import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { type AttemptHost, type ProcessRunner, runAttempt, silentNotes } from './attempt.ts'
import { makeRunDirectory, runDirectory } from './run-directory.ts'
import { RunSecrets } from './run-secrets.ts'
import { openSecretStore } from './secret-store.ts'
import { defaultPolicy, type StepContext } from './step.ts'

const policy = { ...defaultPolicy, timeoutMs: 1_000, graceMs: 1_000 }

async function hostIn(runs: string, processes: ProcessRunner): Promise<AttemptHost & { readonly clock: FakeClock }> {
  const directory = runDirectory(runs, '20260101T000000-test')
  await makeRunDirectory(directory)
  return {
    directory,
    clock: new FakeClock(),
    secrets: new RunSecrets(),
    secretStore: await openSecretStore(directory.secrets, () => Promise.resolve(undefined)),
    processes,
    leaving: new AbortController().signal,
  }
}

interface Attempt {
  readonly host: AttemptHost
  readonly step?: string
  readonly work: (context: StepContext) => Promise<void>
}

function attempt({ host, step = 'make', work }: Attempt) {
  const order = { step, number: 1, policy, signal: new AbortController().signal }
  const worked = async (context: StepContext) => {
    await work(context)
    return { output: null }
  }
  return runAttempt(order, { host, notes: silentNotes, work: worked })
}

const noPrograms: ProcessRunner = { run: () => Promise.reject(new Error('no programs here')) }

test('an attempt is not given up while a program of it runs, nor while it clears up behind that', async (t) => {
  const program = Promise.withResolvers<{ readonly status: number }>()
  const started = Promise.withResolvers<void>()
  const cleared = Promise.withResolvers<void>()
  const run = () => {
    started.resolve()
    return program.promise
  }
  const host = await hostIn(await tempDir(t), { run })
  const told: string[] = []
  const ended = attempt({
    host,
    async work(context) {
      await context.exec({ argv: ['true'], env: {} })
      told.push('cleared up')
      await cleared.promise
    },
  }).then(({ kind }) => told.push(kind))
  await started.promise
  host.clock.advance(60_000)
  await writeFile(join(host.directory.root, 'later'), '')
  assert.deepEqual(told, [])
  program.resolve({ status: 0 })
  await writeFile(join(host.directory.root, 'later'), '')
  host.clock.advance(4_000)
  await writeFile(join(host.directory.root, 'later'), '')
  assert.deepEqual(told, ['cleared up'])
  host.clock.advance(10_000)
  await ended
  assert.deepEqual(told, ['cleared up', 'failed'])
})

test('what a step says after it was given up is in no log, not even in that of the next', async (t) => {
  const host = await hostIn(await tempDir(t), noPrograms)
  const spoken = Promise.withResolvers<(text: string) => void>()
  const first = attempt({ host, work: ({ print }) => new Promise(() => spoken.resolve(print)) })
  const print = await spoken.promise
  host.clock.advance(60_000)
  assert.equal((await first).kind, 'failed')
  const second = attempt({
    host,
    step: 'next',
    async work(context) {
      print('of the first\n')
      context.print('of the second\n')
    },
  })
  assert.equal((await second).kind, 'succeeded')
  const log = await readFile(join(host.directory.root, 'logs', 'next', '1.log'), 'utf8')
  assert.match(log, /of the second/)
  assert.doesNotMatch(log, /of the first/)
})

test('an attempt that cannot be begun has failed, and ends nothing else', async (t) => {
  const host = await hostIn(await tempDir(t), noPrograms)
  await mkdir(join(host.directory.root, 'artifacts'))
  await writeFile(join(host.directory.root, 'artifacts', 'make'), '')
  const end = await attempt({ host, work: () => Promise.resolve() })
  assert.equal(end.kind, 'failed')
})

test('a secret that is too short to be taken out of the log is told there, once, and not by its value', async (t) => {
  const host = await hostIn(await tempDir(t), noPrograms)
  await host.secretStore.keep('pin', '12')
  const work = async ({ secret, hide }: StepContext) => {
    await secret('pin')
    hide('34')
    hide(' ')
    hide('long enough')
  }
  assert.equal((await attempt({ host, work })).kind, 'succeeded')
  const log = await readFile(join(host.directory.root, 'logs', 'make', '1.log'), 'utf8')
  assert.match(log, /^\S+ warning: a secret is shorter than 4 bytes: it is not taken out of logs\n$/)
})
