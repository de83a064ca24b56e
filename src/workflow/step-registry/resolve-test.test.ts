import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LiteralStep, StepParameter } from './model.ts'
import type {
  Chain,
  Observer,
  Reference,
  RegisteredWorkflow,
  Registry,
  TestConfiguration,
  TestStep,
} from './registry.ts'
import { examineTest, examineWorkflow, resolveTest, resolveWorkflow } from './resolve-test.ts'
import { stepErrorText } from './step-error.ts'

interface Parts {
  readonly steps?: readonly (Partial<LiteralStep> & { readonly as: string })[]
  readonly chains?: Readonly<
    Record<string, { readonly steps: readonly TestStep[]; readonly env?: readonly StepParameter[] }>
  >
  readonly workflows?: Readonly<Record<string, TestConfiguration>>
  readonly observers?: readonly Observer[]
}

function registryOf({ steps = [], chains = {}, workflows = {}, observers = [] }: Parts): Registry {
  const file = (name: string) => ({ name, file: `${name}.yaml`, script: '' })
  return {
    root: '.',
    references: new Map(
      steps.map((step): [string, Reference] => [step.as, { ...file(step.as), step: { commands: '', ...step } }]),
    ),
    chains: new Map(
      Object.entries(chains).map(([name, chain]): [string, Chain] => [name, { ...file(name), ...chain }]),
    ),
    workflows: new Map(
      Object.entries(workflows).map(([name, one]): [string, RegisteredWorkflow] => [
        name,
        { ...file(name), steps: one },
      ]),
    ),
    observers: new Map(observers.map((observer) => [observer.name, { ...file(observer.name), observer }])),
    clusterProfiles: new Map([['aws', { name: 'aws' }]]),
    hasScripts: true,
    findings: [],
  }
}

function errorsOf(registry: Registry, steps: TestConfiguration): readonly string[] {
  return examineTest(registry, { name: 't', steps }).errors.map(stepErrorText)
}

const declares = (name: string, value?: string) => ({ env: [{ name, ...(value !== undefined && { default: value }) }] })

test('the outermost value wins, and says where it is from', () => {
  const registry = registryOf({
    steps: [{ as: 's', ...declares('X', 'step') }],
    chains: {
      inner: { steps: [{ ref: 's' }], env: [{ name: 'X', default: 'inner' }] },
      outer: { steps: [{ chain: 'inner' }], env: [{ name: 'X', default: 'outer' }] },
    },
    workflows: { w: { pre: [{ chain: 'outer' }], env: { X: 'workflow' } }, bare: { pre: [{ chain: 'outer' }] } },
  })
  const decided = (steps: TestConfiguration) => resolveTest(registry, { name: 't', steps }).pre[0]
  assert.deepEqual(decided({ workflow: 'w', env: { X: 'test' } })?.parameters, [
    { name: 'X', value: 'test', from: 'test', by: 't' },
  ])
  assert.deepEqual(decided({ workflow: 'w' })?.parameters, [
    { name: 'X', value: 'workflow', from: 'workflow', by: 'w' },
  ])
  assert.deepEqual(decided({ workflow: 'bare' })?.parameters, [
    { name: 'X', value: 'outer', from: 'chain', by: 'outer' },
  ])
  assert.deepEqual(decided({ pre: [{ chain: 'inner' }] })?.parameters, [
    { name: 'X', value: 'inner', from: 'chain', by: 'inner' },
  ])
  assert.deepEqual(decided({ pre: [{ ref: 's' }] })?.parameters, [{ name: 'X', value: 'step', from: 'step', by: 's' }])
  assert.deepEqual(decided({ workflow: 'w' })?.chainPath, ['outer', 'inner'])
  assert.deepEqual(decided({ workflow: 'w' })?.literal.env, [{ name: 'X', default: 'workflow' }])
  const asked = resolveWorkflow(registry, 'w', { env: { X: 'asked' } }).pre[0]
  assert.deepEqual(asked?.parameters, [{ name: 'X', value: 'asked', from: 'test', by: '--env' }])
})

test('a chain that lists a parameter without default gives nothing, and hides what inner chains give', () => {
  const registry = registryOf({
    steps: [{ as: 's', ...declares('X', 'step') }],
    chains: {
      inner: { steps: [{ ref: 's' }], env: [{ name: 'X', default: 'inner' }] },
      outer: { steps: [{ chain: 'inner' }], env: [{ name: 'X' }] },
    },
  })
  const [step] = resolveTest(registry, { name: 't', steps: { pre: [{ chain: 'outer' }] } }).pre
  assert.deepEqual(step?.parameters, [{ name: 'X', value: 'step', from: 'step', by: 's' }])
})

