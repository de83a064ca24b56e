import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printedConfiguration, printedStep } from './printed-literal.ts'
import type { RegisteredWorkflow, Registry } from './registry.ts'
import { examineWorkflow } from './resolve-test.ts'

test('durations are printed as Go prints them, and a number is nanoseconds', () => {
  const printed = (timeout: string | number) => printedStep({ as: 's', commands: '', timeout })['timeout']
  const durations: readonly (readonly [string | number, string])[] = [
    ['10m', '10m0s'],
    ['1h', '1h0m0s'],
    ['1.5h', '1h30m0s'],
    ['90s', '1m30s'],
    ['1h0m0.25s', '1h0m0.25s'],
    ['1500ms', '1.5s'],
    ['20ms', '20ms'],
    ['3us', '3µs'],
    ['-1m', '-1m0s'],
    ['0', '0s'],
    [600, '600ns'],
    [60_000_000_000, '1m0s'],
  ]
  for (const [written, wanted] of durations) assert.equal(printed(written), wanted, String(written))
})

test('what is empty is left out, and resources never are', () => {
  const step = { as: 's', commands: '', from: 'cli', nested_podman: false, best_effort: false, env: [], leases: [] }
  assert.equal(JSON.stringify(printedStep(step)), '{"as":"s","from":"cli","resources":{},"best_effort":false}')
  const inner = { dnsConfig: { nameservers: [] }, leases: [{ resource_type: 'x', env: 'L', count: 0 }] }
  assert.equal(
    JSON.stringify(printedStep({ as: 's', commands: '', ...inner })),
    '{"as":"s","resources":{},"dnsConfig":{},"leases":[{"resource_type":"x","env":"L"}]}',
  )
})

test('of a parameter an empty default is a value, an empty text about it is nothing', () => {
  const env = [{ name: 'X', default: '', documentation: '' }]
  const credentials = [{ namespace: 'ns', name: 's', mount_path: '/a', bundle: '' }]
  assert.deepEqual(printedStep({ as: 's', commands: '', env, credentials }), {
    as: 's',
    resources: {},
    credentials: [{ namespace: 'ns', name: 's', mount_path: '/a' }],
    env: [{ name: 'X', default: '' }],
  })
})

test('a switch that is set to false is printed, one that is not set is not', () => {
  const steps = {
    allow_skip_on_success: false,
    cluster_profile: 'aws',
    pre: [{ literal: { as: 's', commands: 'true' } }],
  }
  const workflow: RegisteredWorkflow = { name: 'w', file: 'w.yaml', steps }
  const empty = { references: new Map(), chains: new Map(), observers: new Map(), clusterProfiles: undefined }
  const registry: Registry = {
    ...empty,
    root: '.',
    workflows: new Map([['w', workflow]]),
    hasScripts: true,
    findings: [],
  }
  assert.deepEqual(printedConfiguration(examineWorkflow(registry, 'w')), {
    cluster_profile_literal: { name: 'aws' },
    pre: [{ as: 's', commands: 'true', resources: {} }],
    allow_skip_on_success: false,
  })
})
