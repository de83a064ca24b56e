/** What the end-to-end tests of ci-tools run on a cluster, run here. Their files are not part of this repository. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { junitOf } from '../../src/workflow/registry-run/junit.ts'
import { preflight } from '../../src/workflow/registry-run/preflight.ts'
import { loadRegistry } from '../../src/workflow/step-registry/load-registry.ts'
import type { ResolvedStep, ResolvedWorkflow } from '../../src/workflow/step-registry/model.ts'
import { readCiOperatorConfig } from '../../src/workflow/step-registry/resolve-config.ts'
import { resolveTest } from '../../src/workflow/step-registry/resolve-test.ts'
import { registryTrial } from '../../testkit/registry-run.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const fixtures = '../shared/data/step-registry/ci-tools-fixtures/test/e2e'

interface Wanted {
  /** Of the registry, below the fixtures; none: the tests refer to nothing. */
  readonly registry?: string
  readonly config: string
  readonly test: string
}

/** undefined after the test was marked as skipped. */
async function fixture(
  t: TestContext,
  { registry, config, test: name }: Wanted,
): Promise<ResolvedWorkflow | undefined> {
  if (!existsSync(fixtures)) {
    t.skip(`${fixtures} is not here`)
    return undefined
  }
  const file = join(fixtures, config)
  const { tests } = readCiOperatorConfig(file, readFileSync(file, 'utf8'))
  const named = tests.find((each) => each.name === name)?.resolvable
  assert.ok(named, name)
  return resolveTest(loadRegistry(registry === undefined ? await tempDir(t) : join(fixtures, registry)), named)
}

const multiStage = { registry: 'multi-stage/registry', config: 'multi-stage/config.yaml' }

for (const name of ['run-as-script', 'without-references', 'with-references', 'skip-on-success', 'shm-increase']) {
  test(`multi-stage ${name} succeeds`, async (t) => {
    const resolved = await fixture(t, { ...multiStage, test: name })
    if (resolved === undefined) return
    const outcome = await (await registryTrial(t)).run(resolved)
    assert.equal(outcome.outcome, 'succeeded', outcome.why)
  })
}

test('multi-stage timeout ends a step that takes longer than it may', async (t) => {
  const resolved = await fixture(t, { ...multiStage, test: 'timeout' })
  if (resolved === undefined) return
  const outcome = await (await registryTrial(t)).run(changed(resolved, (step) => ({ ...step, timeout: '500ms' })))
  assert.equal(outcome.state.steps.get('test/timeout')?.status, 'timed-out')
  assert.match(junitOf(outcome.state), /exceeded the configured timeout/)
})

test('multi-stage with-credentials is refused before it runs, where they are not there', async (t) => {
  const resolved = await fixture(t, { ...multiStage, test: 'with-credentials' })
  if (resolved === undefined) return
  const findings = await preflight(resolved, { path: '' })
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['run.credential-absent'],
  )
})

for (const [name, wanted] of [
  ['best-effort-success', 'succeeded'],
  ['best-effort-failure', 'failed'],
] as const) {
  test(`multi-stage ${name} has ${wanted}`, async (t) => {
    const resolved = await fixture(t, { config: 'multi-stage/best-effort.yaml', test: name })
    if (resolved === undefined) return
    assert.equal((await (await registryTrial(t)).run(resolved)).outcome, wanted)
  })
}

for (const [name, leases] of [
  ['success', { LEASED_RESOURCE: 'us-east-1' }],
  ['configurable-leases', { LEASE0: 'us-east-1', LEASE1: 'us-east-1' }],
  ['configurable-leases-count', { LEASE0: many(3), LEASE1: many(5) }],
] as const) {
  test(`lease ${name} succeeds with what it is given, and is refused without`, async (t) => {
    const resolved = await fixture(t, { registry: 'lease/step-registry', config: 'lease/config.yaml', test: name })
    if (resolved === undefined) return
    const options = { clusterProfileDir: await tempDir(t), leases }
    assert.deepEqual(await preflight(resolved, { path: '', ...options }), [])
    const without = await preflight(resolved, { path: '', clusterProfileDir: options.clusterProfileDir })
    assert.ok(without.every(({ id }) => id === 'run.lease-absent') && without.length > 0)
    const outcome = await (await registryTrial(t)).run(resolved, options)
    assert.equal(outcome.outcome, 'succeeded', outcome.why)
  })
}

function many(count: number): string {
  return Array.from({ length: count }, () => 'us-east-1').join(' ')
}

for (const [config, name] of [
  ['observer/simple-observer.yaml', 'with-observer'],
  ['observer/multi-observers.yaml', 'multi-observers'],
] as const) {
  test(`observer ${name} succeeds, with the cases that ci-operator writes`, async (t) => {
    const resolved = await fixture(t, { registry: 'observer/registry', config, test: name })
    if (resolved === undefined) return
    // They wait two minutes for the kubelet.
    const outcome = await (await registryTrial(t)).run(
      changed(resolved, (step) => ({ ...step, commands: step.commands.replace('sleep 120', 'sleep 5') })),
    )
    assert.equal(outcome.outcome, 'succeeded', outcome.why)
    const expected = readFileSync(
      join(fixtures, config.replace('observer/', 'observer/artifacts/').replace('.yaml', '-junit_operator.xml')),
      'utf8',
    )
    const ofInput = 'Find the input image os and tag it into the pipeline'
    assert.deepEqual(
      cases(junitOf(outcome.state)),
      cases(expected).filter((each) => each !== ofInput),
    )
  })
}

function cases(xml: string): string[] {
  return [...xml.matchAll(/<testcase name="([^"]*)"/g)].map(([, name = '']) => name).sort()
}

function changed(
  { pre, test: tests, post, ...rest }: ResolvedWorkflow,
  change: (literal: ResolvedStep['literal']) => ResolvedStep['literal'],
): ResolvedWorkflow {
  const each = (step: ResolvedStep) => ({ ...step, literal: change(step.literal) })
  return { ...rest, pre: pre.map(each), test: tests.map(each), post: post.map(each) }
}
