import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peer } from '../../../testkit/peers.ts'
import { makeBootstrap, sampleReleaseImage } from '../../../testkit/sample-bootstrap.ts'
import { openShellSandbox, type ServiceRecord } from '../../../testkit/shell-sandbox.ts'
import { bootstrapComponents } from './bootkube-script.ts'
import { type BootstrapEra, bootstrapEras } from './bootstrap-options.ts'

const rendered = (era: BootstrapEra) => [
  'openshift-manifests',
  ...(era === '4.14' ? [] : ['api-bootstrap']),
  ...(era === '4.14' || era === '4.16' ? [] : ['auth-api-bootstrap']),
  'config-bootstrap',
  'cvo-bootstrap',
  'etcd-bootstrap',
  'kube-apiserver-bootstrap',
  'kube-controller-manager-bootstrap',
  'kube-scheduler-bootstrap',
  'ingress-operator-bootstrap',
  'node-tuning-bootstrap',
  'mco-bootstrap',
]
const awaited = [
  'resolve-api-url',
  'resolve-api-int-url',
  'cco-bootstrap',
  'wait-for-etcd',
  'cb-bootstrap',
  'cvo-overrides',
  'wait-for-ceo',
  'check-api-url',
  'check-api-int-url',
]

function endedStages(records: readonly ServiceRecord[]): readonly string[] {
  return records.flatMap(({ phase, stage = '', result }) => (phase === 'stage end' ? [`${stage} ${result}`] : []))
}

test('bootkube goes through the stages of its era in order, and says when it is done', async (t) => {
  if (peer(t, 'jq') === undefined) return
  for (const era of bootstrapEras) {
    const sandbox = await openShellSandbox(t, await makeBootstrap({ era }))
    const { status, output } = sandbox.run('bootkube.sh', 'bootkube')
    assert.equal(status, 0, output)
    assert.match(output, /bootkube\.service complete\n$/)
    const records = await sandbox.records('bootkube')
    assert.deepEqual(
      endedStages(records),
      [...rendered(era), ...awaited].map((stage) => `${stage} success`),
    )
    // Two libraries bring the one that notes the start, as with the installer's.
    assert.deepEqual(
      records.slice(0, 3).map(({ phase }) => phase),
      ['service start', 'service start', 'stage start'],
    )
    assert.equal(records.at(-1)?.phase, 'service end')
  }
})

test('bootkube asks for every image before its first stage, and for the versions of the release after it', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const sandbox = await openShellSandbox(t, await makeBootstrap({ era: '4.21' }))
  sandbox.run('bootkube.sh', 'bootkube')
  const calls = await sandbox.calls()
  const asked = calls.filter((call) => / image [a-z-]+$/.test(call)).map((call) => call.split(' ').at(-1) ?? '')
  assert.deepEqual(
    asked.sort(),
    bootstrapComponents('4.21')
      .filter((name) => name !== 'rhel-coreos')
      .sort(),
  )
  const firstRender = calls.findIndex((call) => call.includes('--name'))
  assert.ok(calls.findLastIndex((call) => / image [a-z-]+$/.test(call)) < firstRender)
  const oc = calls.filter((call) => call.startsWith('oc '))
  assert.equal(oc.filter((call) => call.includes(' release info ')).length, 2)
  assert.match(oc[0] ?? '', /--idms-file=.*\/manifests\/image-digest-mirror-set\.yaml quay\.io\/r@sha256:aa$/)
  assert.equal(oc.filter((call) => call.startsWith('oc patch clusterversion')).length, 1)
  assert.equal(calls.filter((call) => call.startsWith('podman run') && call.includes('--name')).length, 15)
})

test('a stage that fails is noted, and the next run begins with it', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const podman = `case " $* " in *" --name etcd-render "*) [ -e $HOME/mended ] || exit 125 ;; esac\n`
  const document = await makeBootstrap()
  const broken = await openShellSandbox(t, document, { before: { podman } })
  assert.notEqual(broken.run('bootkube.sh', 'bootkube').status, 0)
  const records = await broken.records('bootkube')
  assert.equal(endedStages(records).at(-1), 'etcd-bootstrap failure')
  assert.equal(records.at(-1)?.result, 'failure')

  await broken.put('mended', '')
  assert.equal(broken.run('bootkube.sh', 'bootkube').status, 0)
  const again = endedStages((await broken.records('bootkube')).slice(records.length))
  assert.equal(again[0], 'etcd-bootstrap success')
})

test('without a readable release image bootkube ends before its first stage', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const podman = `case " $* " in *" inspect "*|*" image "*) exit 125 ;; esac\n`
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { before: { podman } })
  const { status, output } = sandbox.run('bootkube.sh', 'bootkube')
  assert.equal(status, 125)
  assert.match(output, /^Warning: Could not resolve release image to pull by digest$/m)
  assert.deepEqual(
    (await sandbox.records('bootkube')).map(({ phase }) => phase),
    ['service start', 'service start', 'service end'],
  )
  assert.ok(
    (await sandbox.calls()).some((call) => call.endsWith(`${sampleReleaseImage} image machine-config-operator`)),
  )
})

test('names of the API that nobody knows are noted and stop nothing', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { programs: { dig: '', curl: 'exit 7' } })
  const { status, output } = sandbox.run('bootkube.sh', 'bootkube')
  assert.equal(status, 0)
  assert.match(output, /Unable to resolve API_INT_URL api-int\.demo\.lab\.test\n/)
  assert.match(output, /Unable to validate\. https:\/\/api\.demo\.lab\.test:6443\/readyz is currently unreachable\.\n/)
  assert.deepEqual(
    endedStages(await sandbox.records('bootkube')).filter((stage) => stage.endsWith('failure')),
    ['resolve-api-url', 'resolve-api-int-url', 'check-api-url', 'check-api-int-url'].map((stage) => `${stage} failure`),
  )
})
