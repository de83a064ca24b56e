import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../../../testkit/temp-dir.ts'
import { loadRegistry } from '../load-registry.ts'
import { examineTest, examineWorkflow } from '../resolve-test.ts'
import { lintRegistry, lintWorkflow } from './lint.ts'
import { type LintFinding, lintRules } from './lint-finding.ts'

/** A registry of files by their paths; the script of a step is `true` unless it is given. */
async function registryOf(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = await tempDir(t)
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  for (const [path, text] of Object.entries(files)) {
    await write(path, text)
    const script = path.replace('-ref.yaml', '-commands.sh')
    if (script !== path && files[script] === undefined) await write(script, 'true\n')
  }
  const registry = loadRegistry(root)
  assert.deepEqual(registry.findings, [])
  return registry
}

function ref(name: string, more = ''): Record<string, string> {
  const folder = name.replaceAll('-', '/')
  const text = `ref:\n  as: ${name}\n  from: cli\n  commands: ${name}-commands.sh\n${more}`
  return { [`${folder}/${name}-ref.yaml`]: text }
}

function workflow(name: string, steps: string): Record<string, string> {
  return { [`${name}/${name}-workflow.yaml`]: `workflow:\n  as: ${name}\n  steps:\n${steps}` }
}

const brief = ({ id, where }: LintFinding) => `${id}:${where?.line ?? '-'}`

test('a duration without a unit is found where it stands, and one with a unit is not', async (t) => {
  const registry = await registryOf(t, {
    ...ref('a', '  grace_period: 600\n'),
    ...ref('b', '  timeout: 2h\n  grace_period: 1m30s\n'),
  })
  const found = lintRegistry(registry)
  assert.deepEqual(found.map(brief), ['steps.duration-without-unit:5'])
  assert.match(found[0]?.summary ?? '', /grace_period is 600 nanoseconds/)
  assert.match(found[0]?.remedy ?? '', /grace_period: 600s/)
})

test('parameters are gathered by step: one finding, however many', async (t) => {
  const env =
    '  env:\n  - name: A\n  - name: B\n    documentation: b\n  - name: C\n    default: ""\n    documentation: c\n'
  const registry = await registryOf(t, ref('a', env))
  assert.deepEqual(
    lintRegistry(registry).map(({ id, occurrences, summary }) => [id, occurrences, summary]),
    [
      ['steps.required-parameter', 2, 'a: A, B have no default'],
      ['steps.undocumented-parameter', 1, 'a: A has no documentation'],
    ],
  )
})

test('best effort needs a timeout, and a trap needs grace', async (t) => {
  const registry = await registryOf(t, {
    ...ref('a', '  best_effort: true\n'),
    ...ref('b', '  best_effort: true\n  timeout: 5m\n  grace_period: 1m\n'),
    'b/b-commands.sh': 'trap cleanup EXIT\n',
    ...ref('c'),
    'c/c-commands.sh': 'trap cleanup EXIT\n',
  })
  assert.deepEqual(lintRegistry(registry).map(brief), [
    'steps.best-effort-without-timeout:5',
    'steps.trap-without-grace:4',
  ])
})

test('lines of a script are one finding a rule, with the file and line of the first', async (t) => {
  const registry = await registryOf(t, {
    ...ref('a'),
    'a/a-commands.sh': 'true\ncurl -k https://x\n\nwget x || ture\ncurl -k https://y\n',
  })
  assert.deepEqual(
    lintRegistry(registry).map(({ where, occurrences, summary }) => [
      where?.file.endsWith('a-commands.sh'),
      where?.line,
      occurrences,
      summary,
    ]),
    [
      [true, 2, 2, 'a: takes any certificate, and 1 more'],
      [true, 4, 1, 'a: ture is no command; true is'],
    ],
  )
})

test('a password in a line that is shown is taken out of it', async (t) => {
  const registry = await registryOf(t, { ...ref('a'), 'a/a-commands.sh': 'curl -k https://me:hunter2@registry.lab\n' })
  const found = lintRegistry(registry)
  assert.equal(found.length, 1)
  assert.doesNotMatch(JSON.stringify(found), /hunter2/)
})

test('a step that is written out where it is used is looked at, too', async (t) => {
  const steps = '    test:\n    - as: inline\n      from: cli\n      timeout: 30\n      commands: sleep 600\n'
  const registry = await registryOf(t, workflow('w', steps))
  assert.deepEqual(lintRegistry(registry).map(brief), ['steps.duration-without-unit:7', 'steps.blind-sleep:8'])
})

const pairSteps = { ...ref('aws-provision-key'), ...ref('aws-deprovision-key'), ...ref('aws-provision-bastionhost') }
const stacks = { ...ref('aws-deprovision-stacks'), ...ref('aws-deprovision-s3buckets') }

