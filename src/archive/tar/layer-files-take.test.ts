import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makeLayer } from '../../../testkit/tar.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { digestOf } from '../../oci/digest.ts'
import { mediaTypes } from '../../oci/media-type.ts'
import { verified } from '../../oci/verified.ts'
import type { SampleBlob } from '../../quickstart/sample-layer.ts'
import { readLayerFolder } from './layer-files-folder.ts'
import { takeLayerFiles } from './layer-files-take.ts'
import { type TarEntry, tarFile, writeTar } from './ustar.ts'

type TestLayer = Pick<SampleBlob, 'descriptor' | 'open'>

function imageOf(layers: readonly TestLayer[]) {
  const opened: number[] = []
  const open = (descriptor: Descriptor) => {
    const index = layers.findIndex((one) => one.descriptor === descriptor)
    opened.push(index)
    return verified(layers[index]?.open() ?? assert.fail(), descriptor, 'layer')
  }
  return { opened, layers: layers.map(({ descriptor }) => descriptor), open, origin: 'quay.io/a/b:1' }
}

/** Takes files; gives their texts, where they were, and which layers were read, in order. */
async function takeAll(paths: readonly string[], layers: readonly TestLayer[], maxFileBytes?: number) {
  const { opened, ...image } = imageOf(layers)
  const texts = new Map<string, string>()
  const taken = await takeLayerFiles(paths, {
    ...image,
    sink: async (path, content) => {
      texts.set(path, Buffer.concat(await Array.fromAsync(content)).toString('utf8'))
    },
    ...(maxFileBytes !== undefined && { maxFileBytes }),
  })
  const files = [...taken].map(([asked, { path, size }]) => ({ path, size, text: texts.get(asked) }))
  return { files, opened }
}

async function take(path: string, layers: readonly TestLayer[], maxFileBytes?: number) {
  const { files, opened } = await takeAll([path], layers, maxFileBytes)
  return { ...files[0], opened }
}

const link = (name: string, linkName: string): TarEntry => ({ name, type: 'symlink', linkName })
const hardLink = (name: string, linkName: string): TarEntry => ({ name, type: 'hardlink', linkName })
const layer = (...entries: TarEntry[]) => makeLayer(entries)
const path = 'usr/bin/oc'

for (const mediaType of [mediaTypes.ociLayerGzip, mediaTypes.ociLayerZstd, mediaTypes.ociLayerTar]) {
  test(`a file is taken out of a layer of type ${mediaType}`, async () => {
    const taken = await take(path, [makeLayer([tarFile(path, 'x'.repeat(300_000)), tarFile('z', 'z')], mediaType)])
    assert.deepEqual({ ...taken, text: taken.text?.length }, { path, size: 300_000, text: 300_000, opened: [0] })
  })
}

test('no layer below the one that holds the file is read', async () => {
  const layers = [layer(tarFile(path, 'old')), layer(tarFile(path, 'new')), layer(tarFile('other', ''))]
  assert.deepEqual(await take(path, layers), { path, size: 3, text: 'new', opened: [2, 1] })
})

test('of two entries for one path the last counts', async () => {
  assert.equal((await take(path, [layer(tarFile(path, 'first'), tarFile(path, 'last'))])).text, 'last')
})

const links: Readonly<Record<string, { entries: TarEntry[]; to: string }>> = {
  'a symbolic link beside it': {
    entries: [link(path, 'oc.rhel9'), tarFile('usr/bin/oc.rhel9', 'x')],
    to: 'usr/bin/oc.rhel9',
  },
  'a symbolic link from the root': { entries: [link(path, '/opt/oc'), tarFile('opt/oc', 'x')], to: 'opt/oc' },
  'a symbolic link through a parent': {
    entries: [link(path, '../lib/oc'), tarFile('usr/lib/oc', 'x')],
    to: 'usr/lib/oc',
  },
  'a symbolic link to a symbolic link': {
    entries: [link(path, 'a'), link('usr/bin/a', '/b'), tarFile('b', 'x')],
    to: 'b',
  },
  'a symbolic link in the place of its directory': {
    entries: [link('usr/bin', '/opt'), tarFile('opt/oc', 'x')],
    to: 'opt/oc',
  },
  'a hard link': {
    entries: [tarFile('usr/bin/kubectl', 'x'), hardLink(path, 'usr/bin/kubectl')],
    to: 'usr/bin/kubectl',
  },
  'a hard link with a slash': {
    entries: [tarFile('usr/bin/kubectl', 'x'), hardLink(path, '/usr/bin/kubectl')],
    to: 'usr/bin/kubectl',
  },
}
for (const [what, { entries, to }] of Object.entries(links)) {
  test(`${what} is followed, in the same layer or into a lower one`, async () => {
    assert.equal((await take(path, [layer(...entries)])).text, 'x')
    const target = entries.filter(({ type }) => type === undefined)
    const taken = await take(path, [layer(...target), layer(...entries.filter(({ type }) => type !== undefined))])
    assert.deepEqual([taken.path, taken.text, taken.opened], [to, 'x', [1, 0]])
  })
}

