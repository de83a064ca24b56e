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

test('components may be named, and have files of their own in their topmost layer', async () => {
  const files = { 'usr/bin/oc': Buffer.from('a program') }
  const { components } = sampleRelease({ ...small, components: ['etcd'], componentFiles: { cli: files } })
  assert.deepEqual(
    components.map(({ name }) => name),
    ['cli', 'etcd'],
  )
  const image = components[0]?.image
  assert.ok(image)
  const blobs = new Map(image.blobs.map((blob) => [blob.descriptor.digest, blob]))
  const found = await findLayerFiles({
    wanted: ['usr/bin/oc'],
    layers: layersOf(image).slice(-1),
    open: async function* ({ digest }) {
      yield* blobs.get(digest)?.open() ?? []
    },
    origin: 'sample',
  })
  assert.equal(found.get('usr/bin/oc')?.toString(), 'a program')
})

test('a revised component is another image over the same base; the others stay as they are', () => {
  const one = sampleRelease({ ...small, components: ['cli', 'etcd'] })
  const other = sampleRelease({ ...small, components: ['cli', 'etcd'], revisions: { cli: 'fixed' } })
  const layers = ({ components }: SampleRelease, index: number) => components[index]?.image.blobs.slice(0, -1) ?? []
  const digests = (release: SampleRelease, index: number) =>
    layers(release, index).map(({ descriptor }) => descriptor.digest)
  assert.notEqual(one.components[0]?.image.digest, other.components[0]?.image.digest)
  assert.deepEqual(digests(one, 0).slice(0, 3), digests(other, 0).slice(0, 3))
  assert.equal(one.components[1]?.image.digest, other.components[1]?.image.digest)
})

test('the payload says what real ones say: upgrade edges, errata, commits and versions', async () => {
  const payload = await payloadOf(sampleRelease({ ...small, components: ['hyperkube', 'rhel-coreos'] }))
  assert.deepEqual(payload.metadata?.previous.slice(-2), ['4.18.7', '4.18.8'])
  assert.equal(payload.metadata?.more['url'], 'https://errata.example.com/4.18.9')
  const [hyperkube, coreos] = payload.components.map(({ annotations }) => annotations)
  assert.equal(hyperkube?.['io.openshift.build.versions'], 'kubernetes=1.31.9')
  assert.match(hyperkube?.['io.openshift.build.commit.id'] ?? '', /^[0-9a-f]{40}$/)
  assert.match(coreos?.['io.openshift.build.versions'] ?? '', /^machine-os=418\./)
})
