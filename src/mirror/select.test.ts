import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeRelease } from '../../testkit/release-payload.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import { digestOf } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { releaseSources } from '../quickstart/sample-release.ts'
import { LocalContent } from './local-content.ts'
import { selectImages } from './select.ts'
import { workspaceAt } from './workspace.ts'

const target = { registry: 'lab', path: 'ocp' }
const digest = digestOf('x')

async function select(t: TestContext, mirror: object) {
  const workspace = workspaceAt(await tempDir(t), '/')
  const { client } = testClient(t)
  const document = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1', mirror }
  const config = parseImageSetConfiguration({ file: 'isc.yaml', text: JSON.stringify(document) })
  const options = {
    source: client,
    local: new LocalContent(workspace),
    workspace,
    signal: new AbortController().signal,
  }
  const { images, blocked, unreadable } = await selectImages(config, target, options)
  const pairs = images.map(({ source, destination }) => [formatReference(source), formatReference(destination)])
  return { pairs, blocked, unreadable, images, workspace }
}

test('an additional image keeps its path and tag, unless it is given others', async (t) => {
  const { pairs, images } = await select(t, {
    additionalImages: [
      { name: 'quay.io/a/b:1' },
      { name: 'quay.io/a/c' },
      { name: `quay.io/a/d@${digest}` },
      { name: `docker://quay.io/a/e:1@${digest}` },
      { name: 'ubi9', targetRepo: 'my/ubi', targetTag: 'mine' },
    ],
  })
  assert.deepEqual(pairs, [
    ['quay.io/a/b:1', 'lab/ocp/a/b:1'],
    ['quay.io/a/c:latest', 'lab/ocp/a/c:latest'],
    [`quay.io/a/d@${digest}`, `lab/ocp/a/d:${digest.replace(':', '-')}`],
    [`quay.io/a/e:1@${digest}`, 'lab/ocp/a/e:1'],
    ['docker.io/library/ubi9:latest', 'lab/ocp/my/ubi:mine'],
  ])
  assert.ok(images.every((image) => image.class === 'additional' && image.why.startsWith('additionalImages ')))
})

test('the same image named twice is one; two images for one name are refused by both their names', async (t) => {
  const twice = await select(t, { additionalImages: [{ name: 'quay.io/a/b:1' }, { name: 'docker://quay.io/a/b:1' }] })
  assert.equal(twice.pairs.length, 1)
  await assert.rejects(select(t, { additionalImages: [{ name: 'quay.io/a/b:1' }, { name: 'docker.io/a/b:1' }] }), {
    code: 'CONFIG_INVALID',
    message: /lab\/ocp\/a\/b:1: quay\.io\/a\/b:1 .* and docker\.io\/a\/b:1 /,
  })
})

test('blockedImages matches the whole name, also of a component of the release', async (t) => {
  const release = makeRelease({ components: 3 })
  const source = await startScriptedRegistry(t)
  await pushAll(testClient(t).client, source.address, releaseContent(release))
  const [first] = release.components
  const { pairs, blocked, images, workspace } = await select(t, {
    platform: { release: `${source.address}/${releaseSources.images}:${release.tag}` },
    additionalImages: [{ name: 'quay.io/a/aws-cli:1' }],
    blockedImages: [{ name: String(first?.image.digest) }, { name: '.*aws.*' }],
  })
  assert.deepEqual(
    blocked.map(({ destination }) => destination.tag).sort(),
    [`${release.tag}-${first?.name}`, '1'].sort(),
  )
  assert.equal(pairs.length, 1 + 2)
  assert.deepEqual(
    images.filter(({ isReleaseImage }) => isReleaseImage).map(({ destination }) => formatReference(destination)),
    [`lab/ocp/openshift/release-images:${release.tag}`],
  )
  const kept = join(workspace.root, 'hold-release', 'ocp-release', release.tag, 'release-manifests', 'image-references')
  assert.equal(JSON.parse(await readFile(kept, 'utf8')).spec.tags.length, 3)
})

test('a release that does not exist is told by its name, and what else is asked for does not wait for it', async (t) => {
  const source = await startScriptedRegistry(t)
  const name = `${source.address}/a/b:none`
  const { unreadable, pairs } = await select(t, {
    platform: { release: name },
    additionalImages: [{ name: 'quay.io/a/b:1' }],
  })
  const [release] = unreadable
  assert.equal(release?.error.code, 'MANIFEST_UNKNOWN')
  assert.match(release?.error.message ?? '', new RegExp(name))
  assert.equal(release?.image.class, 'release')
  assert.deepEqual(pairs, [['quay.io/a/b:1', 'lab/ocp/a/b:1']])
})
