/** Exports of the workflows of a whole registry, held against the validation of those who will read them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { literalVariables } from '../../src/workflow/export/container-step.ts'
import { exportableFromRegistry } from '../../src/workflow/export/exportable-from-registry.ts'
import type { ExportableWorkflow } from '../../src/workflow/export/exportable-workflow.ts'
import { jobObjects, jobsScript } from '../../src/workflow/export/jobs/jobs-script.ts'
import { shellScript } from '../../src/workflow/export/shell/shell-script.ts'
import { tektonYaml } from '../../src/workflow/export/tekton/tekton-yaml.ts'
import { loadRegistry } from '../../src/workflow/step-registry/load-registry.ts'
import { examineWorkflow } from '../../src/workflow/step-registry/resolve-test.ts'
import { exportableStep, notingWorkflow } from '../../testkit/exportable-steps.ts'
import { type Peer, peer } from '../../testkit/peers.ts'

const data = fileURLToPath(new URL('../../../shared/data/step-registry/', import.meta.url))

/** The golden workflows, and of the others as many as asked for, by a seed that is printed. */
function realWorkflows(t: TestContext, sample: number): readonly ExportableWorkflow[] | undefined {
  if (!existsSync(data)) {
    t.skip('the real registry is not on this machine')
    return undefined
  }
  const registry = loadRegistry(join(data, 'full-2024-07/ci-operator/step-registry'), { withoutScripts: true })
  const golden = readdirSync(join(data, 'golden/workflows')).map((file) => file.replace(/\.json$/, ''))
  const seed = Number(process.env['SALLYPORT_SEED'] ?? Date.now() % 1_000_000)
  t.diagnostic(`seed ${seed}: SALLYPORT_SEED=${seed} repeats it`)
  const others = [...registry.workflows.keys()].filter((name) => !golden.includes(name))
  const [chosen = []] = fc.sample(
    fc.shuffledSubarray(others, { minLength: Math.min(sample, others.length), maxLength: sample }),
    {
      seed,
      numRuns: 1,
    },
  )
  const names = [...golden.filter((name) => registry.workflows.has(name)), ...chosen]
  t.diagnostic(`${names.length} workflows, ${names.length - chosen.length} of them golden`)
  return names.map((name) => scripted(exportableFromRegistry(examineWorkflow(registry, name).workflow).workflow))
}

/** Lengths of real scripts, from the shortest to the longest of 2024. */
const scriptBytes = [40, 900, 1900, 6000, 24_000, 109_000]

const scriptLine = `echo "$(params.x) $(context.taskRun.name) \${a:-'b'}" \\\\ \`id\` # \u00e9 \t \u0001\n`

/** The scripts of the registry are not on this machine: others of their sizes stand for them. */
function scripted(workflow: ExportableWorkflow): ExportableWorkflow {
  const steps = workflow.steps.map((step, index) => {
    const length = scriptBytes[(index * 7) % scriptBytes.length] ?? 0
    const line = index % 3 === 0 ? scriptLine : 'echo "$(date)"\n'
    return { ...step, script: line.repeat(Math.ceil(length / line.length)) }
  })
  return { ...workflow, steps }
}

const sampleSize = Number(process.env['SALLYPORT_EXPORT_SAMPLE'] ?? 10)

