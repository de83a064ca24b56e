import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BootstrapFile } from '../../openshift/bootstrap/bootstrap-file.ts'
import { checkManifests } from './check-manifests.ts'

function checked(texts: Readonly<Record<string, string>>) {
  const files = Object.entries(texts).map(([path, text]): [string, BootstrapFile] => [
    path,
    { path, text, mode: 0o644, sizeBytes: text.length, isAppended: false },
  ])
  return checkManifests({ files: new Map(files) })
}

const path = '/opt/openshift/openshift/99-own.yaml'
const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n'

test('objects, lists, empty documents and JSON are manifests', () => {
  const { findings, manifests } = checked({
    [path]: `---\n${object}---\n# nothing\n---\n${object}`,
    '/opt/openshift/manifests/list.yaml': 'apiVersion: v1\nkind: List\nitems: []\n',
    '/opt/openshift/manifests/one.json': '{"apiVersion":"v1","kind":"Secret","metadata":{"generateName":"a-"}}',
    '/opt/openshift/manifests/notes.txt': 'not: [a manifest',
  })
  assert.deepEqual([findings, manifests], [[], 3])
})

test('a tab is no YAML, and the finding has its line', () => {
  const [first] = checked({ [path]: `${object}data:\n\ta: b\n` }).findings
  assert.equal(first?.id, 'rehearse.cluster-manifest-invalid')
  assert.match(first?.summary ?? '', /no YAML: Tabs are not allowed/)
  assert.equal(first?.where?.line, 6)
})

test('the second of several documents has its own line', () => {
  const [first] = checked({ [path]: `${object}---\nremember: NTP\n` }).findings
  assert.match(first?.summary ?? '', /it has no apiVersion and no kind/)
  assert.ok((first?.where?.line ?? 0) >= 5)
})

test('an object without a name is none', () => {
  const [first] = checked({ [path]: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n' }).findings
  assert.match(first?.summary ?? '', /the ConfigMap has no metadata\.name/)
})

test('what a broken Secret holds is not quoted', () => {
  const yaml = 'apiVersion: v1\nkind: Secret\nstringData:\n  password: "s3cr3t\nmetadata: [\n'
  const json = '{"kind":"Secret","data":{"password":"s3cr3t"'
  for (const text of [yaml, json]) {
    const { findings } = checked({ [path]: text })
    assert.equal(findings.length, 1)
    assert.doesNotMatch(JSON.stringify(findings), /s3cr3t/)
  }
})
