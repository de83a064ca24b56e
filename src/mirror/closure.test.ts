import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  makeAttestation,
  makeImage,
  makeIndex,
  makeMultiArch,
  makeReferrer,
  makeSignature,
} from '../../testkit/image.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { resolveImage } from './closure.ts'
import type { SelectedImage } from './selection.ts'

async function scene(t: TestContext, images: readonly SampleImage[], hasReferrersApi = true) {
  const registry = await startScriptedRegistry(t, { hasReferrersApi })
  const { client } = testClient(t)
  await pushAll(client, registry.address, [{ repository: 'a/b', images }])
  registry.requests.length = 0
  const resolve = (reference: { tag: string } | { digest: SampleImage['digest'] }, withoutAttached = false) => {
    const selected: SelectedImage = {
      source: { registry: registry.address, repository: 'a/b', ...reference },
      class: 'additional',
      destination: { registry: 'lab', repository: 'b', tag: 'x' },
      why: 'test',
    }
    return resolveImage(selected, { source: client, signal: new AbortController().signal, withoutAttached })
  }
  return { registry, resolve }
}

test('an image is its manifests down to the last platform, children first, each asked for once', async (t) => {
  const inner = makeMultiArch({ seed: 'inner', architectures: ['amd64', 'arm64'] })
  const shared = makeImage({ seed: 'shared' })
  const attested = makeIndex({ children: [shared, makeAttestation(shared)] })
  const root = makeIndex({ children: [inner, attested, shared], tag: '1' })
  const { registry, resolve } = await scene(t, [root])
  const [image, ...others] = await resolve({ tag: '1' })
  assert.deepEqual(others, [])
  assert.equal(image?.digest, root.digest)
  const order = image?.manifests.map(({ descriptor }) => descriptor.digest) ?? []
  assert.deepEqual(new Set(order), new Set(root.manifests.map(({ descriptor }) => descriptor.digest)))
  assert.equal(order.length, new Set(order).size)
  assert.equal(order.at(-1), root.digest)
  for (const { children, descriptor } of image?.manifests ?? [])
    for (const child of children) assert.ok(order.indexOf(child) < order.indexOf(descriptor.digest))
  const reads = registry.requests
    .filter(({ method, path }) => method === 'GET' && path.includes('/manifests/'))
    .map(({ path }) => path)
  assert.deepEqual(reads.length, new Set(reads).size)
})

for (const hasReferrersApi of [true, false]) {
  test(`signatures and referrers come along, those of referrers too (${hasReferrersApi ? 'referrers API' : 'by tag'})`, async (t) => {
    const subject = makeImage({ seed: 'subject', tag: '1' })
    const sbom = makeReferrer({ subject, artifactType: 'application/spdx+json', content: '{}' })
    const signature = makeReferrer({ subject: sbom, artifactType: 'application/x-signature', content: 's' })
    const cosign = makeSignature(subject)
    const { resolve } = await scene(t, [subject, sbom, signature, cosign], hasReferrersApi)
    const [image, ...attached] = await resolve({ tag: '1' })
    assert.equal(image?.attachedTo, undefined)
    assert.deepEqual(
      attached.map(({ digest, attachedTo }) => [digest, attachedTo]).sort(),
      [
        [sbom.digest, subject.digest],
        [signature.digest, sbom.digest],
        [cosign.digest, subject.digest],
      ].sort(),
    )
    const tags = attached.map(({ selected }) => selected.destination.tag).filter((tag) => tag !== undefined)
    assert.deepEqual(tags, [`${subject.digest.replace(':', '-')}.sig`])
  })
}

test('what hangs on one platform of an index comes along', async (t) => {
  const child = makeImage({ seed: 'child' })
  const root = makeIndex({ children: [child], tag: '1' })
  const { resolve } = await scene(t, [
    root,
    makeSignature(child),
    makeReferrer({ subject: child, artifactType: 'x/y', content: '' }),
  ])
  assert.deepEqual(
    (await resolve({ tag: '1' })).slice(1).map(({ attachedTo }) => attachedTo),
    [child.digest, child.digest],
  )
})

test('artifacts that name each other end', async (t) => {
  const subject = makeImage({ seed: 'subject', tag: '1' })
  const referrer = makeReferrer({ subject, artifactType: 'x/y', content: '' })
  const { registry, resolve } = await scene(t, [subject, referrer])
  const { digest, mediaType, size } = referrer.descriptor
  registry.fault({
    path: /\/referrers\//,
    status: 200,
    headers: { 'content-type': 'application/vnd.oci.image.index.v1+json' },
    body: JSON.stringify({ schemaVersion: 2, manifests: [{ digest, mediaType, size }] }),
  })
  assert.equal((await resolve({ tag: '1' })).length, 2)
})

test('an image that is not there, and one that lacks a platform, are named', async (t) => {
  const root = makeIndex({ children: [makeImage({ seed: 'child' })], tag: '1' })
  const { registry, resolve } = await scene(t, [root])
  await assert.rejects(resolve({ tag: '2' }), {
    code: 'MANIFEST_UNKNOWN',
    message: new RegExp(`${registry.address}/a/b:2`),
  })
  const child = String(root.manifests[0]?.descriptor.digest)
  registry.content.manifests.delete(`a/b@${child}`)
  await assert.rejects(resolve({ digest: root.digest }), { code: 'MANIFEST_UNKNOWN', message: new RegExp(child) })
})

test('without what is attached, only the image itself is there, and nobody is asked for more', async (t) => {
  const subject = makeImage({ seed: 'subject', tag: '1' })
  const sbom = makeReferrer({ subject, artifactType: 'application/spdx+json', content: '{}' })
  const { registry, resolve } = await scene(t, [subject, sbom, makeSignature(subject)])
  const images = await resolve({ tag: '1' }, true)
  assert.deepEqual(
    images.map(({ digest }) => digest),
    [subject.digest],
  )
  assert.equal(registry.requests.length, 1)
})
