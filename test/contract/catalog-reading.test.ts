/** Every catalog of the data is read, with what it holds counted by other means, and as opm judges it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { catalogFilesOfDirectory } from '../../src/catalog/catalog-files.ts'
import { catalogFilesOfLayers } from '../../src/catalog/catalog-files-layers.ts'
import type { Catalog, CatalogFiles } from '../../src/catalog/meta.ts'
import { readCatalog } from '../../src/catalog/read-catalog.ts'
import { KnownError } from '../../src/errors/known-error.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { mediaTypes } from '../../src/oci/media-type.ts'
import { verified } from '../../src/oci/verified.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const isThere = await stat(join(data, 'catalogs/fbc')).then(
  () => true,
  () => false,
)
const options = { skip: isThere ? false : 'the data is not here' }
const list = (directory: string) => (isThere ? readdir(join(data, directory)) : Promise.resolve([]))

/** How often a schema stands at the beginning of a field, as `grep -c` counts it. */
function count(text: string, schema: string): number {
  return [
    ...text.matchAll(
      new RegExp(`^(?:- |[{]?\\s{0,4}"?)schema"?:\\s*"?${schema.replaceAll('.', '\\.')}"?,?\\s*$`, 'gm'),
    ),
  ].length
}

function countOf({ packages }: Catalog) {
  const all = [...packages.values()]
  return {
    'olm.package': all.length,
    'olm.channel': all.reduce((sum, { channels }) => sum + channels.size, 0),
    'olm.bundle': all.reduce((sum, { bundles }) => sum + bundles.size, 0),
    'olm.deprecations': all.filter(({ deprecations }) => deprecations).length,
  }
}

async function checkCounts(files: CatalogFiles): Promise<void> {
  let text = ''
  for await (const { open } of files.files()) text += `${Buffer.concat(await Array.fromAsync(open())).toString()}\n`
  const counted = Object.keys(countOf({ packages: new Map(), others: [] })).map((schema) => [
    schema,
    count(text, schema),
  ])
  const catalog = await readCatalog(files)
  assert.deepEqual(countOf(catalog), Object.fromEntries(counted))
  for (const { bundles } of catalog.packages.values())
    for (const { version, image } of bundles.values()) assert.ok(version !== undefined && image !== '')
}

/** A tar.gz of the data is what a layer is. */
async function layerOf(file: string, folder: string): Promise<CatalogFiles> {
  const bytes = await readFile(join(data, file))
  const layer = { mediaType: mediaTypes.ociLayerGzip, digest: digestOf(bytes), size: bytes.length }
  const open = () => verified(ReadableStream.from([bytes]), layer, file)
  return catalogFilesOfLayers({ layers: [layer], open, origin: file, folder })
}

for (const file of await list('catalogs/community-operators-prod')) {
  const folder = file.replace('-open.tar.gz', '')
  if (!/^v4\.\d+$/.test(folder)) continue
  test(`the catalog of ${folder} is read from its layer`, options, async () => {
    await checkCounts(await layerOf(`catalogs/community-operators-prod/${file}`, folder))
  })
}

const directories = [
  'mirror/oc-mirror/fbc/jaeger-product',
  'mirror/oc-mirror/fbc/aws-load-balancer-operator',
  'mirror/oc-mirror/fbc/node-observability-operator-4.14',
  'mirror/oc-mirror/fbc/node-observability-operator-v1',
  ...(await list('mirror/oc-mirror/fbc/integration-mock-catalogs'))
    .filter((name) => name.startsWith('test-'))
    .map((name) => `mirror/oc-mirror/fbc/integration-mock-catalogs/${name}`),
]
for (const directory of directories) {
  test(`${basename(directory)} is read, and opm accepts it as well`, options, async (t) => {
    await checkCounts(catalogFilesOfDirectory(join(data, directory)))
    const opm = peer(t, 'opm')
    if (opm) assert.equal(await judgement(opm, join(data, directory)), '')
  })
}

test('the largest catalog is read, with as many of each document as its text has', options, async (t) => {
  const directory = await tempDir(t)
  await copyFile(join(data, 'mirror/catalog-filter/community-catalog-config.json'), join(directory, 'catalog.json'))
  await checkCounts(catalogFilesOfDirectory(directory))
})

test('what opm accepts of the single files is read, and what is refused here opm refuses', options, async (t) => {
  const opm = peer(t, 'opm')
  if (!opm) return
  const files = (await list('catalogs/fbc')).map((name) => `catalogs/fbc/${name}`)
  const verdicts = { accepted: 0, refused: 0 }
  for (const file of [...files, 'mirror/oc/fbc/index.yaml', 'mirror/oc-mirror/fbc/test-operator-catalog.json']) {
    const directory = await directoryWith(t, file)
    const refusal = await judgement(opm, directory)
    const own = await readCatalog(catalogFilesOfDirectory(directory)).catch((error: unknown) => error)
    if (own instanceof Error) assert.ok(own instanceof KnownError && own.code === 'CATALOG_INVALID', `${file}: ${own}`)
    if (refusal === '') assert.ok(!(own instanceof Error), `${file}: ${own}`)
    verdicts[refusal === '' ? 'accepted' : 'refused'] += 1
  }
  assert.ok(verdicts.accepted > 10 && verdicts.refused > 10, JSON.stringify(verdicts))
})

async function directoryWith(t: TestContext, file: string): Promise<string> {
  const directory = await tempDir(t)
  const bytes = await readFile(join(data, file))
  await writeFile(join(directory, basename(file, '.gz')), file.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  return directory
}

/** Why opm refuses a directory; empty where it does not. */
function judgement(opm: string, directory: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(opm, ['validate', directory], (error, _, output) => resolve(error ? output || error.message : ''))
  })
}
