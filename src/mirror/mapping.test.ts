import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolvedImages } from '../../testkit/plans.ts'
import { parseReference } from '../oci/reference.ts'
import { mappingText } from './mapping.ts'

test('a line an image, sorted; with manifest lists one for each platform, by digest so that no tag is overwritten', () => {
  const [list] = resolvedImages({ name: 'list', layers: ['a'], architectures: ['amd64', 's390x'] }, 'lab.example/ocp')
  const [single] = resolvedImages({ name: 'a/single', layers: ['b'] }, 'lab.example/ocp')
  assert.ok(list && single)
  const tagged = { ...list, selected: { ...list.selected, source: parseReference('quay.io/team/list:2') } }
  const images = [tagged.selected, single.selected]
  const first = `docker://quay.io/team/a/single@${single.digest}=docker://lab.example/ocp/a/single:v1`
  const second = 'docker://quay.io/team/list:2=docker://lab.example/ocp/list:v1'
  assert.deepEqual(mappingText(images).split('\n'), [first, second, ''])
  const platforms = list.manifests
    .slice(0, 2)
    .map(
      ({ descriptor: { digest } }) => `docker://quay.io/team/list:2@${digest}=docker://lab.example/ocp/list@${digest}`,
    )
  assert.deepEqual(mappingText(images, [tagged, single]).split('\n'), [first, second, ...platforms, ''])
})

test('an image with a tag and a digest is named by its digest alone, so that every tool can read the line', () => {
  const [image] = resolvedImages({ name: 'list', layers: ['a'], architectures: ['amd64', 's390x'] }, 'lab.example/ocp')
  assert.ok(image)
  const source = parseReference(`quay.io/team/list:2@${image.digest}`)
  const both = { ...image, selected: { ...image.selected, source } }
  const lines = mappingText([both.selected], [both]).split('\n')
  assert.equal(lines[0], `docker://quay.io/team/list@${image.digest}=docker://lab.example/ocp/list:v1`)
  const [child] = image.manifests
  assert.match(lines[1] ?? '', new RegExp(`^docker://quay.io/team/list@${child?.descriptor.digest}=`))
})
