import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { smallRegistry } from '../../testkit/small-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

interface Place {
  readonly directory: string
  readonly registry: string
  readonly cli: (...words: string[]) => Promise<CliResult>
  readonly run: (...words: string[]) => Promise<CliResult>
}

/** Scripts that add their names to `done`; `use` fails where there is a file `broken`. */
async function place(t: TestContext): Promise<Place> {
  const directory = await tempDir(t)
  const say = (name: string) => `echo ${name} >> ${directory}/done`
  const registry = await smallRegistry(directory, [
    {
      name: 'make',
      script: `echo making it $HOW\n${say('make')}\necho made > "$SHARED_DIR/thing"`,
      env: { HOW: 'well' },
    },
    {
      name: 'use',
      phase: 'test',
      script: `cat "$SHARED_DIR/thing"\n[ ! -e ${directory}/broken ] || { echo it is broken; exit 3; }\n${say('use')}`,
    },
    { name: 'clean', phase: 'post', script: say('clean') },
  ])
  const cli = (...words: string[]) => runCli(words, { cwd: directory })
  return { directory, registry, cli, run: (...words) => cli('run', 'small', '--registry', registry, ...words) }
}

async function done(directory: string): Promise<string> {
  return (await readFile(join(directory, 'done'), 'utf8')).trim().replaceAll('\n', ' ')
}

test('a workflow of a step registry runs, and how it went can be read afterwards', async (t) => {
  const { directory, cli, run } = await place(t)
  const ended = await run()
  assert.equal(ended.status, 0, ended.stderr)
  assert.match(ended.stdout, /^succeeded: small, run \S+: every step has succeeded/)
  assert.match(ended.stderr, /started +pre\/small-make \(1\/3\)[\s\S]*done +post\/small-clean/)
  assert.equal(await done(directory), 'make use clean')
  const shown = await cli('run', 'show')
  assert.match(shown.stdout, /^succeeded: small[\s\S]*done +small-use +\d/)
  assert.match(shown.stdout, / {2}next: nothing: it is done\n$/)
  const { runs } = JSON.parse((await cli('runs', '--json')).stdout)
  assert.deepEqual(
    runs.map((each: { workflow: string; status: string }) => [each.workflow, each.status]),
    [['small', 'succeeded']],
  )
})

test('commands to type next name the directory of runs where it was named', async (t) => {
  const { directory, cli, run } = await place(t)
  await writeFile(join(directory, 'broken'), '')
  const failed = await run('--teardown', 'never', '--runs', 'my runs')
  assert.match(
    failed.stdout,
    /next: look at sallyport logs \S+ --runs 'my runs' test\/small-use; mend the cause, and sallyport resume \S+ --runs 'my runs' goes on there/,
  )
  assert.match((await cli('run', 'show', '--runs', 'my runs')).stdout, /sallyport resume \S+ --runs 'my runs' /)
})

test('a workflow of a registry that is not named is told how to name it', async (t) => {
  const { cli } = await place(t)
  const { status, stderr } = await cli('run', 'small')
  assert.equal(status, 64)
  assert.match(stderr, /next: .*: --registry DIR\.\n$/)
})

test('what was never made cannot be forgotten', async (t) => {
  const { cli, run } = await place(t)
  await run()
  const { status, stderr } = await cli('run', 'teardown', '--forget', '99')
  assert.equal(status, 64)
  assert.match(stderr, /nothing to take away with the number 99\n {2}next: There is nothing left\./)
  assert.match((await cli('run', 'show')).stdout, /^succeeded: /)
})

test('what failed is shown as a terminal can show it', async (t) => {
  const directory = await tempDir(t)
  const script = `printf '\\033[31mred\\033[0m \\001\\007 caf\\303\\251\\n'; head -c 2000 /dev/zero | tr '\\0' x; exit 1`
  const registry = await smallRegistry(directory, [{ name: 'break', script }])
  const { stdout } = await runCli(['run', 'small', '--registry', registry], { cwd: directory })
  assert.match(stdout, /^ {4}red \? café\n {4}x{500} …\n {4}small-break ended with status 1$/m)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  assert.doesNotMatch(stdout, /[\x00-\x09\x0b-\x1f]/)
})

