import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { renderClusterCatalog } from './cluster-catalog.ts'

const data = fileURLToPath(new URL('../../../shared/data/cluster-resources', import.meta.url))
const wanted = { name: 'cc-redhat-operator-index-v4-19', image: 'reg.lab:8443/redhat/redhat-operator-index:v4.19' }

test('a ClusterCatalog is what oc-mirror writes, without its time stamps', () => {
  assert.equal(
    renderClusterCatalog(wanted),
    `apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata:
  name: cc-redhat-operator-index-v4-19
spec:
  source:
    type: Image
    image:
      ref: reg.lab:8443/redhat/redhat-operator-index:v4.19
`,
  )
})

test('priority, availability and polling that a person set are kept', () => {
  const text = `apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: ours, labels: {team: a}}
spec: {priority: -5, availabilityMode: Unavailable, source: {type: Image, image: {ref: old, pollIntervalMinutes: 10}}}
`
  const rendered = renderClusterCatalog(wanted, { text, file: 'cc.yaml' })
  assert.deepEqual(parse(rendered), {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: 'ours', labels: { team: 'a' } },
    spec: {
      source: { type: 'Image', image: { ref: wanted.image, pollIntervalMinutes: 10 } },
      priority: -5,
      availabilityMode: 'Unavailable',
    },
  })
  assert.equal(renderClusterCatalog(wanted, { text: rendered, file: 'cc.yaml' }), rendered)
})

test('a file with something else in it is not overwritten', () => {
  const refuses = (text: string, message: RegExp) =>
    assert.throws(() => renderClusterCatalog(wanted, { text, file: 'cc.yaml' }), { code: 'CONFIG_INVALID', message })
  refuses('apiVersion: v1\nkind: Secret\n', /cc\.yaml:1:13: not a ClusterCatalog: apiVersion is "v1"/)
  const head = 'apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\n'
  refuses(`${head}spec: {availabilityMode: Perhaps}\n`, /cc\.yaml:3:26: .*availabilityMode/)
  refuses(`${head}spec: {priority: 3000000000}\n`, /spec\.priority/)
})

test('a file that oc-mirror wrote is taken over', (t) => {
  const name =
    'dmc5179-openshift4-disconnected__oc-mirror-v2-sample-output-working-dir-cluster-resources-cc-redhat-operator-index-v4-19.yaml'
  if (!existsSync(data)) return t.skip('the folder of real inputs is absent')
  const text = readFileSync(join(data, name), 'utf8')
  const rendered = renderClusterCatalog(wanted, { text, file: name })
  assert.equal(rendered, `${renderClusterCatalog(wanted)}  priority: 0\n`)
})
