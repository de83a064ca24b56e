import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ScriptedRegistryOptions, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { RawManifest } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'

const repository = 'ocp/release'
const config = { mediaType: mediaTypes.ociConfig, digest: digestOf('{}'), size: 2 }
const document = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [] }

function raw(content: object): RawManifest {
  const bytes = Buffer.from(JSON.stringify(content))
  const descriptor = { mediaType: mediaTypes.ociManifest, digest: digestOf(bytes), size: bytes.byteLength }
  return { descriptor, bytes }
}

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], options: ScriptedRegistryOptions = {}) {
  const registry = await startScriptedRegistry(t, options)
  const { client } = testClient(t)
  return { registry, client, at: { registry: registry.address, repository } }
}

test('a manifest is resolved and fetched by tag and by digest', async (t) => {
  const { registry, client, at } = await setUp(t)
  const manifest = registry.addManifest(repository, document, '4.18')
  for (const reference of [
    { ...at, tag: '4.18' },
    { ...at, digest: manifest.digest },
  ]) {
    assert.deepEqual(await client.resolve(reference), manifest)
    const fetched = await client.fetchManifest(reference)
    assert.deepEqual(fetched?.descriptor, manifest)
    assert.deepEqual(JSON.parse(Buffer.from(fetched?.bytes ?? []).toString()), document)
  }
  const bodies = registry.requests.filter(({ method }) => method === 'HEAD').map(({ bytesOut }) => bytesOut)
  assert.equal(bodies.length, 2)
})

test('what is not there is undefined, not an error', async (t) => {
  const { client, at } = await setUp(t)
  assert.equal(await client.resolve({ ...at, tag: 'none' }), undefined)
  assert.equal(await client.fetchManifest({ ...at, digest: digestOf('none') }), undefined)
  assert.equal(await client.tags(at), undefined)
})

test('where HEAD tells too little, GET tells the rest', async (t) => {
  const { registry, client, at } = await setUp(t)
  const manifest = registry.addManifest(repository, document, '4.18')
  registry.fault({ method: 'HEAD', path: /manifests/, times: 1, status: 405 })
  assert.deepEqual(await client.resolve({ ...at, tag: '4.18' }), manifest)
  registry.fault({ method: 'HEAD', path: /manifests/, headers: { 'docker-content-digest': '' } })
  assert.deepEqual(await client.resolve({ ...at, tag: '4.18' }), manifest)
})

test('a manifest with other bytes than its digest is refused, and both digests are named', async (t) => {
  const { registry, client, at } = await setUp(t)
  const { digest } = registry.addManifest(repository, document, '4.18')
  const other = Buffer.from(JSON.stringify({ ...document, annotations: { evil: 'true' } }))
  registry.fault({ method: 'GET', path: /manifests/, change: () => other })
  for (const reference of [
    { ...at, digest },
    { ...at, tag: '4.18' },
  ]) {
    await assert.rejects(client.fetchManifest(reference), (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'BLOB_DIGEST_MISMATCH')
      assert.ok(error.message.includes(digest) && error.message.includes(digestOf(other)), error.message)
      return true
    })
  }
})

test('a Docker-Content-Digest that contradicts the reference is refused, already by HEAD', async (t) => {
  const { registry, client, at } = await setUp(t)
  const { digest } = registry.addManifest(repository, document)
  registry.fault({ path: /manifests/, headers: { 'docker-content-digest': digestOf('lie') } })
  await assert.rejects(client.resolve({ ...at, digest }), /Docker-Content-Digest header says/)
  await assert.rejects(client.fetchManifest({ ...at, digest }), { code: 'BLOB_DIGEST_MISMATCH' })
})

