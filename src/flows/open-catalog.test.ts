import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCatalogImage, makeCatalogIndex } from '../../testkit/catalog-image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { readCatalog } from '../catalog/read-catalog.ts'
import { LocalContent } from '../mirror/local-content.ts'
import { workspaceAt } from '../mirror/workspace.ts'
import { hexOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { openCatalog } from './open-catalog.ts'

const files = new Map([['lamp/catalog.json', '{"schema":"olm.package","name":"lamp","defaultChannel":"stable"}']])

async function scene(t: TestContext) {
  const registry = await startScriptedRegistry(t)
  const image = makeCatalogIndex({ files, architectures: ['s390x', 'amd64'], tag: 'v1' })
  const { client } = testClient(t)
  await pushAll(client, registry.address, [{ repository: 'olm/catalog', images: [image] }])
  registry.requests.length = 0
  return { registry, image, source: client, reference: parseReference(`${registry.address}/olm/catalog:v1`) }
}

test('layers that are brought here are asked for once, however often the catalog is read', async (t) => {
  const { registry, image, source, reference } = await scene(t)
  const local = new LocalContent(workspaceAt(await tempDir(t), '/'))
  const opened = await openCatalog(
    { kind: 'registry', reference },
    { source, bring: (repository, blob, from) => local.bringBlob(from, repository, blob, t.signal) },
  )
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual([...(await readCatalog(opened.files)).packages.keys()], ['lamp'])
  const blobs = registry.requests.flatMap(({ method, path }) => (method === 'GET' && /blobs/.test(path) ? [path] : []))
  assert.equal(blobs.length, new Set(blobs).size)
  assert.equal(opened.image?.digest, image.digest)
  assert.equal(opened.image?.folder, '/configs')
})

test('without that each reading asks anew, and only for the image of one architecture', async (t) => {
  const { registry, source, reference } = await scene(t)
  const opened = await openCatalog({ kind: 'registry', reference }, { source })
  registry.requests.length = 0
  await readCatalog(opened.files)
  const once = registry.requests.length
  await readCatalog(opened.files)
  assert.equal(registry.requests.length, 2 * once)
  assert.equal(once, 3)
})

test('a layer of a layout that holds other bytes than its name says is refused, with the name of the layout', async (t) => {
  const image = makeCatalogImage({ files, tag: 'v1' })
  const directory = await tempDir(t)
  await writeLayout(directory, [image])
  const opened = await openCatalog({ kind: 'layout', directory }, { source: testClient(t).client })
  assert.deepEqual([...(await readCatalog(opened.files)).packages.keys()], ['lamp'])
  const layer = image.blobs[1]
  assert.ok(layer)
  const path = join(directory, 'blobs', 'sha256', hexOf(layer.descriptor.digest))
  await writeFile(path, Buffer.alloc(layer.descriptor.size))
  await assert.rejects(readCatalog(opened.files), { code: 'BLOB_DIGEST_MISMATCH', message: new RegExp(directory) })
})

test('what a layout holds can be had under the reference that comes with it', async (t) => {
  const image = makeCatalogIndex({ files, architectures: ['arm64', 'amd64'], tag: 'v1' })
  const directory = await tempDir(t)
  await writeLayout(directory, [image])
  const opened = await openCatalog({ kind: 'layout', directory }, { source: testClient(t).client })
  assert.ok(opened.image)
  const { source, reference, digest } = opened.image
  assert.equal(digest, image.digest)
  assert.deepEqual((await source.fetchManifest(reference))?.bytes, Buffer.from(image.manifests.at(-1)?.bytes ?? []))
})
