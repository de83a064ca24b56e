import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { tarFile } from '../archive/tar/ustar.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { sampleLayer } from './sample-layer.ts'

async function read(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks))
}

test('a layer is the gzip of the tar that its diff id names, under the digest and size of its descriptor', async () => {
  const layer = sampleLayer({ seed: 'a', sizeBytes: 300_000, entries: [tarFile('etc/motd', 'hello')] })
  const bytes = await read(layer.open())
  assert.equal(digestOf(bytes), layer.descriptor.digest)
  assert.equal(bytes.byteLength, layer.descriptor.size)
  assert.equal(digestOf(gunzipSync(bytes)), layer.diffId)
})

test('a layer gives the same bytes from any offset', async () => {
  const layer = sampleLayer({ seed: 'a', sizeBytes: 200_000 })
  const whole = await read(layer.open())
  for (const offset of [0, 1, 10, 65_546, layer.descriptor.size - 1, layer.descriptor.size]) {
    assert.deepEqual(await read(layer.open(offset)), whole.subarray(offset), `offset ${offset}`)
  }
})

test('the seed decides the bytes', () => {
  const digest = (seed: string) => sampleLayer({ seed, sizeBytes: 100 }).descriptor.digest
  assert.equal(digest('a'), digest('a'))
  assert.notEqual(digest('a'), digest('b'))
})

test('a layer of an uncompressed type is the tar itself', async () => {
  const layer = sampleLayer({ seed: 'a', sizeBytes: 100, mediaType: mediaTypes.ociLayerTar })
  assert.equal(layer.descriptor.digest, layer.diffId)
})