/** What a peer says to a text on its standard input; it has to like it. */
function accepted(
  path: string,
  { args, input, name }: { args: readonly string[]; input: string; name: string },
): string {
  const { status, stdout, stderr } = spawnSync(path, args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  assert.equal(status, 0, `${name}: ${stdout}${stderr}`)
  return stdout
}

function eachAccepted(
  t: TestContext,
  by: Peer,
  { args, text }: { args: readonly string[]; text: (one: ExportableWorkflow) => string },
) {
  const path = peer(t, by)
  const workflows = path === undefined ? undefined : realWorkflows(t, sampleSize)
  if (path === undefined || workflows === undefined) return
  for (const workflow of workflows) accepted(path, { args, input: text(workflow), name: workflow.name })
}

test('shellcheck has nothing to say about the script of any workflow', (t) => {
  // The scripts inside stand between quotes for shellcheck too, and are long.
  const text = (workflow: ExportableWorkflow) =>
    shellScript({ ...workflow, steps: workflow.steps.map((step) => ({ ...step, script: scriptLine })) })
  eachAccepted(t, 'shellcheck', { args: ['--shell=bash', '-'], text })
})

test('Tekton accepts the Pipeline and the PipelineRun of every workflow', (t) => {
  eachAccepted(t, 'tekton-check', { args: [], text: (workflow) => tektonYaml(workflow) })
})

test('Kubernetes accepts the claim and the scripts that go with a Pipeline', (t) => {
  eachAccepted(t, 'kubernetes-check', { args: [], text: (workflow) => tektonYaml(workflow) })
})

test('Kubernetes accepts every Job with its claim and its scripts', (t) => {
  eachAccepted(t, 'kubernetes-check', { args: [], text: jobObjects })
})

test('shellcheck has nothing to say about the driver of the Jobs', (t) => {
  const text = (workflow: ExportableWorkflow) => jobsScript({ ...workflow, steps: workflow.steps.slice(-4) })
  eachAccepted(t, 'shellcheck', { args: ['--shell=bash', '-'], text })
})

test('what is wrong with an object is found by those that judge them', (t) => {
  const tekton = peer(t, 'tekton-check')
  const kubernetes = peer(t, 'kubernetes-check')
  if (tekton === undefined || kubernetes === undefined) return
  const workflow = notingWorkflow({ pre1: '', pre2: '', post1: '' })
  const refused = (path: string, input: string) => spawnSync(path, { input, encoding: 'utf8' }).stdout
  const pipeline = tektonYaml(workflow)
  assert.match(refused(tekton, pipeline.replace(/(runAfter:\s+- )s001-pre1/, '$1nowhere')), /nowhere/)
  assert.match(refused(tekton, pipeline.replace('onError:', 'onerror:')), /unknown field/)
  assert.match(refused(tekton, pipeline.replace(/pipeline: "?\d+s"?/, 'pipeline: 5s')), /timeouts/)
  assert.match(refused(kubernetes, jobObjects(workflow).replace('Never', 'Always')), /restartPolicy/)
  assert.match(refused(kubernetes, jobObjects(workflow).replace('backoffLimit:', 'backOffLimit:')), /unknown field/)
})

test('a value stays a text, also where YAML 1.1 would read something else', (t) => {
  const tekton = peer(t, 'tekton-check')
  const kubernetes = peer(t, 'kubernetes-check')
  if (tekton === undefined || kubernetes === undefined) return
  const texts = [
    'yes',
    'no',
    'on',
    'OFF',
    'y',
    'N',
    'true',
    '0777',
    '0o17',
    '0x1f',
    '1:30',
    '1_000',
    '1e3',
    '.inf',
    '~',
    'null',
    '=',
    '2001-01-01',
  ]
  const env = texts.map((value, index) => ({ name: `V${index}`, value }))
  const workflow = {
    name: 'small',
    steps: [exportableStep('yes', 'on', { env }), exportableStep('1e3', '', { env: env.slice(1) })],
  }
  accepted(kubernetes, { args: [], input: jobObjects(workflow), name: 'jobs' })
  accepted(tekton, { args: [], input: tektonYaml(workflow), name: 'tekton' })
})

test('values reach the program byte for byte, through what Tekton and the kubelet replace', (t) => {
  const tekton = peer(t, 'tekton-check')
  const kubernetes = peer(t, 'kubernetes-check')
  if (tekton === undefined || kubernetes === undefined) return
  const variables = { 'params.x': 'REPLACED', 'context.taskRun.name': 'REPLACED', V0: 'REPLACED' }
  const part = fc.constantFrom(
    '$',
    '$$',
    '(',
    ')',
    '$(params.x)',
    '$(V0)',
    '$(V1',
    '$(context.taskRun.name)',
    'a',
    '\\',
    '\n',
    ' ',
    'é',
  )
  const value = fc.oneof(
    fc.array(part).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
      const given = values.map((one, index) => ({ name: `V${index}`, value: one }))
      const written = literalVariables(given)
      const request = { texts: written.map((one) => one.value), variables }
      const replaced = JSON.parse(
        accepted(tekton, { args: ['replace'], input: JSON.stringify(request), name: 'replace' }),
      ) as string[]
      const env = written.map(({ name }, index) => ({ name, value: replaced[index] }))
      const seen = JSON.parse(
        accepted(kubernetes, { args: ['expand'], input: JSON.stringify(env), name: 'expand' }),
      ) as Record<string, string>
      for (const one of given) assert.equal(seen[one.name], one.value)
    }),
    { numRuns: 30 },
  )
})
