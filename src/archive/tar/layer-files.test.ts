import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { hostileEntries, makeLayer } from '../../../testkit/tar.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { digestOf } from '../../oci/digest.ts'
import { mediaTypes } from '../../oci/media-type.ts'
import { findLayerFiles } from './layer-files.ts'
import { type TarEntry, tarFile, writeTar } from './ustar.ts'

interface TestLayer {
  readonly descriptor: Descriptor
  readonly open: () => AsyncIterable<Uint8Array>
}

/** Finds files in layers, lowest first; gives their texts. */
async function find(wanted: readonly string[], layers: readonly TestLayer[], maxFileBytes?: number) {
  const opened: string[] = []
  const files = await findLayerFiles({
    wanted,
    layers: layers.map(({ descriptor }) => descriptor),
    open: (descriptor) => {
      opened.push(descriptor.digest)
      const layer = layers.find((one) => one.descriptor === descriptor)
      assert.ok(layer)
      return layer.open()
    },
    origin: 'quay.io/a/b:1',
    ...(maxFileBytes !== undefined && { maxFileBytes }),
  })
  return { opened, texts: Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString('utf8')])) }
}

function bytesLayer(bytes: Uint8Array, mediaType: string = mediaTypes.ociLayerGzip): TestLayer {
  const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.byteLength }
  return {
    descriptor,
    async *open() {
      for (let at = 0; at < bytes.byteLength; at += 1000) yield bytes.subarray(at, at + 1000)
    },
  }
}

const wanted = ['release-manifests/image-references']
const file = (text: string) => tarFile('release-manifests/image-references', text)

for (const mediaType of [
  mediaTypes.ociLayerGzip,
  mediaTypes.ociLayerZstd,
  mediaTypes.ociLayerTar,
  mediaTypes.dockerLayerGzip,
]) {
  test(`a file is found in a layer of type ${mediaType}`, async () => {
    const layer = makeLayer([tarFile('other', 'x'.repeat(5000)), file('found')], mediaType)
    assert.deepEqual((await find(wanted, [layer])).texts, { [wanted[0] ?? '']: 'found' })
  })
}

test('the highest layer that has a file decides, and lower layers are then not opened', async () => {
  const [low, high] = [makeLayer([file('low')]), makeLayer([file('high')])]
  const { texts, opened } = await find(wanted, [low, high])
  assert.deepEqual(Object.values(texts), ['high'])
  assert.deepEqual(opened, [high.descriptor.digest])
})

test('of two entries for one path in a layer the last counts', async () => {
  assert.deepEqual(Object.values((await find(wanted, [makeLayer([file('one'), file('two')])])).texts), ['two'])
})

const hiding: Readonly<Record<string, readonly TarEntry[]>> = {
  'a whiteout of the file': [tarFile('release-manifests/.wh.image-references', '')],
  'a whiteout of its directory': [tarFile('.wh.release-manifests', '')],
  'an opaque directory': [tarFile('release-manifests/.wh..wh..opq', '')],
  'an opaque root': [tarFile('.wh..wh..opq', '')],
  'a symbolic link in its place': [{ name: wanted[0] ?? '', type: 'symlink', linkName: '/etc/passwd' }],
  'a directory in its place': [{ name: `${wanted[0]}/`, type: 'directory' }],
  'a file in the place of its directory': [tarFile('release-manifests', '')],
}
for (const [what, entries] of Object.entries(hiding)) {
  test(`${what} hides what lower layers have`, async () => {
    assert.deepEqual((await find(wanted, [makeLayer([file('low')]), makeLayer(entries)])).texts, {})
  })
}

test('a whiteout hides nothing of its own layer, and nothing of layers above', async () => {
  const whiteouts = [
    tarFile('release-manifests/.wh..wh..opq', ''),
    tarFile('release-manifests/.wh.image-references', ''),
  ]
  const own = await find(wanted, [makeLayer([file('low')]), makeLayer([file('own'), ...whiteouts])])
  assert.deepEqual(Object.values(own.texts), ['own'])
  const above = await find(wanted, [makeLayer(whiteouts), makeLayer([file('above')])])
  assert.deepEqual(Object.values(above.texts), ['above'])
})

