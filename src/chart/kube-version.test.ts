import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeChart } from '../../testkit/chart.ts'
import { readChart } from './chart-archive.ts'
import { chooseKubeVersion, kubeVersionFor, kubeVersionOf } from './kube-version.ts'

test('a release has the Kubernetes that it is known to have', () => {
  const cases: [string, string | undefined][] = [
    ['4.6.0', '1.19.0'],
    ['4.18.9', '1.31.0'],
    ['stable-4.20', '1.33.0'],
    ['quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64', '1.31.0'],
    ['quay.io/openshift-release-dev/ocp-release@sha256:14.6', undefined],
    ['okd-scos', undefined],
  ]
  for (const [release, version] of cases) assert.equal(kubeVersionOf(release), version, release)
  const channels = [{ name: 'stable-4.9', maxVersion: '4.10.3' }, { name: 'eus-4.8' }]
  assert.equal(kubeVersionFor({ channels }), '1.23.0')
  assert.equal(kubeVersionFor({}), undefined)
})

test('a chart is rendered for the cluster that it goes to, else for the newest that it is made for', async () => {
  const chosen = async (kubeVersion: string | undefined, wanted?: string) => {
    const bytes = makeChart({ name: 'app', version: '1.0.0', metadata: { kubeVersion } })
    const { kubeVersion: version, findings } = chooseKubeVersion(await readChart(bytes, 'chart app'), wanted)
    return [version, findings.length]
  }
  assert.deepEqual(await chosen(undefined, '1.31.0'), ['1.31.0', 0])
  assert.deepEqual(await chosen('>=1.25.0-0', '1.31.0'), ['1.31.0', 0])
  assert.deepEqual(await chosen('>=1.19, <1.22', '1.31.0'), ['1.21.0', 1])
  assert.deepEqual(await chosen('>=1.19, <1.22'), ['1.21.0', 0])
  assert.deepEqual(await chosen('1.20.7 - 1.20.9'), ['1.20.7', 0])
  assert.deepEqual(await chosen('what is no range', '1.31.0'), ['1.31.0', 0])
})

test('a chart within a chart counts too', async () => {
  const inner = makeChart({ name: 'in', version: '1.0.0', metadata: { kubeVersion: '<1.30.0-0' } })
  const outer = makeChart({ name: 'app', version: '1.0.0', files: { 'charts/in-1.0.0.tgz': inner } })
  assert.equal(chooseKubeVersion(await readChart(outer, 'chart app'), '1.31.0').kubeVersion, '1.29.0')
})
