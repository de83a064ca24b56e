import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeIndex } from '../../testkit/image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { hostileEntries, makeLayer } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { type TarEntry, tarFile } from '../archive/tar/ustar.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { hexOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { parseReference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { sampleImage } from '../quickstart/sample-image.ts'
import { blobOf, type SampleLayer } from '../quickstart/sample-layer.ts'
import { LayoutSource } from '../store/layout-source.ts'
import { openCatalogImage } from './catalog-files-image.ts'
import { catalogFilesOfLayers } from './catalog-files-layers.ts'
import { readCatalog } from './read-catalog.ts'

const origin = 'registry.example/catalog:v4.18'
const layer = (...entries: TarEntry[]) => makeLayer(entries)

function filesOf(layers: readonly SampleLayer[], folder = '/configs') {
  const open = (descriptor: Descriptor) => {
    const found = layers.find((one) => one.descriptor === descriptor) ?? assert.fail()
    return verified(found.open(), descriptor, `${origin}: layer ${descriptor.digest}`)
  }
  return catalogFilesOfLayers({ layers: layers.map(({ descriptor }) => descriptor), open, origin, folder })
}

/** `path text` of every file. */
async function show(layers: readonly SampleLayer[], folder?: string): Promise<readonly string[]> {
  const shown: string[] = []
  for await (const { path, size, open } of filesOf(layers, folder).files()) {
    const text = Buffer.concat(await Array.fromAsync(open())).toString()
    assert.equal(size, text.length)
    shown.push(`${path} ${text}`)
  }
  return shown
}

const base = layer(
  tarFile('etc/passwd', 'no'),
  { name: 'configs/', type: 'directory' },
  tarFile('configs/a/catalog.json', 'low a'),
  tarFile('configs/b/catalog.json', 'low b'),
  tarFile('configs/c.yaml', 'low c'),
)

test('files below the folder are shown, and no others', async () => {
  assert.deepEqual(await show([base]), ['a/catalog.json low a', 'b/catalog.json low b', 'c.yaml low c'])
  assert.deepEqual(await show([base], 'configs/b/'), ['catalog.json low b'])
  assert.deepEqual(await show([base], '/nowhere'), [])
  assert.deepEqual(await show([makeLayer([tarFile('./configs/x', 'x')], mediaTypes.ociLayerZstd)]), ['x x'])
})

const upper: Readonly<Record<string, { entries: readonly TarEntry[]; shown: readonly string[] }>> = {
  'a file in its place': {
    entries: [tarFile('configs/a/catalog.json', 'high a')],
    shown: ['a/catalog.json high a', 'b/catalog.json low b', 'c.yaml low c'],
  },
  'a whiteout of a file': {
    entries: [tarFile('configs/.wh.c.yaml', '')],
    shown: ['a/catalog.json low a', 'b/catalog.json low b'],
  },
  'a whiteout of a folder': {
    entries: [tarFile('configs/.wh.b', '')],
    shown: ['a/catalog.json low a', 'c.yaml low c'],
  },
  'a whiteout of the folder of the catalog': { entries: [tarFile('.wh.configs', '')], shown: [] },
  'an opaque folder': {
    entries: [tarFile('configs/b/.wh..wh..opq', ''), tarFile('configs/b/new.json', 'new')],
    shown: ['b/new.json new', 'a/catalog.json low a', 'c.yaml low c'],
  },
  'an opaque folder of the catalog': {
    entries: [tarFile('configs/only.json', 'only'), tarFile('configs/.wh..wh..opq', '')],
    shown: ['only.json only'],
  },
  'a file in the place of a folder': {
    entries: [tarFile('configs/b', 'high b')],
    shown: ['b high b', 'a/catalog.json low a', 'c.yaml low c'],
  },
}
for (const [what, { entries, shown }] of Object.entries(upper)) {
  test(`a layer above hides what is below: ${what}`, async () => {
    assert.deepEqual(await show([base, layer(...entries)]), shown)
    assert.deepEqual(
      await show([layer(...entries), layer(tarFile('configs/.wh..wh..opq', '')), base]),
      await show([base]),
    )
  })
}

const unsafe: Readonly<Record<string, readonly TarEntry[]>> = {
  'a link out of the image': [{ name: 'configs/x', type: 'symlink', linkName: '../../etc/passwd' }],
  'a link to another file': [{ name: 'configs/x', type: 'symlink', linkName: '/etc/passwd' }],
  'a link within the folder': [{ name: 'configs/x', type: 'symlink', linkName: 'c.yaml' }],
  'a hard link': [tarFile('etc/x', 'x'), { name: 'configs/x', type: 'hardlink', linkName: 'etc/x' }],
  'a link in the place of the folder': [{ name: 'configs', type: 'symlink', linkName: '/etc' }],
  'a path out of the image': hostileEntries['a parent path inside a path'] ?? [],
  'a path through the folder out of the image': [tarFile('configs/../../x', 'x')],
  'a file twice': [tarFile('configs/x', 'x'), tarFile('configs/x', 'y')],
}
for (const [what, entries] of Object.entries(unsafe)) {
  test(`${what} is refused`, async () => {
    await assert.rejects(show([base, layer(...entries)]), {
      code: 'LAYER_UNSAFE',
      message: /registry\.example.*sha256:/,
    })
  })
}

test('what is unsafe and hidden does not count', async () => {
  const below = layer({ name: 'configs/x', type: 'symlink', linkName: '/etc/passwd' })
  assert.deepEqual(await show([below, layer(tarFile('configs/x', 'plain'))]), ['x plain'])
})

test('a layer that is cut, or is another, is told as that, in the middle of a file and behind it', async () => {
  const big = layer(tarFile('configs/a.json', '{"schema":"x"}'.repeat(100_000)))
  const bytes = Buffer.concat(await Array.fromAsync(big.open()))
  const cut = { ...blobOf(bytes.subarray(0, bytes.length / 2), mediaTypes.ociLayerGzip), diffId: big.diffId }
  await assert.rejects(readCatalog(filesOf([cut])), {
    code: 'PAYLOAD_INVALID',
    message: /registry\.example.*cannot be read/,
  })
  const torn = { ...big, open: () => cut.open() }
  await assert.rejects(readCatalog(filesOf([torn])), { code: 'BLOB_SIZE_MISMATCH' })
  const other = { ...big, descriptor: { ...big.descriptor, digest: base.descriptor.digest } }
  await assert.rejects(readCatalog(filesOf([other])), { code: 'BLOB_DIGEST_MISMATCH' })
})

test('who stops in the middle leaves no layer open', async () => {
  let isClosed = false
  const watched = {
    ...base,
    async *open() {
      try {
        yield* base.open()
      } finally {
        isClosed = true
      }
    },
  }
  for await (const { path } of filesOf([watched]).files()) if (path) break
  assert.equal(isClosed, true)
})

const catalog = tarFile('srv/catalog/a.json', '{"schema":"olm.package","name":"a"}')
const label = { 'operators.operatorframework.io.index.configs.v1': '/srv/catalog/' }

async function layoutOf(t: TestContext, labels: Readonly<Record<string, string>>) {
  const directory = await tempDir(t)
  const platform = (architecture: string) => ({ os: 'linux', architecture })
  const children = ['s390x', 'amd64'].map((each) =>
    sampleImage({ layers: [layer(catalog)], labels, platform: platform(each) }),
  )
  const image = makeIndex({ children, tag: 'v1' })
  await writeLayout(directory, [image])
  return { directory, image, source: await LayoutSource.open(directory) }
}
const reference = parseReference('layout.invalid/catalog:v1')

test('a catalog in a layout is read from the folder that its label names', async (t) => {
  const { image, source } = await layoutOf(t, label)
  const { files, digest, folder } = await openCatalogImage(reference, { source })
  assert.deepEqual([digest, folder], [image.digest, '/srv/catalog/'])
  assert.deepEqual([...(await readCatalog(files)).packages.keys()], ['a'])
})

test('an image without files of a catalog, and one with a database, are told apart', async (t) => {
  const { files } = await openCatalogImage(reference, { source: (await layoutOf(t, {})).source })
  await assert.rejects(readCatalog(files), {
    code: 'CATALOG_INVALID',
    message: /layout\.invalid\/catalog:v1 is no catalog/,
  })
  const database = { 'operators.operatorframework.io.index.database.v1': '/database/index.db' }
  const { source } = await layoutOf(t, database)
  await assert.rejects(openCatalogImage(reference, { source }), {
    code: 'CATALOG_INVALID',
    message: /SQLite/,
    hint: /opm migrate/,
  })
})

test('a blob that is missing is named', async (t) => {
  const { image, source, directory } = await layoutOf(t, label)
  for (const { descriptor } of image.blobs.filter((blob) => blob.descriptor.mediaType.includes('layer')))
    await rm(join(directory, 'blobs', 'sha256', hexOf(descriptor.digest)), { force: true })
  const { files } = await openCatalogImage(reference, { source })
  await assert.rejects(readCatalog(files), { code: 'BLOB_UNKNOWN', message: /has no blob sha256:/ })
  await assert.rejects(openCatalogImage({ ...reference, tag: 'v2' }, { source }), { code: 'MANIFEST_UNKNOWN' })
})