test('what nobody gives is an error for a test, and open for a workflow alone', () => {
  const registry = registryOf({
    steps: [{ as: 's', ...declares('X') }],
    chains: { c: { steps: [{ ref: 's' }] } },
    workflows: { w: { test: [{ chain: 'c' }] } },
  })
  assert.deepEqual(errorsOf(registry, { workflow: 'w' }), [
    'test/t: workflow/w: chain/c: step/s: unresolved parameter: X',
  ])
  assert.deepEqual(resolveWorkflow(registry, 'w').test[0]?.parameters, [
    { name: 'X', value: undefined, from: 'step', by: 's' },
  ])
  assert.deepEqual(errorsOf(registry, { workflow: 'w', env: { X: '' } }), [])
})

test('a value that no step takes is an error, but not where the step was replaced', () => {
  const registry = registryOf({
    steps: [{ as: 's', ...declares('X', '') }, { as: 'plain' }],
    chains: { c: { steps: [{ ref: 's' }] }, idle: { steps: [{ ref: 'plain' }], env: [{ name: 'Y', default: '1' }] } },
    workflows: { w: { test: [{ chain: 'c' }], env: { X: '1' } } },
  })
  assert.deepEqual(errorsOf(registry, { workflow: 'w', test: [{ ref: 'plain' }] }), [])
  assert.deepEqual(errorsOf(registry, { workflow: 'w', env: { Z: '1' } }), [
    'test/t: workflow/w: parameter "Z" is overridden in [test/t] but not declared in any step',
  ])
  assert.deepEqual(errorsOf(registry, { pre: [{ chain: 'idle' }], dependencies: { IMAGE: 'x' } }), [
    'test/t: chain/idle: parameter "Y" is overridden in [chain/idle] but not declared in any step',
    'test/t: dependency "IMAGE" is overridden in [test/t] but not declared in any step',
  ])
})

test('lists of a test replace those of the workflow, also an empty one; the rest is merged', () => {
  const dependency = { name: 'release:latest', env: 'RELEASE' }
  const registry = registryOf({
    steps: [{ as: 'a', dependencies: [dependency] }, { as: 'b' }],
    workflows: {
      w: {
        pre: [{ ref: 'a' }],
        post: [{ ref: 'b' }],
        cluster_profile: 'aws',
        dependencies: { RELEASE: 'release:initial' },
        dependency_overrides: { A: '1', B: '1' },
        leases: [{ resource_type: 'x', env: 'LEASE' }],
        allow_skip_on_success: true,
      },
    },
  })
  const steps = {
    workflow: 'w',
    post: [],
    dependency_overrides: { B: '2' },
    leases: [{ resource_type: 'y', env: 'OTHER' }],
  }
  const resolved = resolveTest(registry, { name: 't', steps })
  assert.deepEqual(resolved.post, [])
  assert.deepEqual(resolved.pre[0]?.literal.dependencies, [{ name: 'release:initial', env: 'RELEASE' }])
  assert.deepEqual(resolved.dependencyOverrides, { A: '1', B: '2' })
  assert.deepEqual(
    resolved.leases.map(({ env }) => env),
    ['LEASE', 'OTHER'],
  )
  assert.equal(resolved.clusterProfile, 'aws')
  assert.equal(resolved.allowSkipOnSuccess, true)
  const clash = { workflow: 'w', leases: [{ resource_type: 'z', env: 'LEASE' }] }
  assert.deepEqual(errorsOf(registry, clash), ['cannot override workflow environment variable for lease(s): [LEASE]'])
})

test('DNS and architecture are those of the outermost; an override for one step stands above all', () => {
  const registry = registryOf({
    steps: [{ as: 'a', node_architecture: 'arm64', dnsConfig: { searches: ['step'] } }, { as: 'b' }],
    workflows: { w: { pre: [{ ref: 'a' }, { ref: 'b' }], dnsConfig: { searches: ['workflow'] } } },
  })
  const steps = { workflow: 'w', node_architecture: 's390x', node_architecture_overrides: { b: 'ppc64le' } }
  const resolved = resolveTest(registry, { name: 't', steps })
  assert.deepEqual(
    resolved.pre.map(({ literal }) => literal.node_architecture),
    ['s390x', 'ppc64le'],
  )
  assert.deepEqual(resolved.pre[0]?.literal.dnsConfig, { searches: ['workflow'] })
  assert.equal(resolveWorkflow(registry, 'w').pre[0]?.literal.node_architecture, 'arm64')
})

test('observers are those of the steps and of the test, less those that it disables', () => {
  const registry = registryOf({
    steps: [{ as: 'a', observers: ['two', 'one'] }],
    observers: [
      { name: 'one', commands: '', ...declares('X', 'own') },
      { name: 'two', commands: '' },
    ],
  })
  const resolved = (observers: TestConfiguration['observers']) =>
    examineTest(registry, {
      name: 't',
      steps: { pre: [{ ref: 'a' }], observers, env: { X: 'test' } } as TestConfiguration,
    })
  assert.deepEqual(resolved({ disable: ['two'] }).workflow.observers, [
    { as: 'one', commands: '', env: [{ name: 'X', default: 'test' }] },
  ])
  assert.deepEqual(resolved({ enable: ['three'] }).errors.map(stepErrorText), [
    'observer "three" is referenced but no such observer is configured',
  ])
})

