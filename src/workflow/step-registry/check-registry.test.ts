import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { test } from 'node:test'
import { partFile, type RegistryFiles, referenceFiles, writeRegistry } from '../../../testkit/step-registry.ts'
import type { Cleanup } from '../../../testkit/temp-dir.ts'
import { checkRegistry } from './check-registry.ts'
import { loadRegistry } from './load-registry.ts'

async function check(t: Cleanup, files: RegistryFiles): Promise<readonly string[]> {
  const root = await writeRegistry(t, files)
  return checkRegistry(loadRegistry(root)).map(
    ({ id, summary, where }) => `${where ? relative(root, where.file) : ''}:${where?.line} ${id} ${summary}`,
  )
}

test('a sound registry has no finding', async (t) => {
  const files = {
    ...referenceFiles('one', { more: '  env:\n  - name: X\n' }),
    ...partFile('chain', 'two', '  steps:\n  - ref: one\n'),
    ...partFile('workflow', 'three', '  steps:\n    pre:\n    - chain: two\n    env:\n      X: value\n'),
  }
  assert.deepEqual(await check(t, files), [])
})

test('every name that leads nowhere is told once, where it stands', async (t) => {
  const files = {
    ...partFile('chain', 'two', '  steps:\n  - ref: none\n  - chain: nothing\n  env:\n  - name: X\n    default: y\n'),
    ...partFile(
      'workflow',
      'three',
      '  steps:\n    observers:\n      enable:\n      - nobody\n    pre:\n    - chain: two\n    - ref: missing\n',
    ),
  }
  assert.deepEqual(await check(t, files), [
    'two/two-chain.yaml:4 steps.dangling Chain two contains non-existent reference none',
    'two/two-chain.yaml:5 steps.dangling Chain two contains non-existent chain nothing',
    'three/three-workflow.yaml:6 steps.dangling Workflow three contains non-existent observer nobody',
    'three/three-workflow.yaml:9 steps.dangling Workflow three contains non-existent reference missing',
  ])
})

test('a name whose file does not load is not said to be missing too', async (t) => {
  const files = { 'one/one-ref.yaml': 'ref: 3\n', ...partFile('chain', 'two', '  steps:\n  - ref: one\n') }
  const [only, ...others] = await check(t, files)
  assert.match(only ?? '', /^one\/one-ref.yaml:1 steps.field failed to load registry file one\/one-ref.yaml/)
  assert.deepEqual(others, [])
})

test('a fault of a chain is told at the chain, and not again for all that use it', async (t) => {
  const files = {
    ...referenceFiles('one'),
    ...partFile('chain', 'two', '  steps:\n  - ref: one\n  - ref: one\n  env:\n  - name: X\n    default: y\n'),
    ...partFile('chain', 'four', '  steps:\n  - chain: two\n'),
    ...partFile('workflow', 'three', '  steps:\n    pre:\n    - chain: four\n    env:\n      Z: "1"\n'),
  }
  assert.deepEqual(await check(t, files), [
    'two/two-chain.yaml:5 steps.duplicate chain/two: duplicate name: one',
    'two/two-chain.yaml:7 steps.unused chain/two: parameter "X" is overridden in [chain/two] but not declared in any step',
    'three/three-workflow.yaml:7 steps.unused workflow/three: parameter "Z" is overridden in [workflow/three] but not declared in any step',
  ])
})

test('a circle of chains is told, and ends', async (t) => {
  const files = {
    ...partFile('chain', 'a', '  steps:\n  - chain: b\n'),
    ...partFile('chain', 'b', '  steps:\n  - chain: a\n'),
  }
  const words = (name: string, path: string) =>
    `Cycle detected: ${name} is an ancestor of itself; traversedPath: [${path}]`
  assert.deepEqual(await check(t, files), [
    `b/b-chain.yaml:4 steps.cycle chain/a: chain/b: ${words('a', 'a b a')}`,
    `a/a-chain.yaml:4 steps.cycle chain/b: chain/a: ${words('b', 'b a b')}`,
  ])
})

test('each step is held against what a step has to be', async (t) => {
  const files = {
    ...referenceFiles('a', { script: 'trap "echo bye" EXIT\n' }),
    ...referenceFiles('b', { more: '  best_effort: true\n  node_architecture: vax\n' }),
    ...referenceFiles('c', {
      more: '  credentials:\n  - name: x\n    mount_path: tmp\n  - namespace: ns\n    name: sec\n    mount_path: /a/b\n  - namespace: ns\n    name: other\n    mount_path: /a\n',
    }),
    ...referenceFiles('d', {
      more: '  dependencies:\n  - name: a:b:c\n    env: X\n  - name: a\n    env: X\n  leases:\n  - env: Z\n',
    }),
    ...referenceFiles('e', { script: '', more: '  from_image:\n    namespace: ocp\n' }),
  }
  const found = (await check(t, files)).map((line) => line.replace(/^\S+ steps.step /, ''))
  assert.deepEqual(found, [
    'test `a` has `commands` containing `trap` command, but test step is missing grace_period',
    'test b contains best_effort without timeout',
    'b.nodeArchitecture: invalid node architecture vax, expected one of amd64, arm64, s390x or ppc64le',
    'c.credentials[0]: `namespace` is required',
    'c.credentials[0].mountPath is not absolute: tmp',
    "c.credentials[0] could not check relative path to credentials[1] (Rel: can't make tmp relative to /a/b)",
    "c.credentials[0] could not check relative path to credentials[2] (Rel: can't make tmp relative to /a)",
    'c.credentials[1] mounts at /a/b, which is under credentials[2] (/a)',
    'd.dependencies[0].name must take the `tag` or `stream:tag` form, not "a:b:c"',
    'd.dependencies[1].env targets an environment variable that is already set by another dependency',
    "d.leases[0]: 'resource_type' cannot be empty",
    'e: `from` and `from_image` cannot be set together',
    'e: `commands` is required',
  ])
})

test('a value that only an observer takes is not taken, and what a test may still name is a warning', async (t) => {
  const files = {
    ...referenceFiles('one', { more: '  observers: [gone]\n' }),
    'two/two-observer.yaml':
      'observer:\n  name: two\n  from: cli\n  commands: two-commands.sh\n  resources: {requests: {cpu: 10m}}\n  env:\n  - name: X\n',
    'two/two-commands.sh': 'true\n',
    ...partFile(
      'workflow',
      'three',
      '  steps:\n    cluster_profile: none\n    pre:\n    - ref: one\n    observers:\n      enable: [two]\n    env:\n      X: value\n',
    ),
    'cluster-profiles/cluster-profiles-config.yaml': 'cluster_profiles: []\n',
  }
  const root = await writeRegistry(t, files)
  const found = checkRegistry(loadRegistry(root)).map(({ severity, summary }) => `${severity} ${summary}`)
  assert.deepEqual(found, [
    'warning cluster profile none is not defined',
    'warning observer "gone" is referenced but no such observer is configured',
    'error workflow/three: parameter "X" is overridden in [workflow/three] but not declared in any step',
  ])
})

test('what stands beside ref or chain is ignored by ci-operator, and that is told', async (t) => {
  const files = {
    ...referenceFiles('one', { more: '  env:\n  - name: X\n    default: a\n' }),
    ...partFile('chain', 'two', '  steps:\n  - ref: one\n    env:\n    - name: X\n      default: b\n'),
  }
  assert.deepEqual(await check(t, files), [
    'two/two-chain.yaml:4 steps.ignored-fields chain/two: steps[0]: only `ref: one` counts; what stands beside it is ignored',
  ])
})
