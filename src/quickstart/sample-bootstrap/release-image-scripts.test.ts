import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peer } from '../../../testkit/peers.ts'
import { makeBootstrap, sampleReleaseImage } from '../../../testkit/sample-bootstrap.ts'
import { openShellSandbox, type ServiceRecord } from '../../../testkit/shell-sandbox.ts'

function outline(records: readonly ServiceRecord[]): readonly string[] {
  return records.map(({ phase, stage, result }) => [phase, stage, result].filter(Boolean).join(' '))
}

test('the release image is pulled until that succeeds, every failure noted and shown on the console', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const podman = `if [ "$1" = pull ]; then
  cat /etc/issue.d/50_release-image.issue
  [ -e $HOME/second ] || { touch $HOME/second; exit 125; }
fi
`
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { before: { podman } })
  const { status, output } = sandbox.run('release-image-download.sh', 'release-image')
  assert.equal(status, 0)
  assert.match(output, new RegExp(`^Pull failed\\. Retrying ${sampleReleaseImage}\\.\\.\\.$`, 'm'))
  assert.match(output, /\\e\{lightred\}Unable to pull OpenShift release image\\e\{reset\}/)
  await assert.rejects(sandbox.read('/etc/issue.d/50_release-image.issue'))
  assert.deepEqual(outline(await sandbox.records('release-image')), [
    'service start',
    'stage start pull-release-image',
    'stage end pull-release-image failure',
    'stage start pull-release-image',
    'stage end pull-release-image success',
    'stage start image-metadata-arches-match',
    'stage end image-metadata-arches-match success',
    'service end success',
  ])
})

test('a payload for another architecture than that of the machine ends the service', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { programs: { uname: 'echo aarch64' } })
  const { status, output } = sandbox.run('release-image-download.sh', 'release-image')
  assert.equal(status, 1)
  assert.match(output, /^ERROR: release image arch amd64 does not match host arch arm64$/m)
  const records = outline(await sandbox.records('release-image'))
  assert.deepEqual(records.slice(-2), ['stage end image-metadata-arches-match failure', 'service end failure'])
})

test('CRI-O and the kubelet get the pause image of the release', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const sandbox = await openShellSandbox(t, await makeBootstrap())
  await sandbox.put('etc/kubernetes/.keep', '')
  assert.equal(sandbox.run('crio-configure.sh', 'crio-configure').status, 0)
  assert.match(
    await sandbox.read('/etc/crio/crio.conf.d/50-bootstrap-override.conf'),
    /^pause_image = "quay\.io\/c@sha256:pod"$/m,
  )
  assert.equal(sandbox.run('kubelet-pause-image.sh', 'kubelet').status, 0)
  assert.equal(
    await sandbox.read('/etc/kubernetes/kubelet-pause-image-override'),
    'MACHINE_CONFIG_INFRA_IMAGE=quay.io/c@sha256:pod\n',
  )
  assert.deepEqual(
    (await sandbox.records('kubelet')).map(({ phase, preCommand }) => `${preCommand} ${phase}`),
    ['kubelet-pause-image pre-command start', 'kubelet-pause-image pre-command end'],
  )
})

test('the image of the node is fetched until that succeeds, with the credentials of the pull secret and without a record', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const programs = {
    'rpm-ostree': `echo '{"deployments":[{"version":"9.6"}]}'`,
    ostree: `case "$*" in
  "container image pull"*) [ -e $HOME/second ] || { touch $HOME/second; exit 1; } ;;
  refs*--create*) ;;
  refs*) echo ostree/container/image/docker_3A__2F__2F_quay ;;
esac`,
    mount: '',
    sleep: '',
  }
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { programs })
  const { status, output } = sandbox.run('node-image-pull.sh', 'node-image-pull')
  assert.equal(status, 0, output)
  assert.match(output, /^Failed to fetch release image; retrying\.\.\.$/m)
  const pulls = (await sandbox.calls()).filter((call) => call.startsWith('ostree container image pull'))
  assert.equal(pulls.length, 2)
  assert.match(
    pulls[0] ?? '',
    /--authfile \S+\/root\/\.docker\/config\.json \/ostree\/repo ostree-unverified-image:docker:\/\/quay\.io\/c@sha256:rhel-coreos$/,
  )
  assert.deepEqual(await sandbox.records('node-image-pull'), [])
})

test('bootstrap progress is reported when bootkube is done and the control plane is on two nodes', async (t) => {
  if (peer(t, 'jq') === undefined) return
  const oc = `case "$*" in *controlPlaneTopology*) echo HighlyAvailable ;; *kubeapiservers*) echo "m0 m1 " ;; esac`
  const sandbox = await openShellSandbox(t, await makeBootstrap(), { programs: { oc, sleep: '' } })
  await sandbox.put('opt/openshift/.bootkube.done', '')
  assert.equal(sandbox.run('report-progress.sh', 'progress').status, 0)
  assert.deepEqual(
    outline(await sandbox.records('progress')).filter((line) => line.startsWith('stage end')),
    ['stage end wait-for-bootstrap-complete success', 'stage end report-bootstrap-complete success'],
  )
})
