import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAllDocuments } from 'yaml'
import { exportableStep, notingWorkflow } from '../../../../testkit/exportable-steps.ts'
import { startingAt } from '../exportable-workflow.ts'
import { objectName } from '../object-name.ts'
import { tektonPipeline } from './tekton-pipeline.ts'
import { tektonYaml } from './tekton-yaml.ts'

interface Task {
  readonly name: string
  readonly runAfter?: readonly string[]
  readonly onError?: string
  readonly timeout: string
  readonly taskSpec: { readonly steps: readonly Step[] }
}

interface Step {
  readonly name: string
  readonly script: string
  readonly onError?: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

interface Spec {
  readonly params: readonly { readonly name: string; readonly default?: string }[]
  readonly tasks: readonly Task[]
  readonly finally: readonly Task[]
}

const specOf = (...given: Parameters<typeof tektonPipeline>): Spec => tektonPipeline(...given).pipeline['spec'] as Spec

const whole = notingWorkflow({
  pre1: '',
  pre2: { isBestEffort: true },
  test1: '',
  post1: { isOptionalOnSuccess: true },
  post2: { isBestEffort: true },
  post3: '',
})

test('pre and test are a chain, post is one task whose steps all run', () => {
  const { tasks, finally: teardown } = specOf(whole)
  assert.deepEqual(
    tasks.map(({ name, runAfter, onError }) => [name, runAfter, onError]),
    [
      ['s001-pre1', undefined, undefined],
      ['s002-pre2', ['s001-pre1'], 'continue'],
      ['s003-test1', ['s002-pre2'], undefined],
    ],
  )
  assert.deepEqual(
    teardown.map(({ taskSpec }) => taskSpec.steps.map(({ name, onError }) => [name, onError])),
    [
      [
        ['s004-post1', 'continue'],
        ['s005-post2', 'continue'],
        ['s006-post3', 'continue'],
        ['verdict', undefined],
      ],
    ],
  )
})

test('the verdict asks for the exit code of each step of post that may not fail', () => {
  const verdict = specOf(whole).finally[0]?.taskSpec.steps.at(-1)?.script ?? ''
  assert.deepEqual(verdict.match(/(?<=steps\.step-)[\w-]+(?=\.exitCode\.path)/g), ['s004-post1', 's006-post3'])
})

test('what a step says is a parameter, unless steps of the workflow disagree', () => {
  const env = (...pairs: [string, string?][]) =>
    pairs.map(([name, value]) => ({ name, ...(value !== undefined && { value }) }))
  const steps = [
    exportableStep('a', '', {
      env: env(['ZONES', '3'], ['REGION', 'r'], ['IMAGE'], ['region', 'x'], ['PART', '$(params.x)']),
    }),
    exportableStep('b', '', { env: env(['ZONES', '2'], ['REGION', 'r'], ['IMAGE', 'own']) }),
  ]
  const { params, tasks } = specOf({ name: 'w', steps })
  assert.deepEqual(params, [
    { name: 'REGION', type: 'string', default: 'r' },
    { name: 'IMAGE', type: 'string' },
    { name: 'region-c697d2', type: 'string', default: 'x' },
  ])
  const [first = {}, second = {}] = tasks.map(
    ({
      taskSpec: {
        steps: [step],
      },
    }) => Object.fromEntries((step?.env ?? []).map(({ name, value }) => [name, value])),
  )
  assert.deepEqual([first['ZONES'], second['ZONES']], ['3', '2'])
  assert.deepEqual([first['IMAGE'], second['IMAGE']], ['$(params.IMAGE)', 'own'])
  assert.deepEqual([first['PART'], first['SALLYPORT_DOLLAR']], ['$(SALLYPORT_DOLLAR)(params.x)', '$'])
})

test('a script in which Tekton would replace something, or too long for its pod, is mounted', () => {
  const steps = [
    exportableStep('plain', 'echo $(date) $(results)'),
    exportableStep('clash', 'echo $(params.x)'),
    exportableStep('long', '# long\n'.repeat(20_000)),
  ]
  const { configMaps } = tektonPipeline({ name: 'w', steps })
  assert.deepEqual(
    configMaps.map(({ metadata }) => metadata.name.replace(/-[0-9a-f]{8}$/, '')),
    ['w-002-clash', 'w-003-long'],
  )
  assert.equal(configMaps[0]?.data['script'], '#!/bin/bash\nset -eu\necho $(params.x)')
})

const from = (step: string) => startingAt(whole, step) ?? whole

test('from a step on, what stands before is left out and post is whole', () => {
  const { tasks, finally: teardown } = specOf(from('test1'))
  assert.deepEqual(
    tasks.map(({ name, runAfter }) => [name, runAfter]),
    [['s003-test1', undefined]],
  )
  assert.equal(teardown[0]?.taskSpec.steps.length, 4)
  assert.deepEqual(
    specOf(from('006')).tasks.map(({ name }) => name),
    ['nothing'],
  )
})

test('the time of the whole is the time of its parts', () => {
  const documents = parseAllDocuments(tektonYaml(whole)).map(
    (one) => one.toJS() as { kind: string; spec: { timeouts: Record<string, string> } },
  )
  const { timeouts = {} } = documents.find(({ kind }) => kind === 'PipelineRun')?.spec ?? {}
  const { tasks, finally: teardown } = specOf(whole)
  const seconds = (list: readonly Task[]) => list.reduce((sum, { timeout }) => sum + Number.parseInt(timeout, 10), 0)
  assert.deepEqual(timeouts, {
    pipeline: `${seconds([...tasks, ...teardown])}s`,
    tasks: `${seconds(tasks)}s`,
    finally: `${seconds(teardown)}s`,
  })
})

test('two texts never share a name, and every name is a DNS label', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 100 }), { maxLength: 20 }),
      fc.integer({ min: 20, max: 63 }),
      (texts, max) => {
        const names = texts.map((text) => objectName(text, max))
        assert.equal(new Set(names).size, texts.length)
        for (const name of names) assert.match(name, /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
        assert.ok(names.every((name) => name.length <= max))
      },
    ),
  )
})

test('memory for /dev/shm is a volume, and no resource that a node would have to have', () => {
  const resources = { requests: { cpu: '1', 'ci-operator.openshift.io/shm': '2G' } }
  const { tasks, finally: teardown } = specOf(notingWorkflow({ pre1: { resources }, post1: { resources } }))
  for (const task of [...tasks, ...teardown]) {
    const { taskSpec } = task as unknown as { taskSpec: { volumes: unknown; steps: { computeResources?: unknown }[] } }
    const number = task.name === 'post' ? '002' : '001'
    assert.deepEqual(taskSpec.volumes, [{ name: `shm-${number}`, emptyDir: { medium: 'Memory', sizeLimit: '2G' } }])
    assert.deepEqual(
      taskSpec.steps.flatMap(({ computeResources }) => computeResources ?? []),
      [{ requests: { cpu: '1' } }],
    )
  }
})
