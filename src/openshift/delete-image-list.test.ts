import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseDeleteImageList, renderDeleteImageList } from './delete-image-list.ts'

const cli = {
  imageName:
    'quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:c32a883a6ca7b2e7a58b9dd99a5e8d056bdbbc9d79d8486b2e4c7e07c3dc4512',
  imageReference: 'docker://registry.lab:8443/ocp/openshift/release:4.15.12-x86_64-cli',
  type: 'ocpReleaseContent',
}
const additional = { ...cli, imageReference: 'docker://registry.lab:8443/ocp/extra:1', type: 'generic' }

test('the list has the shape that oc-mirror writes, sorted, without a time stamp', () => {
  const text = renderDeleteImageList([cli, additional, cli])
  assert.equal(
    text,
    `apiVersion: mirror.openshift.io/v2alpha1
kind: DeleteImageList
items:
- imageName: ${additional.imageName}
  imageReference: ${additional.imageReference}
  type: generic
- imageName: ${cli.imageName}
  imageReference: ${cli.imageReference}
  type: ocpReleaseContent
`,
  )
  assert.deepEqual(parseDeleteImageList(text, 'x.yaml'), [additional, cli])
  assert.deepEqual(parseDeleteImageList(renderDeleteImageList([]), 'x.yaml'), [])
})

test('a list that oc-mirror wrote is read', (t) => {
  const file = new URL('../../../shared/data/mirror/oc-mirror/misc/delete-images.yaml', import.meta.url)
  if (!existsSync(file)) return t.skip('the shared data is not here')
  const [item, ...others] = parseDeleteImageList(readFileSync(file, 'utf8'), 'delete-images.yaml')
  assert.equal(item?.type, 'ocpReleaseContent')
  assert.match(item?.imageReference ?? '', /^docker:\/\/localhost:5000\/myregistry\/openshift\/release:4\.15\.12/)
  assert.equal(others.length, 0)
})

test('what is no list is refused with its name and the reason', () => {
  const reasons: [string, RegExp][] = [
    ['kind: ImageSetConfiguration\n', /isc\.yaml is no list of images to delete: kind: it must be DeleteImageList/],
    ['kind: DeleteImageList\nitems: [{imageName: x}]\n', /items\.0\.imageReference/],
    ['a: [', /isc\.yaml is no list/],
    ['a: *b\n', /alias/],
  ]
  for (const [text, message] of reasons)
    assert.throws(() => parseDeleteImageList(text, 'isc.yaml'), { code: 'CONFIG_INVALID', message })
})
