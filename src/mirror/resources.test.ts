import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { tempDir } from '../../testkit/temp-dir.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { mirrorSets, scopeOf, writeResources } from './resources.ts'
import type { SelectedImage } from './selection.ts'
import { workspaceAt } from './workspace.ts'

const component: SelectedImage = {
  source: parseReference(`quay.io/openshift-release-dev/ocp-v4.0-art-dev@${digestOf('cli')}`),
  class: 'release',
  destination: parseReference('reg.lab:8443/ocp/openshift/release:4.18.9-x86_64-cli'),
  why: 'component cli',
}
const release: SelectedImage = {
  source: parseReference('quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64'),
  class: 'release',
  destination: parseReference('reg.lab:8443/ocp/openshift/release-images:4.18.9-x86_64'),
  why: 'platform.release',
  isReleaseImage: true,
}
const ubi: SelectedImage = {
  source: parseReference('registry.redhat.io/ubi9/ubi:latest'),
  class: 'additional',
  destination: parseReference('reg.lab:8443/ocp/ubi9/ubi:latest'),
  why: 'additionalImages',
}

test('the mirror sets have the names, kinds and scopes that oc-mirror gives them', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  await writeResources(workspace, mirrorSets([component, release, ubi]))

  const idms = await readFile(join(workspace.clusterResources, 'idms-oc-mirror.yaml'), 'utf8')
  assert.deepEqual(parse(idms), {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageDigestMirrorSet',
    metadata: { name: 'idms-release-0' },
    spec: {
      imageDigestMirrors: [
        { source: 'quay.io/openshift-release-dev/ocp-release', mirrors: ['reg.lab:8443/ocp/openshift/release-images'] },
        { source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev', mirrors: ['reg.lab:8443/ocp/openshift/release'] },
      ],
    },
  })
  const itms = parseAllDocuments(await readFile(join(workspace.clusterResources, 'itms-oc-mirror.yaml'), 'utf8'))
  assert.deepEqual(
    itms.map((document) => document.toJS()?.metadata.name),
    ['itms-generic-0', 'itms-release-0'],
  )
  assert.deepEqual(itms[0]?.toJS().spec, {
    imageTagMirrors: [{ source: 'registry.redhat.io/ubi9', mirrors: ['reg.lab:8443/ocp/ubi9'] }],
  })
})

test('a release of a channel, which is found by digest, is redirected by its tag, too', () => {
  const digest = digestOf('release')
  const found = { ...release, source: parseReference(`quay.io/openshift-release-dev/ocp-release@${digest}`) }
  const sets = mirrorSets([component, found])
  assert.deepEqual(
    sets.map(({ name }) => name),
    ['idms-release-0', 'itms-release-0'],
  )
  assert.deepEqual(sets[1]?.entries, [
    { source: 'quay.io/openshift-release-dev/ocp-release', mirrors: ['reg.lab:8443/ocp/openshift/release-images'] },
  ])
  const nameless = { ...found, destination: { ...found.destination, tag: hexOf(digest) } }
  assert.deepEqual(
    mirrorSets([nameless]).map(({ name }) => name),
    ['idms-release-0'],
  )
})

test('an image named by tag and digest is in both sets', () => {
  const both = { ...ubi, source: parseReference(`registry.redhat.io/ubi9/ubi:latest@${digestOf('ubi')}`) }
  assert.deepEqual(
    mirrorSets([both]).map(({ name }) => name),
    ['idms-generic-0', 'itms-generic-0'],
  )
})

test('an image that was made here is no source of any mirror set', () => {
  const graph: SelectedImage = {
    source: parseReference('sallyport.invalid/openshift/graph-image:latest'),
    class: 'release',
    destination: parseReference('reg.lab:8443/ocp/openshift/graph-image:latest'),
    why: 'platform.graph',
  }
  assert.deepEqual(mirrorSets([graph], { icsp: true }), [])
  assert.deepEqual(mirrorSets([graph, component]), mirrorSets([component]))
})

test('a catalog is no source of any mirror set; what its bundles name has sets of its own', () => {
  const index: SelectedImage = {
    source: parseReference('registry.redhat.io/redhat/redhat-operator-index:v4.18'),
    class: 'operator',
    destination: parseReference('reg.lab:8443/ocp/redhat/redhat-operator-index:v4.18'),
    why: 'operators',
    isCatalog: true,
  }
  assert.deepEqual(mirrorSets([index], { icsp: true }), [])
  const bundle = { ...ubi, class: 'operator', source: { ...ubi.source, digest: digestOf('b') } } as const
  assert.deepEqual(
    mirrorSets([index, bundle]).map(({ name }) => name),
    ['idms-operator-0', 'itms-operator-0'],
  )
})

test('a later run keeps what an earlier one wrote, and a run with nothing new changes no byte', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  const path = join(workspace.clusterResources, 'itms-oc-mirror.yaml')
  const nginx = {
    ...ubi,
    source: parseReference('quay.io/web/nginx:1'),
    destination: parseReference('reg.lab:8443/ocp/web/nginx:1'),
  }
  await writeResources(workspace, mirrorSets([ubi]))
  await writeResources(workspace, mirrorSets([nginx]))
  const merged = await readFile(path, 'utf8')
  assert.match(merged, /registry\.redhat\.io\/ubi9/)
  assert.match(merged, /quay\.io\/web/)

  await writeResources(workspace, mirrorSets([ubi, nginx]))
  assert.equal(await readFile(path, 'utf8'), merged)
})

test('a resource file that cannot be read is an error, and stays as it is', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  await writeResources(workspace, mirrorSets([ubi]))
  const path = join(workspace.clusterResources, 'itms-oc-mirror.yaml')
  const broken = 'kind: ImageTagMirrorSet\nmetadata: {name: mine}\nspec: {imageTagMirrors: [{mirrors: 3}]}\n'
  await writeFile(path, broken)

  await assert.rejects(writeResources(workspace, mirrorSets([ubi])), { code: 'CONFIG_INVALID' })
  assert.equal(await readFile(path, 'utf8'), broken)
})

test('the namespace is mirrored only where the whole path was kept, not where the text merely ends alike', () => {
  const source = parseReference('quay.io/ubi9/ubi:1')
  assert.deepEqual(scopeOf(source, parseReference('reg.lab/ocp/ubi9/ubi:1')), {
    source: 'quay.io/ubi9',
    mirror: 'reg.lab/ocp/ubi9',
  })
  assert.deepEqual(scopeOf(source, parseReference('reg.lab/my-ubi9/ubi:1')), {
    source: 'quay.io/ubi9/ubi',
    mirror: 'reg.lab/my-ubi9/ubi',
  })
})

test('every source and mirror is one that the API server admits', async (t) => {
  const directory = new URL('../../../shared/data/installer/crds/', import.meta.url)
  let text: string
  try {
    text = await readFile(new URL('0000_10_config-operator_01_imagedigestmirrorsets.crd.yaml', directory), 'utf8')
  } catch {
    t.skip('the folder of real inputs is absent')
    return
  }
  const patterns = [...text.matchAll(/pattern: (\^.*)$/gm)].map(([, pattern = '']) => new RegExp(pattern))
  assert.ok(patterns.length >= 2)
  for (const { entries } of mirrorSets([component, release, ubi])) {
    for (const { source, mirrors } of entries) {
      for (const name of [source, ...mirrors])
        assert.ok(
          patterns.some((pattern) => pattern.test(name)),
          name,
        )
    }
  }
})