test('what is created has to be destroyed by its counterpart: by its name, and by the table', async (t) => {
  const registry = await registryOf(t, {
    ...pairSteps,
    ...stacks,
    ...workflow('sound', '    pre:\n    - ref: aws-provision-key\n    post:\n    - ref: aws-deprovision-key\n'),
    ...workflow(
      'leaky',
      '    pre:\n    - ref: aws-provision-key\n    - ref: aws-provision-bastionhost\n    post:\n    - ref: aws-deprovision-stacks\n',
    ),
  })
  assert.deepEqual(
    lintRegistry(registry).map(({ id, severity, summary }) => [id, severity, summary]),
    [
      [
        'steps.not-destroyed',
        'error',
        'leaky: aws-provision-bastionhost creates the S3 bucket with the Ignition config of the bastion, and nothing destroys it',
      ],
      ['steps.not-destroyed', 'warning', 'leaky: aws-provision-key creates what nothing destroys'],
    ],
  )
})

test('a counterpart of another sort of the same thing is told as what it is', async (t) => {
  const registry = await registryOf(t, {
    ...ref('baremetalds-packet-setup'),
    ...ref('ofcir-release'),
    ...workflow('w', '    pre:\n    - ref: baremetalds-packet-setup\n    post:\n    - ref: ofcir-release\n'),
  })
  assert.deepEqual(
    lintRegistry(registry).map(({ id }) => id),
    ['steps.destroyed-otherwise'],
  )
})

test('a test that empties post takes the teardown of its workflow away', async (t) => {
  const registry = await registryOf(t, {
    ...pairSteps,
    ...workflow('w', '    pre:\n    - ref: aws-provision-key\n    post:\n    - ref: aws-deprovision-key\n'),
  })
  const named = { name: 'e2e', steps: { workflow: 'w', post: [] } }
  const { workflow: resolved, configuration } = examineTest(registry, named)
  const ids = lintWorkflow(resolved, registry, configuration).map(({ id }) => id)
  assert.deepEqual(ids, ['steps.not-destroyed', 'steps.post-emptied'])
})

test('an empty post is told, and one that is left out is not', async (t) => {
  const registry = await registryOf(t, { ...workflow('a', '    post: []\n'), ...workflow('b', '    pre: []\n') })
  assert.deepEqual(lintRegistry(registry).map(brief), ['steps.post-emptied:4'])
})

const zones = (value: string) => `  env:\n  - name: ZONES\n    default: "${value}"\n    documentation: how many\n`

test('defaults that differ matter where they meet, and a workflow can decide', async (t) => {
  const both = '    pre:\n    - ref: vpc\n    - ref: conf\n'
  const steps = { ...ref('vpc', zones('3')), ...ref('conf', zones('2')) }
  const met = await registryOf(t, { ...steps, ...workflow('w', both) })
  const found = lintRegistry(met)
  assert.deepEqual(
    found.map(({ id, severity }) => [id, severity]),
    [['steps.conflicting-defaults', 'warning']],
  )
  assert.match(found[0]?.evidence ?? '', /w: "3" in vpc, "2" in conf/)
  assert.deepEqual(
    lintWorkflow(examineWorkflow(met, 'w').workflow, met).map(({ id }) => id),
    ['steps.conflicting-defaults'],
  )

  const decided = await registryOf(t, { ...steps, ...workflow('w', `${both}    env:\n      ZONES: "1"\n`) })
  assert.deepEqual(
    lintRegistry(decided).map(({ severity }) => severity),
    ['info'],
  )
  assert.deepEqual(lintWorkflow(examineWorkflow(decided, 'w').workflow, decided), [])
})

test('one workflow is told only of its own steps', async (t) => {
  const registry = await registryOf(t, {
    ...ref('a', '  grace_period: 600\n'),
    ...ref('b', '  grace_period: 600\n'),
    ...workflow('w', '    pre:\n    - ref: a\n'),
  })
  const found = lintWorkflow(examineWorkflow(registry, 'w').workflow, registry)
  assert.deepEqual(
    found.map(({ summary }) => summary),
    ['a: grace_period is 600 nanoseconds'],
  )
})

test('every rule is in docs/steps-lint.md', async () => {
  const page = await readFile(new URL('../../../../docs/steps-lint.md', import.meta.url), 'utf8')
  const told = [...page.matchAll(/^\| `(steps\.[a-z-]+)` \| (error|warning|info)/gm)].map(([, id, severity]) => [
    id,
    severity,
  ])
  assert.deepEqual(
    told,
    Object.entries(lintRules).map(([id, { severity }]) => [id, severity]),
  )
})
