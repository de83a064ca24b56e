/** What befalls a run from outside: Ctrl-C, kill -9, a second one at the same time, a disk that is full. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCli } from '../../testkit/run-cli.ts'
import { endProcessesOf, processesOf, type RunningCli, startCli, until } from '../../testkit/running-cli.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { smallRegistry } from '../../testkit/small-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

interface Place {
  readonly directory: string
  readonly words: readonly string[]
  readonly start: () => RunningCli
  /** What the steps have written, in their order. */
  readonly done: () => Promise<string>
  readonly hasBegun: () => Promise<boolean>
  readonly runId: () => Promise<string>
}

/** The second step waits for a file `go`. A deaf one does not end when it is asked to. */
async function place(t: TestContext, { isDeaf = false }: { readonly isDeaf?: boolean } = {}): Promise<Place> {
  const directory = await tempDir(t)
  const say = (what: string) => `echo ${what} >> ${directory}/done`
  const trap = isDeaf ? `trap '' TERM INT` : `trap '${say('asked')}; exit 9' TERM INT`
  const registry = await smallRegistry(directory, [
    { name: 'make', script: say('make') },
    {
      name: 'wait',
      grace: '10m',
      script: `${trap}\n${say('begin')}\necho waiting\nwhile [ ! -e ${directory}/go ]; do sleep 0.05; done\n${say('end')}`,
    },
    { name: 'clean', phase: 'post', script: say('clean') },
  ])
  const words = ['run', 'small', '--registry', registry]
  const done = async () =>
    (await readFile(join(directory, 'done'), 'utf8').catch(() => '')).trim().replaceAll('\n', ' ')
  const runId = async () =>
    (await readdir(join(directory, '.sallyport', 'runs'))).sort().findLast((name) => /^\d/.test(name)) ?? ''
  t.after(async () => endProcessesOf((await runId().catch(() => '')) || 'none'))
  return {
    directory,
    words,
    start: () => startCli(t, words, { cwd: directory }),
    done,
    hasBegun: async () => (await done()).endsWith('begin'),
    runId,
  }
}

async function go(directory: string): Promise<void> {
  await writeFile(join(directory, 'go'), '')
}

test('the first Ctrl-C asks the step to end, and the teardown runs', async (t) => {
  const { start, done, hasBegun, runId, directory } = await place(t)
  const run = start()
  await until('the step has begun', hasBegun)
  run.child.kill('SIGINT')
  assert.equal(await run.ended, 130)
  assert.match(run.output.stderr, /stopping; press Ctrl-C again/)
  assert.match(run.output.stdout, /^stopped: small, run /)
  assert.equal(await done(), 'make begin asked clean')
  assert.deepEqual(await processesOf(await runId()), [])
  assert.match(
    (await runCli(['run', 'show'], { cwd: directory })).stdout,
    /stopped +small-wait[\s\S]*done +small-clean/,
  )
})

test('the second Ctrl-C ends everything at once, leaves no process, and the run goes on later', async (t) => {
  const { start, done, hasBegun, runId, directory, words } = await place(t, { isDeaf: true })
  const run = start()
  await until('the step has begun', hasBegun)
  const id = await runId()
  assert.notDeepEqual(await processesOf(id), [])
  run.child.kill('SIGINT')
  await until('the first was heard', () => run.output.stderr.includes('stopping'))
  run.child.kill('SIGINT')
  assert.equal(await run.ended, 130)
  await until('all are gone', async () => (await processesOf(id)).length === 0)
  await go(directory)
  const again = await runCli(words, { cwd: directory })
  assert.equal(again.status, 0, again.stderr)
  assert.match(await done(), /end clean$/)
})

