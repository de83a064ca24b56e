import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { renderUpdateService } from './update-service.ts'

const data = fileURLToPath(new URL('../../../shared/data/cluster-resources', import.meta.url))
const spec = {
  releases: 'lab.example:8443/ocp/openshift/release-images',
  graphDataImage: 'lab.example:8443/ocp/openshift/graph-image:latest',
}

test('the resource is what oc-mirror writes, without its time stamps', () => {
  assert.equal(
    renderUpdateService(spec),
    `apiVersion: updateservice.operator.openshift.io/v1
kind: UpdateService
metadata:
  name: update-service-oc-mirror
  namespace: openshift-update-service
spec:
  replicas: 2
  releases: lab.example:8443/ocp/openshift/release-images
  graphDataImage: lab.example:8443/ocp/openshift/graph-image:latest
`,
  )
})

test('what a person changed is kept; what the mirror decides is written anew, and then stays as it is', () => {
  const text = `# ours
apiVersion: updateservice.operator.openshift.io/v1
kind: UpdateService
metadata:
  name: mine
  namespace: updates
  annotations: {argocd.argoproj.io/sync-wave: "3", createdAt: "Sunday, 31-Aug-25"}
spec: {replicas: 1, releases: old/releases, graphDataImage: "old/graph:1", further: {a: 1}}
status: {}
`
  const rendered = renderUpdateService(spec, { text, file: 'updateService.yaml' })
  assert.deepEqual(parse(rendered), {
    apiVersion: 'updateservice.operator.openshift.io/v1',
    kind: 'UpdateService',
    metadata: { name: 'mine', namespace: 'updates', annotations: { 'argocd.argoproj.io/sync-wave': '3' } },
    spec: { replicas: 1, ...spec, further: { a: 1 } },
  })
  assert.equal(renderUpdateService(spec, { text: rendered, file: 'updateService.yaml' }), rendered)
})

const files = existsSync(data) ? readdirSync(data).filter((name) => name.endsWith('updateService.yaml')) : []
for (const name of files) {
  test(`a file that oc-mirror wrote is taken over: ${name}`, () => {
    const text = readFileSync(join(data, name), 'utf8')
    const rendered = renderUpdateService(spec, { text, file: name })
    assert.equal(rendered, renderUpdateService(spec))
  })
}

test('a file with something else in it is not overwritten', () => {
  const refuses = (text: string, message: RegExp) =>
    assert.throws(() => renderUpdateService(spec, { text, file: 'f.yaml' }), { code: 'CONFIG_INVALID', message })
  refuses('kind: Secret\n', /f\.yaml:1:1: not an UpdateService: apiVersion is not there/)
  refuses('a: [', /f\.yaml/)
  refuses('a: *b\n', /f\.yaml/)
  refuses('a: 1\n---\nb: 2\n', /several documents/)
  refuses(
    'apiVersion: updateservice.operator.openshift.io/v1\nkind: UpdateService\nmetadata: {name: a}\nspec: {replicas: 0}\n',
    /spec\.replicas/,
  )
  assert.equal(renderUpdateService(spec, { text: '\n', file: 'f.yaml' }), renderUpdateService(spec))
})