test('the same command again goes on where a run failed, and begins anew once it has succeeded', async (t) => {
  const { directory, run, cli } = await place(t)
  await writeFile(join(directory, 'broken'), '')
  const failed = await run('--teardown', 'never')
  assert.equal(failed.status, 1)
  assert.match(
    failed.stdout,
    /^failed: small, run \S+: test\/small-use: small-use ended with status 3\n[\s\S]*it is broken/,
  )
  assert.match(
    failed.stdout,
    / {2}next: look at sallyport logs \S+ test\/small-use; mend the cause, and sallyport resume/,
  )
  await rm(join(directory, 'broken'))
  const again = await run()
  assert.equal(again.status, 0, again.stderr)
  assert.match(again.stderr, /^going on with run /)
  assert.equal(await done(directory), 'make use clean')
  assert.match((await run()).stderr, /^run /)
  assert.equal(await done(directory), 'make use clean make use clean')
  assert.equal(JSON.parse((await cli('runs', '--json')).stdout).runs.length, 2)
})

test('a scope that nothing has is refused, and those that there are, are named', async (t) => {
  const { cli, run } = await place(t)
  await run('--teardown', 'never')
  const { status, stderr } = await cli('run', 'teardown', '--scope', 'bastoin')
  assert.equal(status, 64)
  assert.match(stderr, /error USAGE: --scope bastoin: run \S+ has no such scope; nothing that it made has a scope\n/)
})

test('a run whose teardown is done is not gone on with in its middle, unless a step is named', async (t) => {
  const { directory, run, cli } = await place(t)
  await writeFile(join(directory, 'broken'), '')
  assert.equal((await run()).status, 1)
  await rm(join(directory, 'broken'))
  const resumed = await cli('resume')
  assert.equal(resumed.status, 1)
  assert.match(resumed.stderr, /^going on[\s\S]*error RUN_OVER: .*\n {2}next: Begin anew/)
  assert.equal((await cli('resume', '--from', 'small-make')).status, 0)
  assert.equal(await done(directory), 'make clean make use clean')
})

test('a run whose registry is gone goes on with what was kept of it, and says so', async (t) => {
  const { directory, registry, run, cli } = await place(t)
  assert.equal((await run('--until', 'small-make', '--teardown', 'never')).status, 0)
  await rm(registry, { recursive: true })
  const resumed = await cli('resume')
  assert.equal(resumed.status, 0, resumed.stderr)
  assert.match(resumed.stderr, /^going on with run \S+ of small, as it was kept: its source is not here/)
  assert.equal(await done(directory), 'make use clean')
})

test('a script that has changed is run again, and everything after it', async (t) => {
  const { directory, registry, run } = await place(t)
  assert.equal((await run('--until', 'small-use', '--teardown', 'never')).status, 0)
  const script = join(registry, 'small', 'make', 'small-make-commands.sh')
  await writeFile(script, `${await readFile(script, 'utf8')}\necho again\n`)
  assert.equal((await run()).status, 0)
  assert.equal(await done(directory), 'make use make use clean')
})

test('what a user says of a step needs a reason, which stands in the record', async (t) => {
  const { directory, run, cli } = await place(t)
  const refused = await run('--skip', 'small-use')
  assert.equal(refused.status, 64)
  assert.match(refused.stderr, /--skip needs --reason WHY/)
  assert.equal((await run('--skip', 'small-use', '--reason', 'done by hand')).status, 0)
  assert.equal(await done(directory), 'make clean')
  const { steps } = JSON.parse((await cli('run', 'show', '--json')).stdout)
  assert.deepEqual(
    steps.map((step: { status: string; why?: string }) => [step.status, step.why]),
    [
      ['succeeded', undefined],
      ['skipped', 'done by hand'],
      ['succeeded', undefined],
    ],
  )
})

test('wrong usage ends with 64, and names what was probably meant', async (t) => {
  const { run, cli } = await place(t)
  const unknown = await run('--only', 'small-mak')
  assert.equal(unknown.status, 64)
  assert.match(unknown.stderr, /STEP_UNKNOWN[\s\S]*Did you mean small-make\?/)
  assert.equal((await run('--only', 'small-make', '--from', 'small-make')).status, 64)
  for (const flag of ['--only', '--from', '--until', '--rerun']) {
    const { status, stderr } = await run(flag, 'small-clean')
    assert.equal(status, 64, flag)
    assert.match(stderr, /post\/small-clean: it belongs to the teardown[\s\S]*sallyport run teardown/)
  }
  assert.match((await run('--from', 'small-use', '--until', 'small-make')).stderr, /comes after pre\/small-make/)
  assert.equal((await run('--where', 'nowhere')).status, 64)
  assert.equal((await run('--env', 'HOW')).status, 64)
  assert.equal((await run('--teardown', 'sometimes')).status, 64)
  assert.equal((await cli('run', 'nothing')).status, 64)
  assert.equal((await cli('resume')).status, 64)
  assert.equal((await cli('run', 'show', 'x')).status, 64)
})
