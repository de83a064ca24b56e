import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkTests } from './check-test.ts'
import { readCiOperatorConfig } from './resolve-config.ts'

function faults(tests: readonly object[], more: object = {}): readonly string[] {
  const config = readCiOperatorConfig('config.yaml', JSON.stringify({ ...more, tests }))
  return checkTests(config).map(({ summary }) => summary)
}

const literal = { as: 'one', from: 'src', commands: 'make', resources: { requests: { cpu: '10m' } } }

test('a sound test has no fault', () => {
  assert.deepEqual(
    faults([{ as: 'e2e', steps: { workflow: 'w', pre: [{ ref: 'a' }], test: [literal], post: [] } }]),
    [],
  )
})

test('the name of a test has to fit into those of the objects made for it', () => {
  const long = 'a'.repeat(50)
  assert.deepEqual(faults([{ as: 'x'.repeat(62) }, { as: long, cluster_claim: {} }, { as: long }]), [
    `tests: found duplicated test: (${long})`,
    'tests[0].as: 62 characters long, maximum length is 61',
    'tests[1].as: 50 characters long, maximum length is 42 for tests with claims',
  ])
  assert.deepEqual(faults([{ as: 'images' }, { as: 'ci-index-x' }, { as: 'A_b' }, { as: 'a.b', steps: {} }, {}]), [
    "tests[0].as: should not be called 'images' because it gets confused with '[images]' target",
    "tests[1].as: should not begin with 'ci-index' because it gets confused with 'ci-index' and `ci-index-...` targets",
    "tests[2].as: 'A_b' is not a valid Kubernetes object name",
    "tests[3].as: 'a.b' is not a valid name, the following chars '.' are forbidden",
    'tests[4].as: is required',
  ])
})

test('each place of a list holds one thing, and no name stands twice', () => {
  const steps = {
    pre: [{ ref: 'a', chain: 'b' }, {}, { ref: 'a' }, { chain: '' }, { ...literal, optional_on_success: true }],
    post: [{ ref: 'a' }, { ...literal, as: 'two', optional_on_success: true, env: [{ name: 'X' }, { name: 'Y' }] }],
    env: { Y: '1' },
    leases: [
      { resource_type: 'x', env: 'L' },
      { resource_type: 'y', env: 'L' },
    ],
  }
  assert.deepEqual(faults([{ as: 'e2e', timeout: '72h1m', steps }]), [
    'tests[0]: job timeout is limited to 72h0m0s',
    'tests[0].leases[1]: duplicate environment variable: L',
    'tests[0].pre[0]: only one of `ref`, `chain`, or a literal test step can be set',
    'tests[0].pre[1]: a reference, chain, or literal test step is required',
    'tests[0].pre[3].chain: length cannot be 0',
    'tests[0].pre[4]: `optional_on_success` is only allowed for Post steps',
    'tests[0].post[0].ref: duplicated name "a"',
    'tests[0].post[1]: unresolved parameter(s): [X]',
  ])
})

test('an image of a release is known where the config has that release', () => {
  const steps = { test: [{ ...literal, from: 'stable-custom:cli' }] }
  assert.deepEqual(faults([{ as: 'e2e', steps }], { releases: { custom: {} } }), [])
  assert.deepEqual(faults([{ as: 'e2e', steps }]), ["tests[0].test[0].from: unknown imagestream 'stable-custom'"])
})

test('what a test does not say is not asked, and what its steps lease is leased once', () => {
  const open = { ...literal, env: [{ name: 'X' }] }
  assert.deepEqual(faults([{ as: 'e2e', steps: { test: [open] } }]), [])
  assert.deepEqual(faults([{ as: 'e2e', steps: { test: [open], env: {} } }]), [
    'tests[0].test[0]: unresolved parameter(s): [X]',
  ])
  const leases = [{ resource_type: 'x', env: 'L' }]
  assert.deepEqual(faults([{ as: 'e2e', steps: { leases, test: [{ ...literal, leases }] } }]), [
    'tests[0].test[0].leases[0]: duplicate environment variable: L',
  ])
})

test('a shard, a second cluster and minutes beyond three days are told, and a claimed release is known', () => {
  const from = { ...literal, from: 'stable-mine:cli' }
  assert.deepEqual(
    faults([
      { as: 'e2e-1of2', timeout: '4320m' },
      { as: 'a', timeout: '4321m', cluster_claim: { as: 'mine' }, steps: { cluster_profile: 'aws', test: [from] } },
    ]),
    [
      "tests[0].as: 'e2e-1of2' ends with a shard suffix (e.g. -1of2) which is reserved for infrastructure use and will be stripped from the test name during rehearsals",
      'tests[1]: job timeout is limited to 72h0m0s',
      'tests[1] installs more than one cluster, probably it defined both cluster_claim and cluster_profile',
    ],
  )
})
