import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadSite } from '../../config/site-configuration.ts'
import { KnownError } from '../../errors/known-error.ts'
import { systemClock } from '../../host/clock.ts'
import { createLog } from '../../host/log.ts'
import type { Outputs, StepContext } from '../../workflow/step.ts'
import { findStep } from '../../workflow/workflow.ts'
import { disconnectedWorkflow } from './disconnected.ts'

const nothing: Outputs = () => undefined

function workflowOf(lines: string, stages = '') {
  const text = `kind: Site\nname: c1\nbaseDomain: example.com\nrelease: {version: 4.18.9}\n${lines}${stages}`
  const { site } = loadSite({ file: 'sallyport.yaml', text })
  const log = createLog('error', () => undefined)
  const user = { platform: 'linux', uid: 1000 }
  return disconnectedWorkflow({
    site,
    directory: '/site',
    self: ['sallyport'],
    clock: systemClock,
    log,
    env: {},
    user,
    openLab: undefined,
    labBytes: undefined,
  })
}

const mirror = 'mirror: {registry: mirror.example.com:8443/ocp}\n'
const aws = `variant: disconnected\nplatform: {aws: {region: us-east-1}}\ncluster: {}\n${mirror}`

test('a cloud without a provider says before a run what has to be done by hand, and fails at once when it is not', async () => {
  const workflow = workflowOf(aws)
  assert.deepEqual(
    workflow.findings.map(({ summary }) => summary.split(' ')[0]),
    ['01-infrastructure/network', '02-bastion/host', '08-install/machines'],
  )
  const step = findStep(workflow, '01-infrastructure/network')
  const run = '20261121T160000-00000'
  const directories = { run: `/runs/${run}`, state: '', artifacts: '', shared: '' }
  await assert.rejects(step.apply(step.input(nothing), { run, directories } as StepContext), (error: unknown) => {
    assert.ok(error instanceof KnownError)
    assert.equal(error.code, 'STAGE_UNAVAILABLE')
    assert.match(
      error.hint,
      /^Make a VPC .* sallyport resume 20261121T160000-00000 --mark-done 01-infrastructure\/network/,
    )
    return true
  })
})

test('steps of a site stand in the order of their stages', () => {
  const numbers = workflowOf(aws).steps.map(({ outline }) => outline.id.slice(0, 2))
  assert.deepEqual(numbers, numbers.toSorted())
})

test('a stage that sallyport.yaml leaves out is not asked for by hand', () => {
  const skipped =
    'stages: {infrastructure: {skip: it is there}, bastion: {skip: it is there}, install: {skip: later}}\n'
  assert.deepEqual(workflowOf(aws, skipped).findings, [])
})

test('of machines of your own nothing is made, and the reason is said', () => {
  const workflow = workflowOf(`variant: disconnected\nplatform: {none: {}}\ncluster: {}\n${mirror}`)
  assert.match(findStep(workflow, '01-infrastructure/network').skipWhy ?? '', /are yours/)
  assert.match(findStep(workflow, '09-verify/cluster').skipWhy ?? '', /oc get clusteroperators/)
})

test('what one side collects is known to the other by the same input, wherever sallyport.yaml lies', () => {
  const step = findStep(workflowOf(aws), '06-mirror-images/arrive')
  const collected = { archive: 'site:archive', checksum: 'sha256:1' }
  const input = step.input((id) => (id === '06-mirror-images/collect' ? collected : undefined))
  assert.deepEqual(input, { collected })
})

test('without a mirror the stages of one are left out, and the installer is taken where the release is', () => {
  const workflow = workflowOf(`variant: private\nplatform: {none: {}}\ncluster: {}\n`)
  for (const id of ['03-credentials/mirror', '06-mirror-images/collect', '07-prepare/rehearse', '09-verify/egress']) {
    assert.ok(findStep(workflow, id).skipWhy, id)
  }
  assert.equal(findStep(workflow, '07-prepare/installer').outline.where, 'connected')
  assert.equal(findStep(workflow, '03-credentials/release').skipWhy, undefined)
})

test('a change of the ImageSetConfiguration makes what was collected stale', () => {
  const step = findStep(workflowOf(aws), '06-mirror-images/collect')
  assert.deepEqual(step.files?.(step.input((id) => (id === '03-credentials/release' ? known : undefined))), [
    join('/site', 'imageset-config.yaml'),
  ])
})

const known = { release: 'quay.io/a/b@sha256:1', version: '4.18.9', imageSet: 'site:imageset-config.yaml' }
