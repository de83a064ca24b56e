import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { hostileEntries, makeLayer } from '../../testkit/tar.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { SampleLayer } from '../quickstart/sample-layer.ts'
import { findLayerFiles } from './layer-files.ts'
import { tarFile } from './ustar.ts'

const wanted = 'release-manifests/image-references'

/** What is found of `wanted` in layers, lowest first; `opened` receives the digest of every layer that was read. */
async function find(layers: readonly SampleLayer[], opened: string[] = [], maxFileBytes = 1_000_000) {
  const blobs = new Map(layers.map((layer) => [layer.descriptor.digest, layer]))
  const found = await findLayerFiles({
    wanted: [wanted],
    layers: layers.map(({ descriptor }) => descriptor),
    open: async function* ({ digest }) {
      opened.push(digest)
      yield* blobs.get(digest)?.open() ?? []
    },
    origin: 'sample',
    maxFileBytes,
  })
  return found.get(wanted)?.toString()
}

for (const mediaType of [
  mediaTypes.ociLayerGzip,
  mediaTypes.ociLayerZstd,
  mediaTypes.ociLayerTar,
  mediaTypes.dockerLayerGzip,
]) {
  test(`a file is found in a layer of type ${mediaType}`, async () => {
    assert.equal(await find([makeLayer([tarFile(`./${wanted}`, 'hello')], mediaType)]), 'hello')
  })
}

test('the uppermost layer that has the file decides, and the layers below it are not read', async () => {
  const lower = makeLayer([tarFile(wanted, 'old')])
  const upper = makeLayer([tarFile(wanted, 'new')])
  const top = makeLayer([tarFile('etc/motd', 'hello')])
  const opened: string[] = []
  assert.equal(await find([lower, upper, top], opened), 'new')
  assert.deepEqual(opened, [top.descriptor.digest, upper.descriptor.digest])
})

for (const whiteout of [
  'release-manifests/.wh.image-references',
  '.wh.release-manifests',
  'release-manifests/.wh..wh..opq',
]) {
  test(`a file is gone when a layer above it holds ${whiteout}`, async () => {
    assert.equal(await find([makeLayer([tarFile(wanted, 'old')]), makeLayer([tarFile(whiteout, '')])]), undefined)
  })
}

for (const name of ['a parent path', 'a parent path inside a path', 'a parent path after a dot']) {
  test(`a layer with ${name} is refused`, async () => {
    const layer = makeLayer([...(hostileEntries[name] ?? []), tarFile(wanted, 'x')])
    await assert.rejects(find([layer]), { code: 'LAYER_UNSAFE' })
  })
}

for (const name of [
  'an absolute name',
  'a symbolic link to the outside',
  'a symbolic link to an absolute path',
  'a hard link to the outside',
]) {
  test(`a layer with ${name} is read without following it, because nothing is unpacked`, async () => {
    assert.equal(await find([makeLayer([...(hostileEntries[name] ?? []), tarFile(wanted, 'x')])]), 'x')
  })
}

test('a file under the wanted name that is a link is not taken for its content', async () => {
  assert.equal(await find([makeLayer([{ name: wanted, type: 'symlink', linkName: '../etc/passwd' }])]), undefined)
})

test('a file larger than the limit is refused before it fills the memory', async () => {
  await assert.rejects(find([makeLayer([tarFile(wanted, randomBytes('big', 5000))])], [], 4999), {
    code: 'LAYER_UNSAFE',
  })
})

test('a layer that is cut, or is no archive, is named in the error', async () => {
  const whole = makeLayer([tarFile(wanted, randomBytes('cut', 5000))])
  const cut: SampleLayer = {
    ...whole,
    open: async function* () {
      const [bytes] = await Array.fromAsync(whole.open())
      yield bytes?.subarray(0, 2000) ?? bytes ?? Buffer.alloc(0)
    },
  }
  await assert.rejects(find([cut]), (error: Error) => error.message.includes(whole.descriptor.digest))
})