test('a symbolic link means what the layers above show, a hard link what its own layer has', async () => {
  const above = layer(tarFile('usr/bin/a', 'above'))
  assert.equal((await take(path, [layer(tarFile('usr/bin/a', 'low'), link(path, 'a')), above])).text, 'above')
  assert.equal((await take(path, [layer(tarFile('usr/bin/a', 'low'), hardLink(path, 'usr/bin/a')), above])).text, 'low')
})

test('a link does not make a layer be read again that does not hold the file', async () => {
  const layers = [layer(tarFile('b', 'x')), layer(link(path, '/b')), layer(tarFile('c', ''))]
  assert.deepEqual((await take(path, layers)).opened, [2, 1, 0])
})

test('several files are taken in one pass, each from the highest layer that has it', async () => {
  const layers = [
    layer(tarFile('a', 'low'), tarFile('b', 'low'), tarFile('c', 'low'), tarFile('never', '')),
    layer(tarFile('.wh.c', ''), tarFile('b', 'middle'), link('e', 'b')),
    layer(tarFile('a', 'high'), link('d', 'a')),
  ]
  const { files, opened } = await takeAll(['b', 'a', 'c', 'd'], layers)
  assert.deepEqual(
    files.map(({ path, text }) => `${path} ${text}`),
    ['b middle', 'a high', 'a high'],
  )
  // The last is for the link to what had passed by.
  assert.deepEqual(opened, [2, 1, 2])
  assert.deepEqual((await takeAll(['a', 'b'], layers)).opened, [2, 1])
})

test('what a lower layer has under the name of a file that is found already is passed over', async () => {
  const layers = [layer(tarFile('a', 'low'), tarFile('z', 'z')), layer(tarFile('a', 'high'))]
  const { files, opened } = await takeAll(['z', 'a'], layers)
  assert.deepEqual(
    files.map(({ text }) => text),
    ['z', 'high'],
  )
  assert.deepEqual(opened, [1, 0])
})

const hiding: Readonly<Record<string, TarEntry[]>> = {
  'a whiteout': [tarFile('usr/bin/.wh.oc', '')],
  'a whiteout of a directory above it': [tarFile('.wh.usr', '')],
  'an opaque directory': [tarFile('usr/bin/.wh..wh..opq', '')],
  'an opaque root': [tarFile('.wh..wh..opq', '')],
  'a directory in its place': [{ name: path, type: 'directory' }],
  'a file in the place of its directory': [tarFile('usr/bin', '')],
}
for (const [what, entries] of Object.entries(hiding)) {
  test(`${what} hides the file of the layer below, and no layer below is read`, async () => {
    assert.deepEqual(await take(path, [layer(tarFile(path, 'low')), layer(...entries)]), { opened: [1] })
  })
}

test('what was a link below a directory of a layer above leads nowhere', async () => {
  const low = layer(tarFile('opt/oc', 'x'), link('usr/bin', '/opt'))
  assert.equal((await take(path, [low, layer({ name: 'usr/bin', type: 'directory' })])).text, undefined)
})

test('a whiteout hides nothing of its own layer, and nothing beside it', async () => {
  assert.equal((await take(path, [layer(tarFile('usr/bin/.wh..wh..opq', ''), tarFile(path, 'own'))])).text, 'own')
  assert.equal((await take(path, [layer(tarFile(path, 'low')), layer(tarFile('usr/bin/.wh.o', ''))])).text, 'low')
})

for (const [what, entries] of Object.entries({
  'a symbolic link to the outside': [link(path, '../../../etc/passwd')],
  'a directory that is a link to the outside': [link('usr', '../x')],
  'a hard link to the outside': [hardLink(path, '../etc/passwd')],
  'links in a circle': [link(path, 'a'), link('usr/bin/a', 'oc')],
  'a link to itself': [hardLink(path, path)],
})) {
  test(`${what} is refused`, async () => {
    await assert.rejects(take(path, [layer(...entries)]), { code: 'LAYER_UNSAFE', message: /quay\.io\/a\/b:1/ })
  })
}

