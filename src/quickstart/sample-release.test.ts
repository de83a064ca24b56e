import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLayerFiles } from '../archive/tar/layer-files.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { parseManifest } from '../oci/manifest.ts'
import { formatReference } from '../oci/reference.ts'
import { parseReleasePayload, payloadFiles } from '../openshift/release-payload.ts'
import { componentNames } from './component-names.ts'
import { distinctBlobs } from './push-sample.ts'
import type { SampleImage } from './sample-image.ts'
import { type SampleRelease, sampleRelease } from './sample-release.ts'

const small = { seed: 'test', version: '4.18.9', sharedLayerBytes: 2000, layerBytes: 300 }

function layersOf(image: SampleImage): readonly Descriptor[] {
  const raw = image.manifests.at(-1)
  assert.ok(raw)
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, 'sample')
  return manifest.kind === 'image' ? manifest.layers : []
}

async function payloadOf({ image }: SampleRelease) {
  const blobs = new Map(image.blobs.map((blob) => [blob.descriptor.digest, blob]))
  const files = await findLayerFiles({
    wanted: Object.values(payloadFiles),
    layers: layersOf(image),
    open: async function* ({ digest }) {
      yield* blobs.get(digest)?.open() ?? []
    },
    origin: 'sample',
  })
  return parseReleasePayload(files, 'sample')
}

for (const layersAbovePayload of [0, 2]) {
  test(`the payload names every component by the digest of its image, ${layersAbovePayload} layers below the top`, async () => {
    const release = sampleRelease({ ...small, layersAbovePayload })
    const payload = await payloadOf(release)
    assert.equal(payload.version, '4.18.9')
    assert.deepEqual(
      payload.components.map(({ name, reference }) => [name, formatReference(reference)]),
      release.components.map(({ name, image }) => [
        name,
        `quay.io/openshift-release-dev/ocp-v4.0-art-dev@${image.digest}`,
      ]),
    )
  })
}

test('a release has 190 distinct images over six shared layers', () => {
  const { components } = sampleRelease(small)
  assert.equal(new Set(componentNames).size, 190)
  assert.equal(new Set(components.map(({ image }) => image.digest)).size, 190)
  const uses = new Map<string, number>()
  for (const { digest } of components.flatMap(({ image }) => layersOf(image))) {
    uses.set(digest, (uses.get(digest) ?? 0) + 1)
  }
  assert.equal([...uses.values()].filter((count) => count > 1).length, 6)
})

test('the same options give the same release, another seed or architecture another one', () => {
  const digest = (more: object) => sampleRelease({ ...small, components: 3, ...more }).image.digest
  assert.equal(digest({}), digest({}))
  assert.notEqual(digest({}), digest({ seed: 'other' }))
  assert.notEqual(digest({}), digest({ architecture: 'arm64' }))
})

test('every blob that a manifest of the release names is there', () => {
  const release = sampleRelease({ ...small, components: 20 })
  const images = [release.image, ...release.components.map(({ image }) => image)]
  const there = new Set(distinctBlobs(images).map(({ descriptor }) => descriptor.digest))
  const named = images.flatMap(layersOf).map(({ digest }) => digest)
  assert.deepEqual(
    named.filter((digest) => !there.has(digest)),
    [],
  )
})