test('what cannot be is told in the words of ci-operator', () => {
  const registry = registryOf({
    steps: [{ as: 's' }],
    chains: { loop: { steps: [{ chain: 'pool' }] }, pool: { steps: [{ chain: 'loop' }] } },
  })
  assert.deepEqual(errorsOf(registry, { workflow: 'none' }), ['no workflow named none'])
  assert.deepEqual(
    errorsOf(registry, { pre: [{ ref: 's' }, { literal: { as: 's', commands: '' } }], post: [{ ref: 's' }] }),
    ['test/t: duplicate name: s'],
  )
  assert.deepEqual(errorsOf(registry, { pre: [{ ref: 'x' }, { chain: 'y' }, {}], cluster_profile: 'gcp' }), [
    'cluster profile gcp is not defined',
    'test/t: invalid step reference: x',
    'test/t: unknown step chain: y',
    'test/t: encountered TestStep where both `Reference` and `LiteralTestStep` are nil',
  ])
  assert.deepEqual(errorsOf(registry, { pre: [{ chain: 'loop' }] }), [
    'test/t: chain/loop: chain/pool: Cycle detected: loop is an ancestor of itself; traversedPath: [loop pool loop]',
  ])
  assert.throws(() => resolveWorkflow(registry, 'none'), {
    code: 'STEPS_UNRESOLVED',
    message: 'no workflow named none',
  })
  assert.equal(examineWorkflow(registry, 'none').errors.length, 1)
})

test('a step whose file did not load is told with the fault of that file', () => {
  const fault = {
    id: 'steps.field',
    severity: 'error',
    summary: 'unknown field "x"',
    where: { file: '/r/a/a-ref.yaml' },
  } as const
  const registry = { ...registryOf({ workflows: { w: { pre: [{ ref: 'a' }] } } }), findings: [fault] }
  assert.throws(() => resolveWorkflow(registry, 'w'), {
    message: 'workflow/w: invalid step reference: a\nunknown field "x"',
  })
})

const names = ['A', 'B', 'C'] as const
const level = fc.dictionary(fc.constantFrom(...names), fc.option(fc.constantFrom('1', '2', ''), { nil: undefined }), {
  maxKeys: 3,
})

test('in any nesting, the value is that of the outermost that names it, else the default of the step', () => {
  fc.assert(
    fc.property(level, fc.array(level, { maxLength: 5 }), level, (declared, chains, set) => {
      const given = Object.fromEntries(Object.entries(set).map(([name, value]) => [name, value ?? 'set']))
      const listOf = (values: Readonly<Record<string, string | undefined>>): StepParameter[] =>
        Object.entries(values).map(([name, value]) => ({ name, ...(value !== undefined && { default: value }) }))
      const nested = chains.map((env, index) => [
        `c${index}`,
        { env: listOf(env), steps: [index + 1 < chains.length ? { chain: `c${index + 1}` } : { ref: 's' }] },
      ])
      const registry = registryOf({ steps: [{ as: 's', env: listOf(declared) }], chains: Object.fromEntries(nested) })
      const steps = { env: given, pre: [chains.length > 0 ? { chain: 'c0' } : { ref: 's' }] }
      const { workflow, errors } = examineTest(registry, { name: 't', steps })
      const expected = Object.entries(declared).map(([name, value]) => {
        const outermost = [given, ...chains].find((values) => Object.hasOwn(values, name))
        return [name, outermost?.[name] ?? value]
      })
      const unused = new Set(
        [given, ...chains].flatMap((values) => Object.keys(values)).filter((name) => !Object.hasOwn(declared, name)),
      )
      const open = expected.filter(([, value]) => value === undefined)
      assert.deepEqual(new Set(errors.filter(({ kind }) => kind === 'unused').map(({ subject }) => subject)), unused)
      assert.deepEqual(
        errors.filter(({ kind }) => kind === 'unresolved').map(({ subject }) => subject),
        open.map(([name]) => name),
      )
      const step = workflow.pre[0]
      assert.equal(step === undefined, open.length > 0)
      if (step)
        assert.deepEqual(
          step.parameters.map(({ name, value }) => [name, value]),
          expected,
        )
    }),
  )
})

test('a test without a workflow keeps its leases as they are', () => {
  const leases = [
    { resource_type: 'x', env: 'L' },
    { resource_type: 'y', env: 'L' },
  ]
  const resolution = examineTest(registryOf({}), { name: 't', steps: { leases } })
  assert.deepEqual([resolution.errors, resolution.workflow.leases], [[], leases])
})

test('what a step with an open parameter takes besides is not told to be unused', () => {
  const registry = registryOf({ steps: [{ as: 's', ...declares('X'), dependencies: [{ name: 'cli', env: 'IMAGE' }] }] })
  assert.deepEqual(errorsOf(registry, { pre: [{ ref: 's' }], dependencies: { IMAGE: 'src' } }), [
    'test/t: step/s: unresolved parameter: X',
  ])
})
