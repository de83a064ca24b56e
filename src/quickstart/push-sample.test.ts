import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeImage, makeIndex, makeMultiArch, makeReferrer } from '../../testkit/image.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { distinctBlobs } from './push-sample.ts'

test('a registry holds every manifest and blob of a release that was pushed to it', async (t) => {
  const { address: registry } = await testRegistry(t)
  const { client } = testClient(t)
  const content = releaseContent(makeRelease())
  await pushAll(client, registry, content)
  for (const { repository, images } of content) {
    for (const { descriptor } of distinctBlobs(images)) {
      assert.equal(await client.blobSize({ registry, repository }, descriptor.digest), descriptor.size)
    }
    for (const { digest } of images) assert.ok(await client.resolve({ registry, repository, digest }))
  }
  const { image, tag } = makeRelease()
  const released = await client.resolve({ registry, repository: 'openshift-release-dev/ocp-release', tag })
  assert.equal(released?.digest, image.digest)
})

test('an index is pushed with the image of every platform, and a referrer is listed for its subject', async (t) => {
  const { address: registry } = await testRegistry(t)
  const { client } = testClient(t)
  const repository = 'app/web'
  const image = makeMultiArch({ seed: 'app', architectures: ['amd64', 'arm64', 's390x'], tag: 'v1' })
  const referrer = makeReferrer({ subject: image, artifactType: 'application/spdx+json', content: '{}' })
  await pushAll(client, registry, [{ repository, images: [image] }])
  await pushAll(client, registry, [{ repository, images: [referrer] }])
  assert.equal((await client.resolve({ registry, repository, tag: 'v1' }))?.digest, image.digest)
  const listed = await client.referrers({ registry, repository }, image.digest)
  assert.deepEqual(
    listed.map(({ digest, artifactType }) => ({ digest, artifactType })),
    [{ digest: referrer.digest, artifactType: 'application/spdx+json' }],
  )
})

test('a blob that images share is one blob', () => {
  const image = makeImage({ seed: 'shared', layers: 3 })
  const list = makeIndex({ children: [image, image], mediaTypes: 'docker' })
  assert.equal(list.descriptor.mediaType, mediaTypes.dockerList)
  assert.equal(distinctBlobs([list, image]).length, 4)
})
