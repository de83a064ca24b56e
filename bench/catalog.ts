/**
 * Reading a catalog of 1 GB of JSON, and filtering it into an image, against `opm validate` and `opm render` of the same directory,
 * in the same run.
 *
 *     node bench/catalog.ts [--mb 1000] [--rounds 1] [--only-ours]
 *
 * The largest catalog of the data, written again and again with its packages renamed, a file for each time, as opm prints it. Reading is
 * one process: start, every document, the answer how many bundles there are; once more out of a layer, which opm cannot, and
 * from there on to the image of the heads of all channels, and of everything. Needs 2.5 GB on the disk of the temporary directory, and
 * whatever opm takes. Prints Markdown.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { catalogFilesOfDirectory } from '../src/catalog/catalog-files.ts'
import { catalogFilesOfLayers } from '../src/catalog/catalog-files-layers.ts'
import type { CatalogFiles } from '../src/catalog/meta.ts'
import { readCatalog } from '../src/catalog/read-catalog.ts'
import { rebuildCatalog } from '../src/catalog/rebuild.ts'
import { selectBundles } from '../src/catalog/select-bundles.ts'
import { splitDocuments } from '../src/catalog/split-documents.ts'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { hasherFor } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { verified } from '../src/oci/verified.ts'
import { LayoutSource } from '../src/store/layout-source.ts'
import { makeCatalogImage } from '../testkit/catalog-image.ts'
import { writeLayout } from '../testkit/layout.ts'
import { peer } from '../testkit/peers.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Measure, measure, median } from './measure.ts'
import { nodeFirst } from './mirror-tools.ts'

const { values: options } = parseArgs({
  options: {
    mb: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '1' },
    read: { type: 'string' },
    filter: { type: 'string' },
    layout: { type: 'string' },
    'read-layer': { type: 'string' },
    'only-ours': { type: 'boolean', default: false },
  },
})
const largest = fileURLToPath(
  new URL('../../shared/data/mirror/catalog-filter/community-catalog-config.json', import.meta.url),
)

interface Document {
  readonly schema: string
  name: string
  package?: string
  readonly properties?: readonly { readonly type: string; readonly value: { packageName?: string } }[]
}

/** The documents with every package called `NAME-suffix`. */
function renamed(documents: readonly Document[], suffix: string): string {
  const texts = structuredClone(documents).map((document) => {
    if (document.schema === 'olm.package') document.name += suffix
    else if (document.package !== undefined) document.package += suffix
    const own = document.properties?.find(({ type }) => type === 'olm.package')
    if (own) own.value.packageName += suffix
    return JSON.stringify(document, null, 4)
  })
  return `${texts.join('\n')}\n`
}

async function writeCatalog(directory: string): Promise<{ bytes: number; bundles: number }> {
  const bytes = await readFile(largest)
  const split = splitDocuments(ReadableStream.from([bytes]), bytes.length)
  const documents = (await Array.fromAsync(split)).map(({ value }) => value as Document)
  const each = documents.filter(({ schema }) => schema === 'olm.bundle').length
  let written = 0
  let copies = 0
  for (; written < Number(options.mb) * 1e6; copies += 1) {
    const text = renamed(documents, `-${copies}`)
    await mkdir(join(directory, String(copies)))
    await writeFile(join(directory, String(copies), 'catalog.json'), text)
    written += Buffer.byteLength(text)
  }
  return { bytes: written, bundles: copies * each }
}

/** What the measured process does. */
async function readAndCount(files: CatalogFiles): Promise<void> {
  const { packages } = await readCatalog(files)
  const bundles = [...packages.values()].reduce((sum, { bundles: own }) => sum + own.size, 0)
  process.stderr.write(`${bundles} bundles\n`)
}

/** The same files as the layer of a catalog image. */
async function packLayer(t: Cleanups, directory: string): Promise<string> {
  const file = join(await tempDir(t), 'layer.tar.gz')
  await promisify(execFile)('tar', [
    '-C',
    directory,
    '--transform',
    's,^[.],configs,',
    '-I',
    'gzip -1',
    '-cf',
    file,
    '.',
  ])
  return file
}

