import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { RawManifest } from '../oci/content.ts'
import { hexOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { LocalContent, withLocalManifests } from './local-content.ts'
import { workspaceAt } from './workspace.ts'

async function scene(t: TestContext) {
  const workspace = workspaceAt(await tempDir(t), '/')
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  const place = { registry: registry.address, repository: 'a/b' }
  return { local: new LocalContent(workspace), state: workspace.state, registry, client, place }
}

const { signal } = new AbortController()
const index = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [] }

test('a blob that was brought here is not asked for again, and is read from any offset', async (t) => {
  const { local, registry, client, place } = await scene(t)
  const bytes = randomBytes('blob', 100_000)
  const blob = registry.addBlob('a/b', bytes)
  const path = await local.bringBlob(client, place, blob, signal)
  const asked = registry.requests.length
  assert.equal(await local.bringBlob(client, place, blob, signal), path)
  assert.equal(registry.requests.length, asked)
  const open = await local.openBlob(blob)
  assert.deepEqual(await collect(open?.(99_000)), bytes.subarray(99_000))
})

test('a blob whose file holds other bytes of the same length is as good as absent', async (t) => {
  const { local, registry, client, place } = await scene(t)
  const blob = registry.addBlob('a/b', randomBytes('blob', 1000))
  const path = await local.bringBlob(client, place, blob, signal)
  await writeFile(path, randomBytes('rot', 1000))
  assert.equal(await local.openBlob(blob), undefined)
  await local.bringBlob(client, place, blob, signal)
  assert.ok(await local.openBlob(blob))
})

test('wrong bytes never get the name of a blob, and leave nothing behind', async (t) => {
  const { local, registry, client, place, state } = await scene(t)
  const blob = registry.addBlob('a/b', randomBytes('blob', 1000))
  registry.fault({ path: /blobs/, change: (body) => Buffer.from(body).reverse() })
  await assert.rejects(local.bringBlob(client, place, blob, signal), { code: 'BLOB_DIGEST_MISMATCH' })
  assert.deepEqual(await readdir(join(state, 'blobs', 'sha256')), [])
})

test('a manifest is read from its registry once; a file that is not what its name says is not believed', async (t) => {
  const { local, registry, client, place, state } = await scene(t)
  const { digest } = registry.addManifest('a/b', { ...index })
  const source = withLocalManifests(client, local)
  const reference = { ...place, digest }
  const first = await source.fetchManifest(reference)
  const asked = registry.requests.length
  assert.equal(textOf(await source.fetchManifest(reference)), textOf(first))
  assert.equal(registry.requests.length, asked)
  await writeFile(join(state, 'manifests', 'sha256', hexOf(digest)), '{"manifests":["forged"]}')
  assert.equal(textOf(await source.fetchManifest(reference)), textOf(first))
  assert.equal(registry.requests.length, asked + 1)
})

test('within a run a tag means one image, also when it moves meanwhile', async (t) => {
  const { local, registry, client, place } = await scene(t)
  const before = registry.addManifest('a/b', { ...index, annotations: { is: 'before' } }, '1')
  const source = withLocalManifests(client, local)
  const reference = { ...place, tag: '1' }
  assert.equal((await source.resolve(reference))?.digest, before.digest)
  await source.fetchManifest({ ...place, digest: before.digest })
  registry.addManifest('a/b', { ...index, annotations: { is: 'after' } }, '1')
  assert.equal((await source.resolve(reference))?.digest, before.digest)
  assert.equal((await source.fetchManifest(reference))?.descriptor.digest, before.digest)
})

async function collect(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  assert.ok(chunks)
  return Buffer.concat(await Array.fromAsync(chunks))
}

function textOf(manifest: RawManifest | undefined): string {
  return Buffer.from(manifest?.bytes ?? []).toString('utf8')
}
