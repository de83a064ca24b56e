import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeImage, makeMultiArch, makeSignature } from '../../testkit/image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { hexOf } from '../oci/digest.ts'
import { LayoutSource } from './layout-source.ts'

const place = { registry: 'layout.invalid', repository: 'some' }

async function scene(t: TestContext) {
  const single = makeImage({ seed: 'layout', tag: 'v1' })
  const several = makeMultiArch({ seed: 'several', architectures: ['amd64', 'arm64'], tag: 'v2' })
  const directory = await tempDir(t)
  await writeLayout(directory, [single, several, makeSignature(single)])
  return { single, several, directory, layout: await LayoutSource.open(directory) }
}

test('images of a layout are found by name and by digest, their children by digest', async (t) => {
  const { single, several, layout } = await scene(t)
  assert.equal((await layout.resolve({ ...place, tag: 'v1' }))?.digest, single.digest)
  assert.equal(await layout.resolve({ ...place, tag: 'v3' }), undefined)
  const child = several.manifests[0]
  assert.ok(child)
  const fetched = await layout.fetchManifest({ ...place, digest: child.descriptor.digest })
  assert.deepEqual(fetched?.bytes, Buffer.from(child.bytes))
  assert.equal(fetched?.descriptor.mediaType, child.descriptor.mediaType)
  assert.equal(await layout.fetchManifest({ ...place, digest: `sha256:${'0'.repeat(64)}` }), undefined)
})

test('a blob is read from any byte on, and one that is not there is named', async (t) => {
  const { single, directory, layout } = await scene(t)
  const [blob] = single.blobs
  assert.ok(blob)
  const whole = Buffer.concat(await Array.fromAsync(layout.fetchBlob(place, blob.descriptor)))
  const rest = Buffer.concat(await Array.fromAsync(layout.fetchBlob(place, blob.descriptor, { offset: 100 })))
  assert.deepEqual(rest, whole.subarray(100))
  await rm(join(directory, 'blobs', 'sha256', hexOf(blob.descriptor.digest)))
  await assert.rejects(Array.fromAsync(layout.fetchBlob(place, blob.descriptor)), {
    code: 'BLOB_UNKNOWN',
    details: { layout: directory, digest: blob.descriptor.digest },
  })
})

test('a signature by tag lies beside its image', async (t) => {
  const { single, layout } = await scene(t)
  assert.ok(await layout.resolveBeside(place, `sha256-${hexOf(single.digest)}.sig`))
})

test('one of several images has to be named, and only one that is there', async (t) => {
  const { single, layout } = await scene(t)
  assert.equal(layout.choose('v1').digest, single.digest)
  assert.throws(() => layout.choose(undefined), { code: 'USAGE', message: /there are 3 images: v1, v2, sha256-/ })
  assert.throws(() => layout.choose('v9'), { code: 'MANIFEST_UNKNOWN', message: /no image "v9"; there is: v1, v2/ })
})

test('a manifest that is not what its name says is refused', async (t) => {
  const { single, directory, layout } = await scene(t)
  await writeFile(join(directory, 'blobs', 'sha256', hexOf(single.digest)), '{}')
  await assert.rejects(layout.fetchManifest({ ...place, digest: single.digest }), { code: 'BLOB_DIGEST_MISMATCH' })
})

test('a directory that is no layout is named', async (t) => {
  await assert.rejects(LayoutSource.open(await tempDir(t)), {
    code: 'FILE_UNREADABLE',
    message: /it has no oci-layout/,
  })
})