test('a run whose engine was killed is said to be interrupted, and goes on where it was', async (t) => {
  const { start, done, hasBegun, runId, directory, words } = await place(t)
  const run = start()
  await until('the step has begun', hasBegun)
  process.kill(run.child.pid ?? 0, 'SIGKILL')
  assert.equal(await run.ended, 'SIGKILL')
  const shown = await runCli(['run', 'show'], { cwd: directory })
  assert.match(shown.stdout, /^interrupted: small, run \S+: its process is gone/)
  assert.match(shown.stdout, /interrupted +small-wait/)
  assert.match(shown.stdout, / {2}next: sallyport resume \S+ goes on where it stopped; /)
  const id = await runId()
  const left = await processesOf(id)
  const resumed = startCli(t, ['resume'], { cwd: directory })
  await until('it has begun anew', async () => (await done()).endsWith('begin') && (await done()) !== 'make begin')
  const now = await processesOf(id)
  assert.deepEqual(
    left.filter((pid) => now.includes(pid)),
    [],
  )
  await go(directory)
  assert.equal(await resumed.ended, 0, resumed.output.stderr)
  assert.match(await done(), /^make begin( asked)? begin end clean$/)
  assert.deepEqual(words.slice(0, 2), ['run', 'small'])
})

test('who stops reading the events does not end the run, and what never began is not the last run', async (t) => {
  const { directory, words, done } = await place(t)
  await go(directory)
  await mkdir(join(directory, '.sallyport', 'runs', '99990101T000000-00000'), { recursive: true })
  const cli = [...words, '--events', '-'].map((word) => `'${word}'`).join(' ')
  const file = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const script = `{ '${process.execPath}' '${file}' ${cli}; echo "$?" > status; } | head -n 1`
  await promisify(execFile)('sh', ['-c', script], { cwd: directory })
  await until('it has ended', async () => (await readFile(join(directory, 'status'), 'utf8').catch(() => '')) !== '')
  assert.equal(await readFile(join(directory, 'status'), 'utf8'), '0\n')
  assert.match(await done(), /^make begin end clean$/)
  assert.match((await runCli(['run', 'show'], { cwd: directory })).stdout, /^succeeded: small/)
})

test('who stops listening does not end the run', async (t) => {
  const { start, done, hasBegun, directory } = await place(t)
  const run = start()
  await until('the second step runs', hasBegun)
  run.child.stderr?.destroy()
  await go(directory)
  assert.equal(await run.ended, 0)
  assert.equal(await done(), 'make begin end clean')
})

test('events that cannot be begun are told before anything runs', async (t) => {
  const { directory, words, done } = await place(t)
  const { status, stderr } = await runCli([...words, '--events', 'nowhere/events'], { cwd: directory })
  assert.equal(status, 1)
  assert.match(stderr, /^error FILE_UNWRITABLE: nowhere\/events cannot be written \(ENOENT\)/)
  assert.equal(await done(), '')
})

test('two at once exclude each other, and the second is told where to look', async (t) => {
  const { start, hasBegun, directory, words } = await place(t)
  const run = start()
  await until('the step has begun', hasBegun)
  for (const args of [words, ['resume'], ['run', 'teardown'], ['run', 'export']]) {
    const second = await runCli(args, { cwd: directory })
    assert.equal(second.status, 1)
    assert.match(second.stderr, /error STORE_LOCKED: /)
  }
  assert.match((await runCli(['resume'], { cwd: directory })).stderr, /next: sallyport logs \S+ -f follows it/)
  const { runs } = JSON.parse((await runCli(['runs', '--json'], { cwd: directory })).stdout)
  assert.equal(runs[0].status, 'running')
  await go(directory)
  assert.equal(await run.ended, 0)
})

test('logs -f follows a run of another process to its end', async (t) => {
  const { start, hasBegun, directory } = await place(t)
  const run = start()
  await until('the step has begun', hasBegun)
  const logs = startCli(t, ['logs', '-f', '--raw'], { cwd: directory })
  const one = startCli(t, ['logs', 'small-wait', '-f'], { cwd: directory })
  await until('what is there is shown', () => logs.output.stdout.includes('waiting'))
  await until('what is there of the step is shown', () => one.output.stdout.includes('waiting'))
  await go(directory)
  assert.equal(await logs.ended, 0)
  assert.equal(await one.ended, 0)
  assert.equal(await run.ended, 0)
  assert.match(logs.output.stderr, /^succeeded: /)
  assert.match(one.output.stdout, /^\d{4}-\d\d-\d\dT[\d:.]+Z waiting\n$/)
})

