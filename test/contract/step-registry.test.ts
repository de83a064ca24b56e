/** The step registry of openshift/release, and what the resolver of ci-tools and another of its semantics make of it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkRegistry } from '../../src/workflow/step-registry/check-registry.ts'
import { checkTests } from '../../src/workflow/step-registry/check-test.ts'
import { loadRegistry } from '../../src/workflow/step-registry/load-registry.ts'
import { phases } from '../../src/workflow/step-registry/model.ts'
import { readAnyYaml } from '../../src/workflow/step-registry/registry-yaml.ts'
import { readCiOperatorConfig, resolveConfig } from '../../src/workflow/step-registry/resolve-config.ts'
import { examineTest, examineWorkflow, type Resolution } from '../../src/workflow/step-registry/resolve-test.ts'
import { readSimpleYaml } from '../../src/workflow/step-registry/simple-yaml.ts'
import { stepErrorText } from '../../src/workflow/step-registry/step-error.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const data = join(import.meta.dirname, '../../../shared/data/step-registry')
const whole = join(data, 'full-2024-07/ci-operator/step-registry')
const newest = join(data, 'latest-disconnected/ci-operator/step-registry')
const multistage = join(data, 'ci-tools-fixtures/test/multistage-registry')
const configresolver = join(data, 'ci-tools-fixtures/test/integration/ci-operator-configresolver')

/** False after the test was marked as skipped. */
function isHere(t: TestContext): boolean {
  const isThere = existsSync(data)
  if (!isThere) t.skip('the step registry is not on this machine')
  return isThere
}

/** How many findings there are of each kind. */
function kindsOf(findings: readonly { readonly id: string }[]): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = {}
  for (const { id } of findings) kinds[id] = (kinds[id] ?? 0) + 1
  return kinds
}

test('the whole registry of July 2024 loads and resolves without an error', (t) => {
  if (!isHere(t)) return
  const registry = loadRegistry(whole, { withoutScripts: true })
  const { references, chains, workflows, observers } = registry
  assert.deepEqual([references.size, chains.size, workflows.size, observers.size], [1487, 778, 978, 3])
  assert.deepEqual(kindsOf(checkRegistry(registry)), { 'steps.ignored-fields': 34 })
  const lengths = [...workflows.keys()]
    .map((name) => examineWorkflow(registry, name).workflow)
    .map((workflow) => phases.reduce((sum, phase) => sum + workflow[phase].length, 0))
    .sort((a, b) => a - b)
  assert.deepEqual([lengths[Math.floor(lengths.length / 2)], lengths.at(-1)], [19, 51])
})

test('the whole registry of October 2020 loads and resolves without an error', (t) => {
  if (!isHere(t)) return
  const registry = loadRegistry(join(data, 'full-2020-10/ci-operator/step-registry'), { withoutScripts: true })
  assert.deepEqual([registry.references.size, registry.chains.size, registry.workflows.size], [87, 46, 62])
  assert.deepEqual(checkRegistry(registry), [])
})

test('of a part of the registry every script and every name that is missing is told at once', (t) => {
  if (!isHere(t)) return
  assert.deepEqual(kindsOf(checkRegistry(loadRegistry(newest))), { 'steps.script-absent': 3, 'steps.dangling': 100 })
  assert.deepEqual(kindsOf(checkRegistry(loadRegistry(newest, { withoutScripts: true }))), { 'steps.dangling': 100 })
})

test('newer parts over an older registry: 11 names are missing, and a workflow sets what no step takes', async (t) => {
  if (!isHere(t)) return
  const root = await tempDir(t)
  for (const from of [whole, newest]) await cp(from, root, { recursive: true })
  const registry = loadRegistry(root, { withoutScripts: true })
  const missing = checkRegistry(registry).filter(({ id }) => id === 'steps.dangling')
  assert.equal(missing.length, 11)
  const workflow = 'cucushift-installer-rehearse-aws-ipi-disconnected-mno-lvms'
  const unused = examineWorkflow(registry, workflow).errors.filter(({ kind }) => kind === 'unused')
  assert.deepEqual(unused.map(stepErrorText), [
    `workflow/${workflow}: parameter "LVM_CLUSTER_AUTO_SELECT_AVAILABLE_DEVICES" is overridden in [workflow/${workflow}] but not declared in any step`,
  ])
})

interface GoldenStep {
  readonly as: string
  readonly chain_path?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly default?: unknown }[] | null
}

interface Golden {
  readonly workflow?: string
  readonly test?: string
  readonly input?: object
  readonly errors: readonly string[]
  readonly resolved: Readonly<Record<string, readonly GoldenStep[] | undefined>>
}

async function goldens(folder: string): Promise<readonly Golden[]> {
  const names = await readdir(join(data, 'golden', folder))
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(data, 'golden', folder, name), 'utf8')) as Golden),
  )
}

/** The other resolver keeps numbers that stand without quotes; ci-operator makes text of them, and so do we. */
function comparable(steps: readonly GoldenStep[]) {
  return steps.map(({ as, chain_path: path, env }) => ({
    as,
    path: path ?? [],
    env: (env ?? []).map((one) => [one.name, one.default === undefined ? undefined : String(one.default)]),
  }))
}

/** What a step is beside its values and its script, of which the goldens keep only the digest. */
function otherFields(step: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(step).filter(
    ([name, value]) => !/^(?:env|chain_path|commands.*)$/.test(name) && value !== null,
  )
  return Object.fromEntries(kept)
}