test('a whiteout of another path hides nothing', async () => {
  const other = [tarFile('release-manifests/.wh.image', ''), tarFile('.wh.release', ''), tarFile('a/.wh..wh..opq', '')]
  assert.deepEqual(Object.values((await find(wanted, [makeLayer([file('low')]), makeLayer(other)])).texts), ['low'])
})

test('names that begin with ./ or / are the same paths', async () => {
  for (const name of [`./${wanted[0]}`, `/${wanted[0]}`, `.//${wanted[0]}`])
    assert.deepEqual(Object.values((await find(wanted, [makeLayer([tarFile(name, 'x')])])).texts), ['x'], name)
})

for (const [what, entries] of Object.entries(hostileEntries)) {
  const isRefused = what.startsWith('a parent path')
  test(`${what} ${isRefused ? 'is refused' : 'is passed over, since nothing is unpacked'}`, async () => {
    const search = find(wanted, [makeLayer([...entries, file('x')])])
    if (isRefused) await assert.rejects(search, { code: 'LAYER_UNSAFE', message: /quay\.io\/a\/b:1.*outside its root/ })
    else assert.deepEqual(Object.values((await search).texts), ['x'])
  })
}

test('a file that is larger than allowed is refused as soon as it is', async () => {
  await assert.rejects(find(wanted, [makeLayer([file('x'.repeat(1001))])], 1000), {
    code: 'LAYER_UNSAFE',
    message: /image-references is larger than 1000 bytes/,
  })
  assert.equal(Object.values((await find(wanted, [makeLayer([file('x'.repeat(1000))])], 1000)).texts)[0]?.length, 1000)
})

test('a pax header of gigabytes is refused, not collected', async () => {
  const [header = Buffer.alloc(0)] = writeTar([{ name: 'x', size: 4 * 1024 ** 3 }])
  const block = Buffer.from(header)
  block.write('x', 156)
  block.write(' '.repeat(8), 148)
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  const bomb = bytesLayer(Buffer.concat([gzipSync(block), gzipSync(Buffer.alloc(32 * 1024 ** 2))]))
  await assert.rejects(find(wanted, [bomb]), { code: 'PAYLOAD_INVALID' })
})

test('a layer that is cut, or is no archive, is an error that names image and layer, never an empty answer', async () => {
  const whole = gzipSync(Buffer.concat([...writeTar([tarFile('big', Buffer.alloc(50_000, 'x')), file('x')])]), {
    level: 0,
  })
  for (const bytes of [
    whole.subarray(0, 20_000),
    whole.subarray(0, -200),
    Buffer.from('<html>no</html>'),
    Buffer.alloc(7),
  ]) {
    const layer = bytesLayer(bytes)
    await assert.rejects(find(wanted, [layer]), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'PAYLOAD_INVALID')
      assert.match(error.message, new RegExp(`quay.io/a/b:1.*${layer.descriptor.digest}`))
      return true
    })
  }
})

test('whatever bytes a layer has, the search ends with files or a known error', async () => {
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.boolean(), async (bytes, isGzip) => {
    const layer = bytesLayer(
      isGzip ? gzipSync(bytes) : bytes,
      isGzip ? mediaTypes.ociLayerGzip : mediaTypes.ociLayerTar,
    )
    await find(wanted, [layer]).catch((error: Error) => assert.equal(error.name, 'KnownError'))
  })
  await fc.assert(property, { numRuns: 60 })
})

for (const mediaType of [mediaTypes.ociLayerGzip, mediaTypes.ociLayerTar]) {
  test(`what goes wrong while a ${mediaType} is fetched is told as it is`, async () => {
    const layer = makeLayer([file('x')], mediaType)
    const failure = new Error('the registry is gone')
    const broken = {
      ...layer,
      async *open() {
        for await (const chunk of layer.open()) yield chunk.subarray(0, 20)
        throw failure
      },
    }
    await assert.rejects(find(wanted, [broken]), failure)
  })
}
