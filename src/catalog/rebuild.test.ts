import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { type CatalogImageOptions, makeCatalogImage, makeCatalogIndex } from '../../testkit/catalog-image.ts'
import { makeAttestation, makeIndex } from '../../testkit/image.ts'
import { listServedPackages, serveCatalog } from '../../testkit/opm-serve.ts'
import { peer } from '../../testkit/peers.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { KnownError } from '../errors/known-error.ts'
import { withMadeContent } from '../mirror/made-content.ts'
import type { ContentSource } from '../oci/content.ts'
import { childrenOf, parseManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { openCatalogImage } from './catalog-files-image.ts'
import type { CatalogFile, CatalogFiles } from './meta.ts'
import { readCatalog } from './read-catalog.ts'
import { type RebuildOptions, type RebuiltCatalog, rebuildCatalog } from './rebuild.ts'
import { type SelectionRequest, selectBundles } from './select-bundles.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const noData = existsSync(data) ? false : `${data} is not there`
const { signal } = new AbortController()
const run = promisify(execFile)

type Files = CatalogImageOptions['files']

/** Two packages, as JSON: `foo` has two channels and three bundles, `bar` is there to be left out. */
function sampleFiles(): Files {
  const bundle = (of: string, version: string, extra: object = {}) => ({
    schema: 'olm.bundle',
    name: `${of}.v${version}`,
    package: of,
    image: `registry.test/${of}/bundle:v${version}`,
    properties: [{ type: 'olm.package', value: { packageName: of, version } }],
    relatedImages: [{ name: '', image: `registry.test/${of}/bundle:v${version}` }],
    ...extra,
  })
  const documents = {
    'foo/package.json': [{ schema: 'olm.package', name: 'foo', defaultChannel: 'beta', description: 'Größe' }],
    'foo/channels.json': [
      { schema: 'olm.channel', package: 'foo', name: 'stable', entries: [{ name: 'foo.v1.0.0' }] },
      {
        schema: 'olm.channel',
        package: 'foo',
        name: 'beta',
        entries: [{ name: 'foo.v1.0.0' }, { name: 'foo.v2.0.0', replaces: 'foo.v1.0.0', skipRange: '<2.0.0' }],
      },
    ],
    'foo/deprecations.json': [
      {
        schema: 'olm.deprecations',
        package: 'foo',
        entries: [
          { reference: { schema: 'olm.bundle', name: 'foo.v1.0.0' }, message: 'old' },
          { reference: { schema: 'olm.channel', name: 'stable' }, message: 'use beta' },
        ],
      },
    ],
    'foo/bundles.json': [bundle('foo', '2.0.0'), bundle('foo', '1.0.0')],
    'bar.json': [
      { schema: 'olm.package', name: 'bar', defaultChannel: 'a' },
      { schema: 'olm.channel', package: 'bar', name: 'a', entries: [{ name: 'bar.v0.1.0' }] },
      bundle('bar', '0.1.0'),
      { schema: 'example.notes', package: 'bar', text: 'of bar' },
    ],
    'notes.json': [{ schema: 'example.notes', text: 'of nobody' }],
  }
  return new Map(
    Object.entries(documents).map(([path, list]) => [path, list.map((one) => JSON.stringify(one, null, 2)).join('\n')]),
  )
}

/** A registry with a catalog image, and a directory to rebuild it in. */
async function site(t: TestContext, image: SampleImage) {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await pushAll(client, registry.address, [{ repository: 'olm/catalog', images: [image] }])
  const reference = parseReference(`${registry.address}/olm/catalog@${image.digest}`)
  const { files } = await openCatalogImage(reference, { source: client, signal })
  const catalog = await readCatalog(files)
  const rebuild = async (request: SelectionRequest, options: Partial<RebuildOptions> = {}) => {
    const selection = selectBundles(catalog, request)
    const directory = options.directory ?? join(await tempDir(t), 'catalog')
    return rebuildCatalog({ source: client, reference, files, catalog, selection, directory, signal, ...options })
  }
  return { registry, client, reference, files, catalog, rebuild }
}

const onlyFoo: SelectionRequest = {
  packages: [{ name: 'foo', channels: [{ name: 'stable' }], defaultChannel: 'stable' }],
}

/** The rebuilt image as it is read by whoever pulls it. */
function pulled(made: RebuiltCatalog, client: ContentSource): { source: ContentSource; reference: Reference } {
  const reference: Reference = { registry: 'sallyport.invalid', repository: 'olm/catalog', tag: 'filtered' }
  return { source: withMadeContent(client, [{ ...made, reference }]), reference: { ...reference, digest: made.digest } }
}

/** The files of the catalog in the rebuilt image. */
async function textsOf(files: CatalogFiles): Promise<Record<string, string>> {
  const texts = new Map<string, string>()
  for await (const file of files.files())
    texts.set(file.path, Buffer.concat(await Array.fromAsync(file.open())).toString())
  return Object.fromEntries([...texts].sort())
}

async function catalogIn(made: RebuiltCatalog, client: ContentSource) {
  const { source, reference } = pulled(made, client)
  return (await openCatalogImage(reference, { source })).files
}

/** Manifest and config of one image of what was made. */
async function imageIn(made: RebuiltCatalog, index = 0) {
  const raw = made.manifests[index]
  assert.ok(raw)
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, 'rebuilt')
  assert.equal(manifest.kind, 'image')
  const layers = manifest.layers.slice(-2)
  const config = JSON.parse((await blobIn(made, manifest.config.digest)).toString('utf8'))
  return { manifest, config, layers: await Promise.all(layers.map(({ digest }) => blobIn(made, digest))) }
}

