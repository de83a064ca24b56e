/** A run that leaves in a file, and what is said of it on both sides; and plans of runs. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { smallRegistry } from '../../testkit/small-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

interface Place {
  readonly directory: string
  readonly registry: string
  readonly words: readonly string[]
  readonly cli: (...words: string[]) => Promise<CliResult>
}

async function place(t: TestContext): Promise<Place> {
  const directory = await tempDir(t)
  const registry = await smallRegistry(directory, [
    { name: 'make', script: 'echo "made $HOW" > "$SHARED_DIR/thing"', env: { HOW: 'well', WHERE: 'here' } },
    { name: 'use', phase: 'test', script: 'cat "$SHARED_DIR/thing"' },
    { name: 'clean', phase: 'post', script: 'echo clean' },
  ])
  const words = ['small', '--registry', registry, '--teardown', 'never']
  return { directory, registry, words, cli: (...all) => runCli(all, { cwd: directory }) }
}

test('a run leaves in one file, goes on where it was imported, and not where it was exported', async (t) => {
  const { directory, registry, words, cli } = await place(t)
  assert.equal((await cli('run', ...words, '--until', 'small-make')).status, 0)
  const exported = await cli('run', 'export', '-o', 'run.tar')
  assert.equal(exported.status, 0, exported.stderr)
  const digest = `sha256:${createHash('sha256')
    .update(await readFile(join(directory, 'run.tar')))
    .digest('hex')}`
  assert.match(exported.stdout, new RegExp(`^exported: run \\S+ to .*run.tar: .*\n  digest: ${digest}\n`))
  for (const refused of [['resume'], ['run', ...words], ['run', 'teardown'], ['run', 'export']]) {
    const again = await cli(...refused)
    assert.equal(again.status, 1)
    assert.match(again.stderr, /error RUN_ELSEWHERE: /)
  }
  assert.match((await cli('run', 'show')).stdout, /^exported: small, run \S+: it goes on where \S+run.tar is imported/)
  const planned = await cli('plan', ...words)
  assert.equal(planned.status, 1)
  assert.match(planned.stdout, /run.tar: two sides must not both go on/)
  assert.equal((await cli('plan', ...words, '--new')).status, 0)
  await rm(registry, { recursive: true })
  const imported = await cli('run', 'import', 'run.tar', '--runs', 'there', '--digest', digest, '--json')
  assert.equal(imported.status, 0, imported.stderr)
  assert.equal(JSON.parse(imported.stdout).digest, digest)
  const resumed = await cli('resume', '--runs', 'there', '--teardown', 'never')
  assert.equal(resumed.status, 0, resumed.stderr)
  assert.match((await cli('logs', '--runs', 'there', 'small-use', '--raw')).stdout, /^made well\n/)
  const { steps, importedFrom } = JSON.parse((await cli('run', 'show', '--runs', 'there', '--json')).stdout)
  assert.equal(typeof importedFrom, 'string')
  assert.deepEqual(
    steps.map(({ attempts }: { attempts: number }) => attempts),
    [1, 1, 0],
  )
  assert.equal((await cli('run', 'teardown', '--runs', 'there')).status, 0)
  assert.match((await cli('run', 'show', '--runs', 'there')).stdout, /^taken down: small/)
})

test('whoever goes on where a run was exported has it back; who only takes down does not', async (t) => {
  const { words, cli } = await place(t)
  assert.equal((await cli('run', ...words, '--until', 'small-make')).status, 0)
  assert.equal((await cli('run', 'export', '-o', 'run.tar')).status, 0)
  const refused = await cli('run', 'teardown')
  assert.match(refused.stderr, /next: .*sallyport run teardown \d\S+ --anyway takes away what this side has made/)
  assert.match((await cli('resume')).stderr, /next: .*sallyport resume \d\S+ --anyway goes on here/)
  const back = await cli('resume', '--anyway', '--teardown', 'never')
  assert.match(back.stdout, /^succeeded: small, run /)
  assert.match((await cli('run', 'show')).stdout, /^succeeded: small, run /)
  assert.equal((await cli('resume')).status, 0, 'and so does the next')

  assert.equal((await cli('run', 'export', '-o', 'again.tar')).status, 0)
  assert.equal((await cli('run', 'teardown', '--anyway')).status, 0)
  assert.match((await cli('run', 'show')).stdout, /^exported: small, run /)
})

test('a file that is cut, changed or another is refused, and so is a run that is there', async (t) => {
  const { directory, words, cli } = await place(t)
  await cli('run', ...words, '--until', 'small-make')
  await cli('run', 'export', '-o', 'run.tar')
  const bytes = await readFile(join(directory, 'run.tar'))
  await writeFile(join(directory, 'cut.tar'), bytes.subarray(0, 3000))
  const text = bytes.toString('latin1').replace('made well', 'made hell')
  await writeFile(join(directory, 'changed.tar'), text, 'latin1')
  for (const [file, why] of [
    ['cut.tar', /is cut or damaged at byte/],
    ['changed.tar', /shared\/thing has other bytes than were exported/],
  ] as const) {
    const refused = await cli('run', 'import', file, '--runs', 'there')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /error RUN_FILE_INVALID: /)
    assert.match(refused.stderr, why)
  }
  const other = await cli('run', 'import', 'run.tar', '--runs', 'there', '--digest', `sha256:${'0'.repeat(64)}`)
  assert.match(other.stderr, /its digest is sha256:[0-9a-f]+, and sha256:0+ was expected/)
  assert.deepEqual(await readdir(join(directory, 'there')).catch(() => []), [])
  assert.match((await cli('run', 'import', 'run.tar')).stderr, /error RUN_EXISTS: /)
  assert.equal((await cli('run', 'import', 'nothing.tar')).status, 1)
  assert.equal((await cli('run', 'export', '--with-secrets')).status, 64)
})

test('a plan says what would be run and why, with the value of each parameter and who decided it', async (t) => {
  const { directory, registry, words, cli } = await place(t)
  const plan = await cli('plan', ...words, '--env', 'HOW=badly', '--skip', 'small-use', '--reason', 'not now')
  assert.equal(plan.status, 0, plan.stderr)
  assert.match(plan.stdout, /^plan: small: 1 of 3 steps to run, a new run\n/)
  assert.match(plan.stdout, /run +small-make\n +HOW=badly {2}\(--env\)\n +WHERE=here {2}\(default\)/)
  assert.match(plan.stdout, /skip +small-use +not now/)
  assert.match(plan.stdout, /- +small-clean +nothing is taken down/)
  assert.deepEqual(await readdir(directory), ['registry'])
  await cli('run', ...words)
  const script = join(registry, 'small', 'use', 'small-use-commands.sh')
  await writeFile(script, `${await readFile(script, 'utf8')}echo more\n`)
  await cli('run', ...words, '--until', 'small-make', '--new')
  const json = await cli('run', ...words, '--dry-run', '--json', '--graph-is-no-option')
  assert.equal(json.status, 64)
  const view = JSON.parse((await cli('plan', ...words, '--json', '--graph', 'plan.svg')).stdout)
  assert.deepEqual(
    view.steps.map(({ step, doing, why }: Record<string, string>) => [step, doing, why]),
    [
      ['pre/small-make', 'keep', 'it has succeeded, and its inputs are as they were'],
      ['test/small-use', 'run', 'it has not run yet'],
      ['post/small-clean', 'leave', 'nothing is taken down; run teardown does it'],
    ],
  )
  assert.match(await readFile(join(directory, 'plan.svg'), 'utf8'), /<svg[\s\S]*small-use/)
})

test('what is missing for a workflow is said before anything is run', async (t) => {
  const { directory, registry, words, cli } = await place(t)
  const file = join(registry, 'small', 'make', 'small-make-ref.yaml')
  const { ref } = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ref: { ...ref, env: [...ref.env, { name: 'NEEDED', documentation: 'x' }] } }))
  const refused = await cli('run', ...words)
  assert.equal(refused.status, 1)
  assert.match(refused.stdout, /^not begun: 1 thing missing; nothing was run\n[\s\S]*--env NEEDED=VALUE/)
  assert.equal((await cli('plan', ...words)).status, 1)
  assert.deepEqual(await readdir(directory), ['registry'])
  assert.equal((await cli('run', ...words, '--env', 'NEEDED=1')).status, 0)
})
