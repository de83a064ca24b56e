import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeImage } from '../../testkit/image.ts'
import { writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { testClient } from '../../testkit/test-client.ts'
import { formatReference } from '../oci/reference.ts'
import { openReleaseSource, releaseByVersion } from './release-source.ts'

/** A directory in which oc-mirror left release images with these tags; gives the tag that is chosen. */
async function chooser(t: TestContext, tags: readonly string[]) {
  const images = tags.map((tag) => makeImage({ seed: tag, tag, layers: 1 }))
  const content = [{ repository: 'openshift/release-images', images }]
  const { directory } = await writeOcMirrorArchive(t, { content })
  const registry = testClient(t).client
  return async (wanted: { release?: string; architecture?: string }) => {
    const { reference, close } = await openReleaseSource({ kind: 'oc-mirror', directory, ...wanted }, { registry })
    await close()
    assert.equal(reference.digest, images.find(({ manifests: [manifest] }) => manifest?.tag === reference.tag)?.digest)
    return reference.tag
  }
}

test('a version alone is a release image of Red Hat, of one architecture or of all', () => {
  assert.equal(
    formatReference(releaseByVersion('4.18.9', 'amd64')),
    'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64',
  )
  assert.equal(
    formatReference(releaseByVersion('4.18.9', 'multi')),
    'quay.io/openshift-release-dev/ocp-release:4.18.9-multi',
  )
})

test('a release is named by version, tag or digest; a version is not the beginning of another', async (t) => {
  const choose = await chooser(t, ['4.18.1-x86_64', '4.18.10-x86_64', '4.18.1-rc.1-x86_64'])
  assert.equal(await choose({ release: '4.18.10' }), '4.18.10-x86_64')
  assert.equal(await choose({ release: '4.18.1-rc.1' }), '4.18.1-rc.1-x86_64')
  assert.equal(await choose({ release: '4.18.1-x86_64' }), '4.18.1-x86_64')
  assert.equal(await choose({ release: '4.18.1' }), '4.18.1-x86_64')
  await assert.rejects(choose({ release: '4.17.1' }), { code: 'RELEASE_ABSENT' })
  await assert.rejects(choose({}), { code: 'USAGE', message: /there are 3 releases/ })
})

test('the architecture chooses among those of a version; a multi payload has each of them', async (t) => {
  const choose = await chooser(t, ['4.18.9-x86_64', '4.18.9-aarch64'])
  assert.equal(await choose({ release: '4.18.9', architecture: 'arm64' }), '4.18.9-aarch64')
  await assert.rejects(choose({ release: '4.18.9' }), { code: 'USAGE' })
  await assert.rejects(choose({ architecture: 's390x' }), { code: 'RELEASE_ABSENT', message: /no release for s390x/ })
  const withMulti = await chooser(t, ['4.18.9-x86_64', '4.18.9-multi'])
  assert.equal(await withMulti({ architecture: 's390x' }), '4.18.9-multi')
  assert.equal(await withMulti({ architecture: 'amd64' }), '4.18.9-x86_64')
})

test('the only release is the one that is meant, whatever its tag: of OKD, or by digest', async (t) => {
  for (const tag of [
    '4.15.0-0.okd-2024-03-10-010116',
    'f81792339c8b5934191d18a53b18bc1d584e01a9f37d59c0aa6905b00200aa1b',
  ]) {
    const choose = await chooser(t, [tag])
    assert.equal(await choose({}), tag)
    assert.equal(await choose({ architecture: 'amd64' }), tag)
  }
})
