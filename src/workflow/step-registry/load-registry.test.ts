import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { partFile, type RegistryFiles, referenceFiles, writeRegistry } from '../../../testkit/step-registry.ts'
import { type Cleanup, tempDir } from '../../../testkit/temp-dir.ts'
import { type LoadRegistryOptions, loadRegistry } from './load-registry.ts'

async function load(t: Cleanup, files: RegistryFiles, options: LoadRegistryOptions = {}) {
  const root = await writeRegistry(t, files)
  const registry = loadRegistry(root, options)
  const faults = registry.findings.map(({ summary, where }) => {
    const file = where ? relative(root, where.file) : ''
    return `${file}:${where?.line}:${where?.column}: ${summary}`
  })
  return { registry, faults }
}

test('a reference, a chain and a workflow of one name stand side by side, and scripts are read', async (t) => {
  const { registry, faults } = await load(t, {
    ...referenceFiles('ipi-install', { script: 'echo hi\n' }),
    ...partFile('chain', 'ipi-install', '  steps:\n  - ref: ipi-install\n'),
    ...partFile('workflow', 'ipi-install', '  steps:\n    pre:\n    - chain: ipi-install\n'),
    'ipi/OWNERS': 'approvers: [me]\n',
    'README.md': 'read me\n',
  })
  assert.deepEqual(faults, [])
  assert.equal(registry.references.get('ipi-install')?.step.commands, 'echo hi\n')
  assert.deepEqual(registry.chains.get('ipi-install')?.steps, [{ ref: 'ipi-install' }])
  assert.deepEqual(registry.workflows.get('ipi-install')?.steps, { pre: [{ chain: 'ipi-install' }] })
})

test('a compressed script is inlined as its text', async (t) => {
  const { registry } = await load(t, referenceFiles('one', { script: gzipSync('echo packed\n') }))
  assert.equal(registry.references.get('one')?.step.commands, 'echo packed\n')
})

test('every fault of every file is told at once, with its place', async (t) => {
  const { faults } = await load(t, {
    ...referenceFiles('a-b', { more: '  comands: x\n  timeout: soon\n' }),
    ...referenceFiles('a-c', { more: '  as: again\n' }),
    'a/d/a-x-ref.yaml': 'ref:\n  as: a-x\n',
    'a/d/a-d-x-ref.yaml': 'ref:\n  as: a-d\n  commands: a-d-commands.sh\n',
    'a/d/a-d-ref.yaml': 'ref:\n  as: other\n',
    'a/d/a-d-chain.yaml': 'chain:\n  as: a-d\n  steps: 3\n',
    'a/d/a-d.txt': '',
    'a/d/a-d-workflow.yaml': 'workflow:\n  as: a-d\n  steps:\n    workflow: other\n',
    'a/e/a-e-ref.yaml': 'ref:\n  as: a-e\n  commands: run.sh\n',
    'a/f/a-f-ref.yaml': 'ref:\n  as: a-f\n  commands: a-f-commands.py\n',
  })
  const failed = (file: string) => `failed to load registry file ${file}`
  const json = 'error unmarshaling JSON: while decoding JSON: json'
  assert.deepEqual(faults, [
    `a/b/a-b-ref.yaml:8:3: ${failed('a/b/a-b-ref.yaml')}: ${json}: unknown field "comands"`,
    `a/b/a-b-ref.yaml:9:3: ${failed('a/b/a-b-ref.yaml')}: time: invalid duration "soon"`,
    `a/c/a-c-ref.yaml:8:3: ${failed('a/c/a-c-ref.yaml')}: error converting YAML to JSON: yaml: line 8: key "as" already set in map`,
    `a/d/a-d-chain.yaml:3:3: ${failed('a/d/a-d-chain.yaml')}: ${json}: cannot unmarshal number into field chain.steps of type list`,
    'a/d/a-d-ref.yaml:2:3: name of reference in file a/d/a-d-ref.yaml should be a-d',
    `a/d/a-d-workflow.yaml:4:5: ${failed('a/d/a-d-workflow.yaml')}: workflows cannot contain other workflows`,
    'a/d/a-d-x-ref.yaml:2:3: filename a-d-x-ref.yaml does not match name of reference; filename should be a-d-ref.yaml',
    'a/d/a-d.txt:1:1: invalid file name: a/d/a-d.txt',
    'a/d/a-x-ref.yaml:1:1: file a/d/a-x-ref.yaml has incorrect prefix. Prefix should be a-d',
    `a/e/a-e-ref.yaml:3:3: ${failed('a/e/a-e-ref.yaml')}: reference a-e has invalid command file path; command should be set to a-e-commands (with an optional extension like .sh)`,
    `a/f/a-f-ref.yaml:3:3: ${failed('a/f/a-f-ref.yaml')}: open a/f/a-f-commands.py: no such file or directory`,
  ])
})