async function blobIn({ blobs }: RebuiltCatalog, digest: string): Promise<Buffer> {
  const open = [...blobs].find(([one]) => one === digest)?.[1]
  assert.ok(open, digest)
  return Buffer.concat(await Array.fromAsync(open({})))
}

/** Names, types and modes in a layer, as tar lists them. */
async function listed(t: TestContext, layer: Buffer): Promise<string[]> {
  const path = join(await tempDir(t), 'layer.tar.gz')
  await writeFile(path, layer)
  const { stdout } = await run('tar', ['--numeric-owner', '--full-time', '-tvzf', path], {
    env: { ...process.env, TZ: 'UTC' },
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '))
}

test('only what was selected is in the image; what did not change is there byte for byte', async (t) => {
  const { client, rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const made = await rebuild(onlyFoo)
  const texts = await textsOf(await catalogIn(made, client))
  assert.deepEqual(Object.keys(texts), ['_/catalog.json', 'foo/catalog.json'])
  assert.equal(texts['_/catalog.json'], `${sampleFiles().get('notes.json')}\n`)
  const [, v1 = ''] = String(sampleFiles().get('foo/bundles.json')).split(/(?<=\n\})\n/)
  assert.ok(texts['foo/catalog.json']?.includes(`${v1}\n`))
  const documents = (texts['foo/catalog.json'] ?? '')
    .split(/(?<=^\})\n/m)
    .flatMap((text) => (text ? [JSON.parse(text)] : []))
  assert.deepEqual(
    documents.map(({ schema, name }) => name ?? schema),
    ['foo', 'stable', 'foo.v1.0.0', 'olm.deprecations'],
  )
  assert.deepEqual(documents[0], { schema: 'olm.package', name: 'foo', defaultChannel: 'stable', description: 'Größe' })
  assert.equal(documents[3].entries.length, 2)
})

test('what a selection leaves of the catalog is what readers find, with all other packages gone', async (t) => {
  const { client, rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const made = await rebuild({ packages: [{ name: 'foo' }, { name: 'bar' }] })
  const { packages, others } = await readCatalog(await catalogIn(made, client))
  assert.deepEqual([...packages.keys()], ['bar', 'foo'])
  const foo = packages.get('foo')
  assert.deepEqual(
    [...(foo?.channels.get('beta')?.entries ?? [])].map(({ name }) => name),
    ['foo.v2.0.0'],
  )
  assert.deepEqual([...(foo?.bundles.keys() ?? [])], ['foo.v1.0.0', 'foo.v2.0.0'])
  assert.equal(packages.get('bar')?.others.length, 1)
  assert.equal(others.length, 1)
})

test('the old catalog and the cache of it are gone, and opm is started without that cache', async (t) => {
  const { rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const { config, layers } = await imageIn(await rebuild(onlyFoo))
  const [whiteouts = Buffer.alloc(0), content = Buffer.alloc(0)] = layers
  assert.deepEqual(await listed(t, whiteouts), [
    '-rw-r--r-- 0/0 0 1970-01-01 00:00:00 .wh.configs',
    'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00:00 tmp/.wh.cache',
  ])
  const entries = await listed(t, content)
  assert.deepEqual(
    entries.map((line) => line.replace(/ \d+ 1970/, ' SIZE 1970')),
    [
      'drwxr-xr-x 0/0 SIZE 1970-01-01 00:00:00 configs/',
      'drwxr-xr-x 0/0 SIZE 1970-01-01 00:00:00 configs/_/',
      '-rw-r--r-- 0/0 SIZE 1970-01-01 00:00:00 configs/_/catalog.json',
      'drwxr-xr-x 0/0 SIZE 1970-01-01 00:00:00 configs/foo/',
      '-rw-r--r-- 0/0 SIZE 1970-01-01 00:00:00 configs/foo/catalog.json',
    ],
  )
  assert.deepEqual(config.config.Entrypoint, ['/bin/opm'])
  assert.deepEqual(config.config.Cmd, ['serve', '/configs'])
  assert.equal(config.config.User, '1001')
  assert.equal(config.rootfs.diff_ids.length, 5)
  assert.equal(config.history.length, 5)
})

test('labels tell what the image was made of; nothing tells when', async (t) => {
  const image = makeCatalogImage({ files: sampleFiles() })
  const { rebuild, reference } = await site(t, image)
  const { config } = await imageIn(await rebuild(onlyFoo))
  const { 'io.sallyport.catalog.selection': selection, ...labels } = config.config.Labels
  assert.match(selection, /^sha256:[0-9a-f]{64}$/)
  assert.deepEqual(labels, {
    'operators.operatorframework.io.index.configs.v1': '/configs',
    vendor: 'sample',
    'org.opencontainers.image.base.digest': image.digest,
    'org.opencontainers.image.base.name': `${reference.registry}/olm/catalog`,
  })
  assert.equal(config.created, '2026-01-01T00:00:00Z')
  assert.deepEqual(
    new Set(config.history.map(({ created }: { created: string }) => created)),
    new Set([config.created]),
  )
})

test('every architecture of the base gets the same two layers over its own', async (t) => {
  for (const family of ['oci', 'docker'] as const) {
    const architectures = ['amd64', 'arm64', 's390x']
    const image = makeCatalogIndex({ files: sampleFiles(), architectures, mediaTypes: family })
    const { client, rebuild } = await site(t, image)
    const made = await rebuild(onlyFoo)
    const root = made.manifests.at(-1)
    assert.ok(root)
    assert.equal(root.descriptor.mediaType, family === 'oci' ? mediaTypes.ociIndex : mediaTypes.dockerList)
    const children = childrenOf(parseManifest(root.bytes, undefined, 'index'))
    assert.deepEqual(
      children.map(({ platform }) => platform?.architecture),
      architectures,
    )
    const images = await Promise.all(architectures.map((_, index) => imageIn(made, index)))
    const added = new Set(images.map(({ manifest }) => JSON.stringify(manifest.layers.slice(-2))))
    assert.equal(added.size, 1)
    assert.equal(new Set(images.map(({ manifest }) => manifest.layers[0]?.digest)).size, 3)
    const type = family === 'oci' ? mediaTypes.ociLayerGzip : mediaTypes.dockerLayerGzip
    assert.ok(images.every(({ manifest }) => manifest.layers.every(({ mediaType }) => mediaType === type)))
    assert.deepEqual(Object.keys(await textsOf(await catalogIn(made, client))), ['_/catalog.json', 'foo/catalog.json'])
  }
})

test('only the architectures that are wanted are made, and one that is not there is named', async (t) => {
  const child = makeCatalogImage({ files: sampleFiles() })
  const arm = makeCatalogImage({ files: sampleFiles(), architecture: 'arm64' })
  const { rebuild } = await site(t, makeIndex({ children: [child, makeAttestation(child), arm] }))
  const made = await rebuild(onlyFoo, { architectures: ['arm64'] })
  assert.equal(made.manifests.length, 2)
  assert.equal((await imageIn(made)).config.architecture, 'arm64')
  assert.equal((await rebuild(onlyFoo)).manifests.length, 3)
  await assert.rejects(rebuild(onlyFoo, { architectures: ['arm64', 'ppc64le'] }), (error: unknown) => {
    assert.ok(error instanceof KnownError)
    assert.equal(error.code, 'MANIFEST_UNKNOWN')
    return /not there for ppc64le/.test(error.message)
  })
})

test('the same catalog gives the same image, whatever the order and format of its layers and files', async (t) => {
  const { files: read, rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const first = await rebuild(onlyFoo)
  const all = await Array.fromAsync(read.files(), async (file) => ({
    ...file,
    bytes: Buffer.concat(await Array.fromAsync(file.open())),
  }))
  // One byte at a time, the last file first.
  const otherwise: CatalogFiles = {
    origin: 'the same',
    files: async function* () {
      for (const { path, size, bytes } of all.toReversed())
        yield {
          path,
          size,
          open: async function* () {
            for (const byte of bytes) yield Uint8Array.of(byte)
          },
        }
    },
  }
  const second = await rebuild(onlyFoo, { files: otherwise, catalog: await readCatalog(otherwise) })
  assert.equal(second.digest, first.digest)
  assert.equal(second.isKept, false)
})

test('what was made of the same is found again, with nothing read but what is kept, and made anew where that is damaged', async (t) => {
  const { registry, rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const directory = join(await tempDir(t), 'catalog')
  const first = await rebuild(onlyFoo, { directory })
  registry.requests.length = 0
  const second = await rebuild(onlyFoo, { directory })
  assert.equal(second.isKept, true)
  assert.equal(second.digest, first.digest)
  assert.deepEqual(registry.requests, [])
  assert.deepEqual((await readdir(directory)).sort(), ['blobs', 'image.json'])
  const [lost = '', damaged = ''] = (await readdir(join(directory, 'blobs'))).map((name) =>
    join(directory, 'blobs', name),
  )
  const harms = [() => rm(lost), () => truncate(damaged, 10), () => writeFile(join(directory, 'image.json'), '{')]
  for (const harm of harms) {
    await harm()
    const again = await rebuild(onlyFoo, { directory })
    assert.equal(again.isKept, false)
    assert.equal(again.digest, first.digest)
    assert.equal((await rebuild(onlyFoo, { directory })).isKept, true)
  }
  const other = await rebuild({ packages: [{ name: 'bar' }] }, { directory })
  assert.equal(other.isKept, false)
  assert.notEqual(other.digest, first.digest)
  assert.equal((await readdir(join(directory, 'blobs'))).length, other.blobs.size)
})

test('a catalog that became another between two readings is named, and leaves nothing behind', async (t) => {
  const { rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const directory = join(await tempDir(t), 'catalog')
  const none: CatalogFiles = { origin: 'registry.test/olm', files: () => catalogOf() }
  await assert.rejects(rebuild(onlyFoo, { directory, files: none }), (error: unknown) => {
    assert.ok(error instanceof KnownError)
    assert.equal(error.code, 'CATALOG_INVALID')
    return /registry\.test\/olm: .*\.json is not what it was/.test(error.message)
  })
  assert.deepEqual(await readdir(directory), [])
})

test('a full disk is named and nothing half made is left; with room the image is what it is anywhere', async (t) => {
  const { rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const disk = await smallDisk(t, 0)
  if (!disk) return
  const directory = join(disk.path, 'catalog')
  await assert.rejects(rebuild(onlyFoo, { directory }), { code: 'DISK_FULL' })
  assert.deepEqual(await readdir(directory), [])
  await disk.free()
  assert.equal((await rebuild(onlyFoo, { directory })).digest, (await rebuild(onlyFoo)).digest)
})

/** A catalog of no files. */
async function* catalogOf(): AsyncGenerator<CatalogFile> {
  yield* []
}

/** Real catalogs, each as the files of one. */
async function realCatalogs(t: TestContext): Promise<Record<string, Files>> {
  const one = (path: string): Files => new Map([['catalog.json', readFileSync(join(data, path))]])
  const community = await tempDir(t)
  await run('tar', ['-xzf', join(data, 'catalogs/community-operators-prod/v4.18-open.tar.gz'), '-C', community])
  return {
    'jaeger-product': one('mirror/oc-mirror/fbc/jaeger-product/catalog.json'),
    'assisted-service-operator': one('mirror/catalog-filter/community-catalog-config.json'),
    'aws-load-balancer-operator': one('mirror/oc-mirror/fbc/aws-load-balancer-operator/catalog.json'),
    'mock catalog in YAML': yamlFiles(
      join(data, 'mirror/oc-mirror/fbc/integration-mock-catalogs/test-catalog-extra-blobs'),
    ),
    'community operators in YAML': yamlFiles(community),
  }
}

function yamlFiles(directory: string): Files {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'))
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path))]))
}

async function unpack(files: CatalogFiles, directory: string): Promise<void> {
  for (const [path, text] of Object.entries(await textsOf(files))) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
}

test('opm validates the heads of real catalogs, and reads of everything what it reads of the catalog itself', {
  skip: noData,
}, async (t) => {
  const opm = peer(t, 'opm')
  if (opm === undefined) return
  const rendered = async (directory: string) => {
    const { stdout } = await run(opm, ['render', directory], { maxBuffer: 2 ** 28 })
    return stdout.split(/(?<=^\})\n/m).sort()
  }
  for (const [name, files] of Object.entries(await realCatalogs(t))) {
    const own = await site(t, makeCatalogImage({ files }))
    const directory = await tempDir(t)
    const [before, after, heads] = ['before', 'after', 'heads'].map((part) => join(directory, part))
    await unpack(await catalogIn(await own.rebuild({}), own.client), heads ?? '')
    await assert.doesNotReject(run(opm, ['validate', heads ?? '']), name)
    await unpack(own.files, before ?? '')
    await unpack(await catalogIn(await own.rebuild({ full: true }), own.client), after ?? '')
    assert.deepEqual(await rendered(after ?? ''), await rendered(before ?? ''), name)
  }
})

test('opm serves the catalog with the command of the image, which would fail with the cache flag', async (t) => {
  const opm = peer(t, 'opm')
  if (opm === undefined) return
  const { client, rebuild } = await site(t, makeCatalogImage({ files: sampleFiles() }))
  const made = await rebuild(onlyFoo)
  const directory = join(await tempDir(t), 'configs')
  await unpack(await catalogIn(made, client), directory)
  const command: string[] = (await imageIn(made)).config.config.Cmd
  const { port } = await serveCatalog(t, { opm, command, directory })
  // Documents of no package are to opm those of the package with no name.
  assert.deepEqual(await listServedPackages(port ?? 0), ['', 'foo'])
  const withCache = [...command, '--cache-dir', join(await tempDir(t), 'cache')]
  const { ended } = await serveCatalog(t, { opm, command: withCache, directory })
  assert.match(ended?.text ?? '', /integrity/)
})

test('the image is no larger than zlib at its lowest level makes it', { skip: noData }, async (t) => {
  const files = (await realCatalogs(t))['assisted-service-operator']
  assert.ok(files)
  const { rebuild } = await site(t, makeCatalogImage({ files }))
  const { layers } = await imageIn(await rebuild({ full: true }))
  const packed = layers[1]?.byteLength ?? 0
  assert.ok(packed < gunzipSync(layers[1] ?? '').byteLength / 5, `${packed} bytes`)
  assert.ok((await stat(join(data, 'mirror/catalog-filter/community-catalog-config.json'))).size > 5 * packed)
})
