import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { digestOf } from '../oci/digest.ts'

test('every repository of a registry is listed', async (t) => {
  const registry = await startEmbeddedRegistry(t)
  const { client } = testClient(t)
  const bytes = Buffer.from('layer')
  const layer = { mediaType: '', digest: digestOf(bytes), size: bytes.byteLength }
  const names = Array.from({ length: 3 }, (_, index) => `ocp/files/file-${index}`)
  for (const repository of names) {
    const place = { registry: registry.address, repository }
    await client.pushBlob(place, layer, async function* (offset) {
      yield bytes.subarray(offset)
    })
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: layer,
        layers: [],
      }),
    )
    const descriptor = { mediaType: '', digest: digestOf(manifest), size: manifest.byteLength }
    await client.pushManifest({ ...place, tag: 'v1' }, { descriptor, bytes: manifest })
  }
  assert.deepEqual(await client.repositories(registry.address), names)
})

test('a registry that has no list, or not for everybody, tells none; pages are followed, nonsense is refused', async (t) => {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  for (const status of [403, 404, 405]) {
    registry.fault({ path: /_catalog/, times: 1, status })
    assert.equal(await client.repositories(registry.address), undefined)
  }
  registry.fault({ path: /_catalog/, times: 1, status: 200, body: '{"repositories":[1]}' })
  await assert.rejects(client.repositories(registry.address), { code: 'REGISTRY_PROTOCOL', message: /is not a list/ })
  registry.fault({
    path: /_catalog\?n=1000$/,
    times: 1,
    status: 200,
    body: '{"repositories":["a"]}',
    headers: { link: '</v2/_catalog?n=1000&last=a>; rel="next"' },
  })
  registry.fault({ path: /last=a$/, times: 1, status: 200, body: '{"repositories":null}' })
  assert.deepEqual(await client.repositories(registry.address), ['a'])
})