test('what is no file, and what stands where it means nothing, is told as ci-tools tells it', async (t) => {
  const { faults } = await load(t, {
    'a/a-ref.yaml': 'ref:\n  as: a\n  commands: a-commands.sh\n',
    'a/a-commands.sh/README.md': '',
    'a/VERSION': '1',
    'b/b-observer.yaml': 'observer:\n  name: b\n  commands: run.sh\n',
    'cluster-profiles/cluster-profiles-config.yaml': 'cluster_profiles: aws\n',
  })
  assert.deepEqual(
    faults.map((line) => line.replace(/\/\S+(?=\/cluster-profiles\/)/, '')),
    [
      'a/VERSION:1:1: file a/VERSION has incorrect prefix. Prefix should be a',
      'a/a-ref.yaml:3:3: failed to load registry file a/a-ref.yaml: read a/a-commands.sh: is a directory',
      'b/b-observer.yaml:3:3: observer b has invalid command file path; command should be set to b-commands (with an optional extension like .sh)',
      'cluster-profiles/cluster-profiles-config.yaml:1:1: unmarshal file /cluster-profiles/cluster-profiles-config.yaml: json: cannot unmarshal string into field cluster_profiles of type list',
    ],
  )
})

test('without scripts, commands stays the name of the file and nothing is missing', async (t) => {
  const { registry, faults } = await load(
    t,
    { 'one/one-ref.yaml': 'ref:\n  as: one\n  commands: one-commands.sh\n' },
    { withoutScripts: true },
  )
  assert.deepEqual(faults, [])
  assert.equal(registry.hasScripts, false)
  assert.equal(registry.references.get('one')?.step.commands, 'one-commands.sh')
})

test('a flat registry is one directory, and what Kubernetes mounts beside it is left out', async (t) => {
  const flat = Object.entries(referenceFiles('a-b')).map(
    ([path, text]) => [path.split('/').at(-1) ?? '', text] as const,
  )
  const files = { ...Object.fromEntries(flat), '..data/a-b-ref.yaml': 'no: registry\n' }
  const { registry, faults } = await load(t, files, { flat: true })
  assert.deepEqual(faults, [])
  assert.deepEqual([...registry.references.keys()], ['a-b'])
})

test('scalars without quotes are read as go-yaml reads them', async (t) => {
  const values = [
    '4.10',
    'yes',
    '010',
    '',
    '1e6',
    '18446744073709551615',
    '1_000.5',
    '1234567.5',
    '0x_1F',
    '2020-01-01',
  ]
  const env = values.map((value, index) => `  - name: E${index}\n    default: ${value}\n`)
  const { registry } = await load(t, partFile('chain', 'one', `  steps: []\n  env:\n${env.join('')}`))
  assert.deepEqual(
    registry.chains.get('one')?.env?.map(({ default: value }) => value),
    ['4.1', 'true', '8', undefined, '1e+06', '18446744073709551615', '1000.5', '1.2345675e+06', '31', '2020-01-01'],
  )
})

test('within a step a text that is no text is an error, as in ci-tools: there nothing is made a text', async (t) => {
  const more = '  env:\n  - name: A\n    default: 3\n  - name: B\n    default: "3"\n  observers: [yes]\n'
  const literal = '  steps:\n  - as: two\n    env:\n    - name: A\n      default: 0777\n  - ref: 5\n'
  const { faults } = await load(t, { ...referenceFiles('one', { more }), ...partFile('chain', 'two', literal) })
  const into = (file: string, what: string) =>
    `failed to load registry file ${file}: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} of type string (write it in quotes)`
  assert.deepEqual(faults, [
    `one/one-ref.yaml:10:5: ${into('one/one-ref.yaml', 'number into field ref.env.0.default')}`,
    `one/one-ref.yaml:13:15: ${into('one/one-ref.yaml', 'bool into field ref.observers.0')}`,
    `two/two-chain.yaml:7:7: ${into('two/two-chain.yaml', 'number into field chain.steps.0.env.0.default')}`,
  ])
})

test('bytes that are no UTF-8 are a fault of the YAML, and none of a script', async (t) => {
  const { faults } = await load(t, {
    ...referenceFiles('one', { script: Buffer.from([0xff, 0x0a]) }),
    'two/two-chain.yaml': Buffer.from('chain:\n  as: two\n  documentation: \xff\n', 'latin1'),
  })
  const words = 'failed to load registry file two/two-chain.yaml: error converting YAML to JSON: yaml: invalid UTF-8'
  assert.deepEqual(faults, [`two/two-chain.yaml:1:1: ${words}`])
})

test('a list that is there but empty is kept: it takes the place of another', async (t) => {
  const { registry } = await load(t, partFile('workflow', 'one', '  steps:\n    post: []\n    pre:\n'))
  assert.deepEqual(registry.workflows.get('one')?.steps, { post: [] })
})

test('cluster profiles are read from their file, and nothing else of that folder is', async (t) => {
  const { registry, faults } = await load(t, {
    'cluster-profiles/cluster-profiles-config.yaml':
      'cluster_profiles:\n- name: aws\n  cluster_type: aws\n  lease_type: aws-quota-slice\n  owners: [{org: x}]\n',
    'cluster-profiles/anything.txt': '',
  })
  assert.deepEqual(faults, [])
  assert.deepEqual(
    [...(registry.clusterProfiles ?? [])],
    [['aws', { name: 'aws', cluster_type: 'aws', lease_type: 'aws-quota-slice' }]],
  )
})

test('a directory that is not there is said to be absent', async (t) => {
  const root = await tempDir(t)
  assert.throws(() => loadRegistry(`${root}/none`), { code: 'FILE_UNREADABLE', message: /there is no such directory/ })
})