test('an answer that is no manifest, or a huge one, is refused', async (t) => {
  const { registry, client, at } = await setUp(t)
  const html = { 'content-type': 'text/html' }
  registry.fault({ path: /login/, status: 200, body: '<html>Please log in</html>', headers: html })
  registry.fault({ path: /huge/, status: 200, body: Buffer.alloc(4 * 1024 * 1024 + 1, 32) })
  await assert.rejects(client.fetchManifest({ ...at, tag: 'login' }), { code: 'MANIFEST_INVALID' })
  await assert.rejects(client.fetchManifest({ ...at, tag: 'huge' }), /more than 4194304 bytes/)
})

test('every status becomes an error with its own code, the request and what the registry said', async (t) => {
  const { registry, client, at } = await setUp(t)
  const said = '{"errors":[{"code":"DENIED","message":"quota of team exceeded"}]}'
  const cases = [
    [401, 'REGISTRY_UNAUTHORIZED'],
    [403, 'REGISTRY_DENIED'],
    [429, 'REGISTRY_RATE_LIMITED'],
    [500, 'REGISTRY_FAILED'],
    [503, 'REGISTRY_FAILED'],
    [418, 'REGISTRY_PROTOCOL'],
  ] as const
  for (const [status, code] of cases) {
    registry.fault({ path: new RegExp(`:?status-${status}$`), status, body: said })
    await assert.rejects(client.fetchManifest({ ...at, tag: `status-${status}` }), (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), code)
      const details = Reflect.get(error, 'details')
      assert.equal(details.status, status)
      assert.equal(details.host, registry.address)
      assert.equal(details.image, `${registry.address}/${repository}:status-${status}`)
      assert.equal(details.path, `/v2/${repository}/manifests/status-${status}`)
      assert.ok(error.message.includes('quota of team exceeded'), error.message)
      assert.ok(details.attempt === (['REGISTRY_FAILED', 'REGISTRY_RATE_LIMITED'].includes(code) ? 6 : 1))
      return true
    })
  }
})

test('a registry that recovers within the attempts goes unnoticed', async (t) => {
  const { registry, client, at } = await setUp(t)
  const manifest = registry.addManifest(repository, document, '4.18')
  registry.fault({ path: /manifests/, times: 2, status: 500 })
  registry.fault({ path: /manifests/, times: 1, cutAfter: 10 })
  assert.deepEqual((await client.fetchManifest({ ...at, tag: '4.18' }))?.descriptor, manifest)
})

test('a registry that for a moment takes a proven manifest for a wrong one is asked again', async (t) => {
  const { registry, client, at } = await setUp(t)
  registry.addBlob(repository, Buffer.from('{}'))
  const body = JSON.stringify({ errors: [{ code: 'DIGEST_INVALID', message: 'no match' }] })
  registry.fault({ method: 'PUT', path: /manifests/, times: 2, status: 400, body })
  await client.pushManifest({ ...at, tag: '4.18' }, raw(document))
  assert.equal((await client.resolve({ ...at, tag: '4.18' }))?.digest, raw(document).descriptor.digest)
})

test('a manifest is pushed under its tag or its digest, with its own media type', async (t) => {
  const { registry, client, at } = await setUp(t)
  const manifest = raw(document)
  await client.pushManifest({ ...at, tag: 'latest' }, manifest)
  await client.pushManifest(at, raw({ ...document, annotations: { a: 'b' } }))
  assert.equal(registry.content.tags.get(`${repository}:latest`), manifest.descriptor.digest)
  assert.equal(registry.content.manifests.size, 2)
  assert.equal(
    registry.requests.find(({ method }) => method === 'PUT')?.headers['content-type'],
    mediaTypes.ociManifest,
  )
})

test('a registry that stores another manifest than it was given is found out', async (t) => {
  const { registry, client, at } = await setUp(t)
  registry.fault({ method: 'PUT', headers: { 'docker-content-digest': digestOf('converted') } })
  await assert.rejects(client.pushManifest({ ...at, tag: 'x' }, raw(document)), /stored sha256:.* instead of/)
})