test('a disk that is full ends a run with a word, and it goes on when there is space', async (t) => {
  const disk = await smallDisk(t, 256 * 1024)
  if (disk === undefined) return
  const directory = await tempDir(t)
  const registry = await smallRegistry(directory, [
    { name: 'make', script: `echo make >> ${directory}/done` },
    { name: 'fill', script: 'head -c 1000000 /dev/zero > "$ARTIFACT_DIR/zeros"' },
    { name: 'use', phase: 'test', script: `echo use >> ${directory}/done` },
  ])
  const words = ['run', 'small', '--registry', registry, '--runs', join(disk.path, 'runs')]
  const full = await runCli(words, { cwd: directory })
  assert.equal(full.status, 1, full.stdout)
  assert.match(full.stdout, /^failed: small[\s\S]*the disk of \S+ is full/)
  await disk.free()
  const again = await runCli(words, { cwd: directory })
  assert.equal(again.status, 0, again.stderr)
  assert.match(again.stderr, /^going on with run /)
  assert.equal(await readFile(join(directory, 'done'), 'utf8'), 'make\nuse\n')
})

test('the end of a teardown says nothing more of what failed before it', async (t) => {
  const directory = await tempDir(t)
  const registry = await smallRegistry(directory, [
    { name: 'make', script: 'echo boom; exit 3' },
    { name: 'clean', phase: 'post', script: ':' },
  ])
  const failed = await runCli(['run', 'small', '--registry', registry, '--until', 'small-make'], { cwd: directory })
  assert.match(failed.stdout, /^failed: small[\s\S]*boom/)
  const { status, stdout } = await runCli(['run', 'teardown'], { cwd: directory })
  assert.equal(status, 0)
  assert.match(stdout, /^taken down: small/)
  assert.doesNotMatch(stdout, /boom/)
  assert.match((await runCli(['run', 'show'], { cwd: directory })).stdout, /boom/)
})

test('a file where runs should lie is told, and is none of them', async (t) => {
  const { directory, words } = await place(t)
  const runs = ['--runs', join(directory, 'file')]
  await writeFile(join(directory, 'file'), 'mine')
  const begun = await runCli([...words, ...runs], { cwd: directory })
  assert.equal(begun.status, 1)
  assert.match(begun.stderr, /error FILE_UN\w+: A part of .*file.* is a file, where a directory has to be/)
  for (const command of [['run', 'show'], ['run', 'teardown'], ['logs']]) {
    const { stderr } = await runCli([...command, ...runs], { cwd: directory })
    assert.match(stderr, /error RUN_UNKNOWN/, command.join(' '))
  }
  assert.equal(await readFile(join(directory, 'file'), 'utf8'), 'mine')
})

test('root does not go on with the run of another user, but may take it down', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root may write what belongs to others')
  const { directory, words, runId, done } = await place(t)
  const cli = (...all: string[]) => runCli(all, { cwd: directory })
  assert.equal((await cli(...words, '--until', 'small-make', '--teardown', 'never')).status, 0)
  const root = join(directory, '.sallyport', 'runs', await runId())
  await chown(root, 1000, 1000)
  for (const refused of [['resume'], words]) {
    const { status, stderr } = await cli(...refused)
    assert.equal(status, 1)
    assert.match(stderr, /error RUN_OF_ANOTHER: Run \S+ belongs to user 1000, and this is root\n/)
    assert.match(stderr, /next: .*sudo -u '#1000' sallyport resume .*sallyport run small --new/)
  }
  assert.equal((await cli('run', 'teardown')).status, 0)
  assert.equal(await done(), 'make clean')
  await go(directory)
  assert.equal((await cli('resume', '--anyway')).status, 0)
})
