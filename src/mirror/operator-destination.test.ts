import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, hexOf } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { parseMirrorTarget } from './destination.ts'
import { withMaxNestedPaths } from './nested-paths.ts'
import {
  type CatalogNaming,
  catalogDestination,
  layoutDirectory,
  operatorImageDestination,
} from './operator-destination.ts'

const target = parseMirrorTarget('docker://reg.lab:8443/ocp')
const digest = digestOf('as it is at the target')
const source = digestOf('as it is at the source')

function placeOf(catalog: string, more: Partial<CatalogNaming> = {}, at = target): string {
  return formatReference(catalogDestination({ catalog, ...more }, at, digest)).replace('reg.lab:8443/ocp/', '')
}

test('a catalog goes where oc-mirror puts it', () => {
  const index = 'registry.redhat.io/redhat/redhat-operator-index'
  assert.equal(placeOf(`${index}:v4.18`), 'redhat/redhat-operator-index:v4.18')
  assert.equal(placeOf(`docker://${index}:v4.18`), 'redhat/redhat-operator-index:v4.18')
  assert.equal(placeOf(`${index}:v4.18@${source}`), 'redhat/redhat-operator-index:v4.18')
  assert.equal(placeOf(`${index}:v4.18`, { targetCatalog: 'mine/index' }), 'mine/index:v4.18')
  assert.equal(placeOf(`${index}:v4.18`, { targetTag: 'v4.18-custom' }), 'redhat/redhat-operator-index:v4.18-custom')
  assert.equal(placeOf(`${index}:v4.18`, { targetName: 'mine' }), 'redhat/mine:v4.18')
})

test('a catalog that is named by digest alone has the digest that it has at the target as its tag', () => {
  const index = `registry.redhat.io/redhat/redhat-operator-index@${source}`
  assert.equal(placeOf(index), `redhat/redhat-operator-index:sha256-${hexOf(digest)}`)
  assert.equal(placeOf(index, { targetTag: 'v1' }), 'redhat/redhat-operator-index:v1')
})

test('a catalog from a layout has the name of its directory, and latest', () => {
  assert.equal(placeOf('oci:///srv/catalogs/my-index'), 'my-index:latest')
  assert.equal(placeOf('oci://relative/my-index/'), 'my-index:latest')
  assert.equal(placeOf('oci:///srv/my-index', { targetCatalog: 'a/b', targetTag: 'v1' }), 'a/b:v1')
  assert.equal(placeOf(`oci:///srv/my-index@${source}`), `my-index:sha256-${hexOf(digest)}`)
  assert.throws(() => placeOf('oci:///srv/My Index'), { code: 'CONFIG_INVALID', message: /My Index/ })
  assert.equal(layoutDirectory('oci:///srv/my-index'), '/srv/my-index')
  assert.equal(layoutDirectory('oci://relative'), 'relative')
  assert.equal(layoutDirectory('reg.lab/oci:v1'), undefined)
})

test('where a registry allows few components, catalogs and images are folded alike', () => {
  const flat = withMaxNestedPaths(target, 2)
  assert.equal(placeOf('quay.io/a/b/index:v1', {}, flat), 'a-b-index:v1')
  const place = operatorImageDestination(parseReference(`quay.io/a/b/c@${source}`), flat)
  assert.equal(formatReference(place), `reg.lab:8443/ocp/a-b-c:sha256-${hexOf(source)}`)
})
