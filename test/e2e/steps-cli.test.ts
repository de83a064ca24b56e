/** `sallyport steps`: a step registry listed, shown, resolved and validated. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../testkit/run-cli.ts'
import { partFile, referenceFiles, writeRegistry } from '../../testkit/step-registry.ts'

const files = {
  ...referenceFiles('ipi-conf', {
    script: 'echo "$REGION"\n',
    more: '  env:\n  - name: REGION\n    documentation: Where it is.\n  documentation: Writes the install-config.\n',
  }),
  ...referenceFiles('ipi-install', { more: '  grace_period: 10m\n' }),
  ...partFile('chain', 'ipi-pre', '  steps:\n  - ref: ipi-conf\n  - ref: ipi-install\n'),
  ...partFile(
    'workflow',
    'ipi',
    '  steps:\n    pre:\n    - chain: ipi-pre\n    env:\n      REGION: north\n  documentation: All of it.\n',
  ),
  'ipi/OWNERS': 'approvers:\n- someone\n',
}

const config = `tests:
- as: unit
  commands: make
  container:
    from: src
- as: e2e
  steps:
    workflow: ipi
    env:
      REGION: south
    test:
    - as: check
      from: cli
      commands: oc get nodes
      resources:
        requests:
          cpu: 10m
`

async function steps(t: TestContext, ...args: readonly string[]) {
  const root = await writeRegistry(t, files)
  await writeFile(join(root, 'config.md'), config)
  const result = await runCli(['steps', ...args, '--registry', root])
  return { ...result, root, json: () => JSON.parse(result.stdout) as Record<string, unknown> }
}

test('ls lists what there is, by kind and by words', async (t) => {
  const all = await steps(t, 'ls')
  assert.equal(all.status, 0, all.stderr)
  assert.match(all.stdout, /^ref +ipi-conf +Writes the install-config\.$/m)
  assert.match(all.stdout, /^4 parts$/m)
  const some = await steps(t, 'ls', '--kind', 'workflow', '--search', 'all OF', '--json')
  assert.deepEqual(some.json()['parts'], [
    { kind: 'workflow', name: 'ipi', file: join(some.root, 'ipi/ipi-workflow.yaml'), documentation: 'All of it.' },
  ])
})

test('show tells documentation, parameters, script, owners and who uses it', async (t) => {
  const { status, stdout, stderr } = await steps(t, 'show', 'ipi-conf')
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^Writes the install-config\.$/m)
  assert.match(stdout, /^REGION +\(required\) +Where it is\.$/m)
  assert.match(stdout, /^approvers {2}someone$/m)
  assert.match(stdout, /^used by 2\n {2}chain\/ipi-pre\n {2}workflow\/ipi$/m)
  assert.match(stdout, /^script\necho "\$REGION"$/m)
  const absent = await steps(t, 'show', 'chain/ipi-conf')
  assert.equal(absent.status, 1)
  assert.match(absent.stderr, /no chain named ipi-conf/)
})

test('resolve prints the steps in their order, and who decided each value', async (t) => {
  const human = await steps(t, 'resolve', 'ipi')
  assert.equal(human.status, 0, human.stderr)
  assert.match(
    human.stdout,
    /^ {4}1 {2}ipi-conf +ipi-pre\n +REGION {2}north {2}workflow\/ipi\n {4}2 {2}ipi-install +ipi-pre$/m,
  )
  const { status, json } = await steps(t, 'resolve', 'ipi', '--env', 'REGION=east', '--json')
  assert.equal(status, 0)
  const { resolved, provenance, errors } = json() as Record<string, Record<string, readonly unknown[]>>
  assert.deepEqual(errors, [])
  assert.deepEqual(resolved?.['pre']?.[1], {
    as: 'ipi-install',
    from: 'cli',
    commands: 'true\n',
    resources: { requests: { cpu: '10m' } },
    grace_period: '10m0s',
  })
  assert.deepEqual(provenance?.['pre']?.[0], {
    as: 'ipi-conf',
    chain_path: ['ipi-pre'],
    parameters: [{ name: 'REGION', value: 'east', from: 'test', by: '--env' }],
  })
})

test('resolve takes a test of a ci-operator config, or all of them', async (t) => {
  const root = await writeRegistry(t, files)
  const file = join(root, 'config.md')
  await writeFile(file, config)
  const common = ['steps', 'resolve', '--registry', root, '--config', file]
  const one = await runCli([...common, '--test', 'e2e'])
  assert.equal(one.status, 0, one.stderr)
  assert.match(one.stdout, /REGION {2}south {2}test\/e2e/)
  const all = await runCli([...common, '--json'])
  const { tests } = JSON.parse(all.stdout) as { tests: readonly Record<string, { test: readonly object[] }>[] }
  assert.deepEqual(
    tests.map((entry) => Object.keys(entry)),
    [
      ['as', 'commands', 'container'],
      ['as', 'literal_steps'],
    ],
  )
  assert.equal(tests[1]?.['literal_steps']?.test.length, 1)
  const unknown = await runCli([...common, '--test', 'unit'])
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /no test named unit with steps(?:.|\n)*It has: e2e\./)
})

test('resolve ends with 1 where a value is missing, and with 64 where it is not said of what', async (t) => {
  const missing = await steps(t, 'resolve', 'ipi', '--env', 'NOBODY=1')
  assert.equal(missing.status, 1)
  assert.match(
    missing.stdout,
    /error: workflow\/ipi: parameter "NOBODY" is overridden in \[workflow\/ipi\] but not declared in any step/,
  )
  assert.equal((await steps(t, 'resolve')).status, 64)
  assert.equal((await steps(t, 'resolve', 'nothing')).status, 1)
})

test('validate is silent about a sound registry, and lists every fault of another with its place', async (t) => {
  const sound = await steps(t, 'validate')
  assert.equal(sound.status, 0)
  assert.equal(sound.stdout, 'valid: no error: 2 steps, 1 chain, 1 workflow, 0 observers\n')
  const root = await writeRegistry(t, {
    ...files,
    ...partFile('chain', 'bad', '  steps:\n  - ref: none\n  stps: []\n'),
  })
  const { status, stdout } = await runCli(['steps', 'validate', '--registry', root], { cwd: root })
  assert.equal(status, 1)
  assert.match(stdout, /^not valid: 1 error: .*\nbad\/bad-chain\.yaml:5:3: error: .*unknown field "stps"\n$/)
  const json = await runCli(['steps', 'validate', '--registry', root, '--json'])
  assert.equal((JSON.parse(json.stdout) as { findings: readonly unknown[] }).findings.length, 1)
})

test('a name that is not there brings the nearest one', async (t) => {
  const wrong = [
    ['resolve', 'ipo'],
    ['graph', 'ipo'],
    ['export', 'ipo', '--to', 'shell'],
    ['show', 'workflow/ipo'],
  ]
  for (const words of wrong) {
    const { status, stderr } = await steps(t, ...words)
    assert.equal(status, 1)
    assert.match(stderr, /no workflow named ipo; did you mean ipi\?/, words.join(' '))
  }
})

test('an export without the scripts is refused, since it would run the names of their files', async (t) => {
  const { status, stdout, stderr } = await steps(t, 'export', 'ipi', '--to', 'shell', '--without-scripts')
  assert.equal(status, 64)
  assert.equal(stdout, '')
  assert.match(stderr, /An export is made of the scripts/)
})

test('the checkout around a registry is told from the registry', async (t) => {
  const within = Object.entries(files).map(([path, text]) => [`ci-operator/step-registry/${path}`, text])
  const root = await writeRegistry(t, Object.fromEntries(within))
  for (const words of [
    ['steps', 'ls'],
    ['steps', 'validate'],
    ['run', 'ipi'],
  ]) {
    const { status, stderr } = await runCli([...words, '--registry', root])
    assert.equal(status, 78, words.join(' '))
    assert.ok(stderr.includes(`next: Name the directory within: --registry ${root}/ci-operator/step-registry.`), stderr)
  }
})

test('a directory that is no registry is said to be none', async (t) => {
  const root = await writeRegistry(t, { 'a/b.txt': '' })
  const { status, stderr } = await runCli(['steps', 'ls', '--registry', root])
  assert.equal(status, 78)
  assert.match(stderr, /holds no step, chain, workflow or observer that loads/)
})