function assertGolden({ resolved, errors }: Golden, { workflow, errors: ours }: Resolution): void {
  assert.deepEqual(ours.map(stepErrorText), errors)
  for (const phase of phases) {
    const where = `${workflow.name}: ${phase}`
    const golden = resolved[phase] ?? []
    const steps = workflow[phase].map(({ literal: { as, env = [] }, chainPath }) => ({
      as,
      chain_path: chainPath,
      env,
    }))
    assert.deepEqual(comparable(steps), comparable(golden), where)
    assert.deepEqual(
      workflow[phase].map(({ literal }) => otherFields(literal)),
      golden.map((step) => otherFields({ ...step })),
      where,
    )
  }
}

test('workflows and tests resolve to the same steps, chains and values as by another resolver', async (t) => {
  if (!isHere(t)) return
  const registry = loadRegistry(whole, { withoutScripts: true })
  const [workflows, tests] = await Promise.all([goldens('workflows'), goldens('tests')])
  assert.deepEqual([workflows.length, tests.length], [27, 35])
  for (const golden of workflows) assertGolden(golden, examineWorkflow(registry, golden.workflow ?? ''))
  for (const golden of tests) {
    const document = { tests: [{ as: golden.test, steps: golden.input }] }
    const [only] = readCiOperatorConfig('golden', JSON.stringify(document)).tests
    assert.ok(only?.resolvable)
    assertGolden(golden, examineTest(registry, only.resolvable))
  }
})

test('every test of the real configurations resolves', async (t) => {
  if (!isHere(t)) return
  const registry = loadRegistry(whole, { withoutScripts: true })
  const folder = join(data, 'configs-disconnected')
  let resolved = 0
  for (const name of await readdir(folder)) {
    const config = readCiOperatorConfig(name, await readFile(join(folder, name), 'utf8'))
    assert.deepEqual([...checkTests(config), ...resolveConfig(registry, config).findings], [], name)
    resolved += config.tests.filter(({ resolvable }) => resolvable !== undefined).length
  }
  assert.ok(resolved > 1500, `${resolved} tests`)
})

async function resolvedConfig(root: string, config: string): Promise<unknown> {
  const file = join(configresolver, config)
  const { document, findings } = resolveConfig(
    loadRegistry(root),
    readCiOperatorConfig(file, await readFile(file, 'utf8')),
  )
  assert.deepEqual(findings, [])
  return document
}

async function expectedConfig(name: string): Promise<{ readonly tests: unknown }> {
  return JSON.parse(await readFile(join(configresolver, 'expected', name), 'utf8')) as { readonly tests: unknown }
}

test('configs resolve to what ci-operator-configresolver prints', async (t) => {
  if (!isHere(t)) return
  const registry = join(multistage, 'registry')
  const name = 'openshift-installer-release-4.2'
  for (const [config, expected] of [
    [`configs/release-4.2/${name}.yaml`, `${name}.json`],
    [`configs2/release-4.2/${name}-golang111.yaml`, `${name}-golang111.json`],
  ] as const) {
    assert.deepEqual(await resolvedConfig(registry, config), await expectedConfig(expected))
  }
  const posted = (await resolvedConfig(registry, 'unresolved-config.json')) as { tests: unknown }
  assert.deepEqual(posted.tests, (await expectedConfig('resolved-config.json')).tests)
  // Into another config the resolver puts one test of this one.
  const other = 'configs/master/openshift-release-master__ci-4.9.yaml'
  const { tests } = (await resolvedConfig(registry, other)) as { tests: readonly { readonly as: string }[] }
  const merged = await expectedConfig('openshift-installer-console-merged-release-4.2-injected.json')
  assert.deepEqual(
    tests.filter(({ as }) => as === 'e2e'),
    merged.tests,
  )
  // Upstream's test copies the second registry over the first while the resolver runs.
  const changed = await tempDir(t)
  for (const from of ['registry', 'registry2']) await cp(join(multistage, from), changed, { recursive: true })
  const after = await resolvedConfig(changed, `configs2/release-4.2/${name}-golang111.yaml`)
  assert.deepEqual(after, await expectedConfig(`${name}-regChange.json`))
})

test('registries with a fault are refused for that fault', (t) => {
  if (!isHere(t)) return
  const faults = (name: string) => checkRegistry(loadRegistry(join(multistage, name))).map(({ summary }) => summary)
  assert.deepEqual(faults('invalid-field'), [
    'failed to load registry file ipi/install/ipi-install-ref.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "invalid_field"',
  ])
  assert.deepEqual(faults('invalid-filename'), [
    'filename ipi-install-install-ref.yaml does not match name of reference; filename should be ipi-install-ref.yaml',
  ])
  assert.deepEqual(faults('best-effort-without-timeout'), [
    'test best-effort-without-timeout contains best_effort without timeout',
  ])
  assert.deepEqual(faults('trap-without-grace-period'), [
    'test `trap-without-grace-period` has `commands` containing `trap` command, but test step is missing grace_period',
  ])
})

test('the parser of simple texts reads nearly all files of the registry, and all of them as the whole parser does', async (t) => {
  if (!isHere(t)) return
  const entries = await readdir(whole, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  let simple = 0
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    const read = readSimpleYaml(text)
    if (read === undefined) continue
    simple += 1
    assert.deepEqual(read, readAnyYaml(text), file)
  }
  assert.ok(simple > 0.98 * files.length, `${simple} of ${files.length}`)
})