test('a file that is larger than allowed is refused as soon as it is', async () => {
  await assert.rejects(take(path, [layer(tarFile(path, 'x'.repeat(1001)))], 1000), { code: 'LAYER_UNSAFE' })
  assert.equal((await take(path, [layer(tarFile(path, 'x'.repeat(1000)))], 1000)).size, 1000)
})

test('a layer whose bytes are others than its digest says is refused, also where only what follows the file differs', async () => {
  const whole = layer(tarFile(path, 'x'), tarFile('after', 'y'.repeat(100_000)))
  const other = layer(tarFile(path, 'x'), tarFile('after', 'z'.repeat(100_000)))
  const lying = { ...other, descriptor: { ...whole.descriptor, size: other.descriptor.size } }
  await assert.rejects(take(path, [lying]), { code: 'BLOB_DIGEST_MISMATCH' })
})

test('what the sink throws is told as it is', async () => {
  const { opened: _, ...image } = imageOf([layer(tarFile(path, 'x'), tarFile('after', 'y'.repeat(100_000)))])
  const failure = new Error('the disk is gone')
  const taking = takeLayerFiles([path], {
    ...image,
    sink: async () => {
      throw failure
    },
  })
  await assert.rejects(taking, failure)
})

test('bytes behind the end of the archive are read, since the digest counts them', async () => {
  const bytes = Buffer.concat([gzipSync(Buffer.concat([...writeTar([tarFile(path, 'x')])])), Buffer.alloc(200_000)])
  const opened: number[] = []
  const trailing = {
    descriptor: { mediaType: mediaTypes.ociLayerGzip, digest: digestOf(bytes), size: bytes.byteLength },
    async *open() {
      for (let at = 0; at < bytes.byteLength; at += 1000) {
        opened.push(at)
        yield bytes.subarray(at, at + 1000)
      }
    },
  }
  assert.equal((await take(path, [trailing])).text, 'x')
  assert.equal(opened.length, Math.ceil(bytes.byteLength / 1000))
})

test('names that only a pax header holds are found', async () => {
  const long = `usr/${'long/'.repeat(60)}oc`
  assert.equal((await take(long, [layer(tarFile(long, 'x'))])).text, 'x')
})

test('a file that GNU tar stored with holes is refused by its name, never taken as it lies there', async () => {
  const pax = Buffer.from('30 GNU.sparse.name=usr/bin/oc\n')
  const [header = Buffer.alloc(0)] = writeTar([{ name: 'PaxHeader', size: pax.length }])
  const block = Buffer.from(header)
  block.write('x', 156)
  block.write(' '.repeat(8), 148)
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148)
  const rest = Buffer.concat([...writeTar([tarFile('GNUSparseFile.0/oc', '1\n0\n1\nx')])])
  const bytes = Buffer.concat([block, pax, Buffer.alloc(512 - pax.length), rest])
  const descriptor = { mediaType: mediaTypes.ociLayerTar, digest: digestOf(bytes), size: bytes.byteLength }
  const sparse = {
    descriptor,
    async *open() {
      yield bytes
    },
  }
  await assert.rejects(take(path, [sparse]), { code: 'PAYLOAD_INVALID', message: /usr\/bin\/oc is stored with holes/ })
})

const folderLayers = () => [
  layer(tarFile('release-manifests/a', 'low'), tarFile('release-manifests/b', 'low'), tarFile('other/c', 'x')),
  layer(tarFile('release-manifests/.wh.b', ''), tarFile('release-manifests/sub/d', 'd')),
  layer(tarFile('release-manifests/a', 'high'), link('release-manifests/l', 'a')),
]

test('a folder is what all layers together show of it', async () => {
  const files = await readLayerFolder('release-manifests', imageOf(folderLayers()))
  const texts = [...files].map(([name, bytes]) => [name, bytes.toString('utf8')])
  assert.deepEqual(texts, [
    ['release-manifests/a', 'high'],
    ['release-manifests/sub/d', 'd'],
  ])
})

test('of a folder what is no file any more in the end is not there', async () => {
  const replaced = layer(tarFile('release-manifests/a', 'first'), link('release-manifests/a', 'b'))
  assert.equal((await readLayerFolder('release-manifests', imageOf([replaced]))).size, 0)
})

test('no layer below the one that holds the last path is read for a folder', async () => {
  const { opened, ...image } = imageOf(folderLayers())
  await readLayerFolder('release-manifests', { ...image, lastAt: 'release-manifests/sub/d' })
  assert.deepEqual(opened, [2, 1])
})

test('a folder that is larger than allowed is refused', async () => {
  const search = readLayerFolder('release-manifests', { ...imageOf(folderLayers()), maxBytes: 4 })
  await assert.rejects(search, { code: 'LAYER_UNSAFE', message: /larger than 4 bytes/ })
})