async function layerFiles(file: string): Promise<CatalogFiles> {
  const read = () => createReadStream(file, { highWaterMark: 256 * 1024 })
  const hash = hasherFor('sha256')
  for await (const chunk of read()) hash.update(chunk)
  const { size } = await stat(file)
  const layer: Descriptor = { mediaType: mediaTypes.ociLayerGzip, digest: `sha256:${hash.digest('hex')}`, size }
  return catalogFilesOfLayers({
    layers: [layer],
    open: () => verified(read(), layer, file),
    origin: file,
    folder: '/configs',
  })
}

/** On to the image of what is selected, as a layer over the image of a layout. The catalog is read a second time for it. */
async function filterAndPack(files: CatalogFiles, layout: string): Promise<void> {
  const cleanups = new Cleanups()
  const catalog = await readCatalog(files)
  const source = await LayoutSource.open(layout)
  const { digest, blobs } = await rebuildCatalog({
    source,
    reference: { registry: 'layout.invalid', repository: 'olm/catalog', digest: source.choose('base').digest },
    ...{ files, catalog, selection: selectBundles(catalog, { full: options.filter === 'all' }) },
    directory: join(await tempDir(cleanups), 'made'),
    signal: new AbortController().signal,
  })
  process.stderr.write(`${digest}, ${blobs.size} blobs\n`)
  await cleanups.run()
}

/** Those in the first line of src/cli/main.ts: the program runs with them. */
const shippedFlags = ['--max-semi-space-size=8', '--heap-growing-percent=15']

async function run(t: Cleanups): Promise<void> {
  const opm = options['only-ours'] ? undefined : peer(t, 'opm')
  const directory = await tempDir(t)
  const { bytes, bundles } = await writeCatalog(directory)
  const own = [process.execPath, ...shippedFlags, fileURLToPath(import.meta.url)]
  const layout = await tempDir(t)
  await writeLayout(layout, [makeCatalogImage({ files: new Map(), tag: 'base' })])
  const layer = ['--read-layer', await packLayer(t, directory)]
  const ways: Record<string, readonly string[]> = {
    'sallyport, every document': [...own, '--read', directory],
    'sallyport, out of a layer, proven': [...own, ...layer],
    'sallyport, heads of all channels as an image': [...own, ...layer, '--filter', 'heads', '--layout', layout],
    'sallyport, everything as an image': [...own, ...layer, '--filter', 'all', '--layout', layout],
    ...(opm !== undefined && {
      'opm validate': [opm, 'validate', directory],
      'opm render, printing to nowhere': [opm, 'render', directory, '--output', 'json'],
    }),
  }
  const found = new Map<string, Measure[]>()
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const [name, words] of Object.entries(ways)) {
      const result = await measure(words, nodeFirst)
      if (result.failure !== undefined) throw new Error(`${name}: ${result.failure}`)
      found.set(name, [...(found.get(name) ?? []), result])
    }
  }
  const wall = (name: string) => median((found.get(name) ?? []).map(({ wallSeconds }) => wallSeconds))
  const [ours = ''] = found.keys()
  const lines = [...found].map(([name, all]) => {
    const cpu = median(all.map(({ cpuSeconds }) => cpuSeconds))
    const peak = Math.max(...all.map(({ peakMiB }) => peakMiB))
    return `| ${name} | **${wall(name).toFixed(2)}** | ${cpu.toFixed(2)} | ${peak.toFixed(0)} | ${(wall(ours) / wall(name)).toFixed(3)} |`
  })
  const head = `| ${(bytes / 1e6).toFixed(0)} MB of JSON, ${bundles} bundles | wall s | CPU s | peak MiB | sallyport ÷ this |`
  process.stdout.write(`${[head, '|---|---|---|---|---|', ...lines].join('\n')}\n`)
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

if (options.read !== undefined) await readAndCount(catalogFilesOfDirectory(options.read))
else if (options['read-layer'] !== undefined) {
  const files = await layerFiles(options['read-layer'])
  await (options.layout === undefined ? readAndCount(files) : filterAndPack(files, options.layout))
} else {
  const cleanups = new Cleanups()
  try {
    await run(cleanups)
  } finally {
    await cleanups.run()
  }
}