test('tags are read over all pages, and never from another host', async (t) => {
  const { registry, client, at } = await setUp(t, { tagsPerPage: 2 })
  for (const tag of ['a', 'b', 'c', 'd', 'e']) registry.addManifest(repository, document, tag)
  assert.deepEqual(await client.tags(at), ['a', 'b', 'c', 'd', 'e'])
  const elsewhere = await startScriptedRegistry(t)
  registry.fault({ path: /tags/, headers: { link: `<${elsewhere.url}/v2/x/tags/list>; rel="next"` } })
  assert.deepEqual(await client.tags(at), ['a', 'b'])
  assert.equal(elsewhere.requests.length, 0)
})

for (const hasReferrersApi of [true, false]) {
  test(`referrers are pushed and found ${hasReferrersApi ? 'by the API' : 'by their tag, without the API'}`, async (t) => {
    const { registry, client, at } = await setUp(t, { hasReferrersApi })
    const subject = registry.addManifest(repository, document)
    const referrers = ['one', 'two', 'three'].map((name) => raw({ ...document, subject, annotations: { name } }))
    await Promise.all(referrers.map((referrer) => client.pushManifest(at, referrer)))
    const found = await client.referrers(at, subject.digest)
    const digests = (list: readonly { digest: string }[]) => list.map(({ digest }) => digest).toSorted()
    assert.deepEqual(digests(found), digests(referrers.map(({ descriptor }) => descriptor)))
    const tags = [...registry.content.tags.keys()]
    assert.deepEqual(tags, hasReferrersApi ? [] : [`${repository}:${subject.digest.replace(':', '-')}`])
    assert.deepEqual(await client.referrers(at, digestOf('nobody')), [])
  })
}

test('a manifest is deleted by its digest, a tag alone by its name; what is not there is no error', async (t) => {
  const { registry, client, at } = await setUp(t)
  const { digest } = registry.addManifest(repository, document, '4.18')
  registry.content.tags.set(`${repository}:other`, digest)
  assert.equal(await client.deleteManifest({ ...at, tag: 'other' }), true)
  assert.deepEqual(await client.tags(at), ['4.18'])
  assert.equal(await client.deleteManifest({ ...at, tag: '4.18', digest }), true)
  assert.equal(await client.resolve({ ...at, digest }), undefined)
  assert.equal(await client.deleteManifest({ ...at, digest }), false)
  assert.equal(await client.deleteManifest({ ...at, tag: '4.18' }), false)
})

test('a registry that does not delete is told from one that fails, with the remedy', async (t) => {
  const { registry, client, at } = await setUp(t, { deletes: 'none' })
  const { digest } = registry.addManifest(repository, document, '4.18')
  await assert.rejects(client.deleteManifest({ ...at, digest }), {
    code: 'REGISTRY_DELETE_REFUSED',
    message: /does not delete manifests \(DELETE answered 405\)/,
    hint: /REGISTRY_STORAGE_DELETE_ENABLED=true/,
  })
  const body = JSON.stringify({ errors: [{ code: 'UNSUPPORTED' }] })
  registry.fault({ method: 'DELETE', status: 400, body })
  await assert.rejects(client.deleteManifest({ ...at, tag: '4.18' }), {
    code: 'REGISTRY_DELETE_REFUSED',
    message: /does not delete a tag by itself/,
  })
  assert.ok(await client.resolve({ ...at, digest }))
})

test('a deletion is tried again after trouble, and not where it is forbidden', async (t) => {
  const { registry, client, at } = await setUp(t)
  const { digest } = registry.addManifest(repository, document, '4.18')
  registry.fault({ method: 'DELETE', times: 1, status: 503 })
  registry.fault({ method: 'DELETE', times: 1, hangUp: true })
  assert.equal(await client.deleteManifest({ ...at, digest }), true)
  assert.equal(registry.requests.filter(({ method }) => method === 'DELETE').length, 3)
  registry.fault({ method: 'DELETE', times: 1, status: 403 })
  await assert.rejects(client.deleteManifest({ ...at, digest }), { code: 'REGISTRY_DENIED' })
})
