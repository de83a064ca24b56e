import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { parseReference, repositoryName } from '../oci/reference.ts'
import { parseDeleteImageList } from '../openshift/delete-image-list.ts'
import { listedBeside, listedFromItems, listedFromSelection } from './listed-image.ts'

const target = { registry: 'r.lab:8443', path: 'ocp' }
const digest = digestOf('cli')
const item = (imageReference: string, type = 'ocpReleaseContent', imageName = `quay.io/dev@${digest}`) => ({
  imageName,
  imageReference,
  type,
})
const read = (...args: Parameters<typeof item>) => listedFromItems([item(...args)], target)[0]

test('an item is an image at the target: its class by its type, and what its tag must stand for by its source', () => {
  const image = read('docker://r.lab:8443/ocp/openshift/release:4.18.9-cli')
  assert.ok(image)
  assert.equal(repositoryName(image.repository), 'r.lab:8443/ocp/openshift/release')
  assert.deepEqual([image.name, image.expected, image.class], [{ tag: '4.18.9-cli' }, digest, 'release'])
  const types = { operatorBundle: 'operator', helmImage: 'helm', generic: 'additional', somethingNew: 'additional' }
  for (const [type, of] of Object.entries(types)) assert.equal(read('docker://r.lab:8443/ocp/x:1', type)?.class, of)
})

test('what is built on the way, and what has no digest or no registry, may stand for anything', () => {
  assert.equal(read('docker://r.lab:8443/ocp/index:v4.18', 'operatorCatalog')?.expected, undefined)
  assert.equal(read('r.lab:8443/ocp/x:1', 'generic', 'docker://quay.io/x:1')?.expected, undefined)
  assert.equal(read('docker://r.lab:8443/ocp/x:1', 'generic', 'oci:///tmp/layout')?.expected, undefined)
  assert.deepEqual(read(`docker://r.lab:8443/ocp/x@${digest}`, 'generic')?.name, { digest })
})

test("names of oc-mirror's cache are taken for the target, and nothing else is", () => {
  const cached = read('docker://localhost:55000/openshift/release:4.18.9-cli')
  assert.equal(cached?.repository.repository, 'ocp/openshift/release')
  const others = [
    'docker://other.lab:8443/ocp/openshift/release:1',
    'docker://r.lab:8443/ocp-test/openshift/release:1',
    'docker://localhost:5000/myregistry/openshift/release:1',
    'docker://Not An Image',
  ]
  for (const name of others) assert.throws(() => read(name), { code: 'CONFIG_INVALID' }, name)
  const local = { registry: 'localhost:5000', path: 'mine' }
  assert.throws(
    () => listedFromItems([item('docker://localhost:5000/yours/x:1', 'generic')], local),
    /not for docker:\/\/localhost:5000\/mine/,
  )
  const known = new Set(['r.lab:8443/ocp-openshift-release:1'])
  assert.ok(listedFromItems([item('docker://r.lab:8443/ocp-openshift-release:1')], target, known)[0])
})

test('the list that oc-mirror ships in its tests is for the target that it names', (t) => {
  const file = new URL('../../../shared/data/mirror/oc-mirror/misc/delete-images.yaml', import.meta.url)
  if (!existsSync(file)) return t.skip('the shared data is not here')
  const items = parseDeleteImageList(readFileSync(file, 'utf8'), 'delete-images.yaml')
  const [image] = listedFromItems(items, { registry: 'localhost:5000', path: 'myregistry' })
  assert.deepEqual(image?.name, { tag: '4.15.12-x86_64-agent-installer-api-server' })
  assert.throws(() => listedFromItems(items, target), { code: 'CONFIG_INVALID' })
})

test('a signature is named beside its image, at the source as at the target', () => {
  const image = listedFromSelection({
    source: parseReference(`quay.io/dev@${digest}`),
    destination: parseReference('r.lab:8443/ocp/dev:1'),
    class: 'additional',
    why: 'asked for',
  })
  const beside = listedBeside(image, parseReference('r.lab:8443/ocp/dev:sha256-x.sig'))
  assert.deepEqual(beside.item, {
    imageName: 'quay.io/dev:sha256-x.sig',
    imageReference: 'docker://r.lab:8443/ocp/dev:sha256-x.sig',
    type: 'generic',
  })
})
