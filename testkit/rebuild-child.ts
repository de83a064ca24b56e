/** Rebuilds a made-up catalog in a process of its own: `node rebuild-child.ts JSON`. Says the digest and the memory that it took. */
import { readCatalog } from '../src/catalog/read-catalog.ts'
import { rebuildCatalog } from '../src/catalog/rebuild.ts'
import { selectBundles } from '../src/catalog/select-bundles.ts'
import { LayoutSource } from '../src/store/layout-source.ts'
import { generatedCatalog } from './generated-catalog.ts'

export interface RebuildChildOptions {
  /** An OCI layout with the image of the catalog. */
  readonly layout: string
  readonly directory: string
  readonly packages: number
  readonly bundles: number
  readonly bundleBytes: number
  readonly isReversed: boolean
}

export interface RebuildChildReport {
  readonly digest: string
  /** Bytes of all blobs that were made. */
  readonly size: number
  readonly maxRssMiB: number
}

const options = JSON.parse(process.argv[2] ?? '') as RebuildChildOptions
const source = await LayoutSource.open(options.layout)
const [image] = source.images
if (!image) throw new Error('the layout has no image')
const files = generatedCatalog(options)
const catalog = await readCatalog(files)
const made = await rebuildCatalog({
  source,
  reference: { registry: 'layout.invalid', repository: 'olm/catalog', digest: image.digest },
  files,
  catalog,
  selection: selectBundles(catalog, { full: true }),
  directory: options.directory,
  signal: new AbortController().signal,
})
let size = 0
for (const open of made.blobs.values()) for await (const chunk of open({})) size += chunk.byteLength
const report: RebuildChildReport = { digest: made.digest, size, maxRssMiB: process.resourceUsage().maxRSS / 1024 }
process.stdout.write(JSON.stringify(report))
