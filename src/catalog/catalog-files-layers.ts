/**
 * The files of a catalog out of the layers of its image, as an overlay shows them, one after the other and never unpacked.
 *
 * Layers are read from the top down, each to its end: whatever a layer above has or takes away is known before a layer below
 * is opened. What a layer holds is proven when its last byte was read, so when `files()` has ended.
 */
import { posix } from 'node:path'
import { type ImageLayers, type LayerEntry, readLayer, safePath } from '../archive/tar/layer-files-read.ts'
import { LayerTree } from '../archive/tar/layer-files-tree.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { Handover } from './handover.ts'
import type { CatalogFile, CatalogFiles } from './meta.ts'

export interface CatalogLayers extends ImageLayers {
  /** Of the catalog, as the label of the image says it: `/configs`. */
  readonly folder: string
}

/**
 * Links, devices and files with holes in the folder are refused: tools that build catalogs write none, and what a link leads to
 * is not what its author showed.
 */
export function catalogFilesOfLayers(layers: CatalogLayers): CatalogFiles {
  return { origin: layers.origin, files: (signal) => filesOf(layers, signal) }
}

async function* filesOf(layers: CatalogLayers, signal: AbortSignal | undefined): AsyncGenerator<CatalogFile> {
  const folder = safePath(layers.folder, { origin: layers.origin, layer: 'label' }).replace(/^\.$/, '')
  const above: LayerTree[] = []
  for (const layer of layers.layers.toReversed()) {
    signal?.throwIfAborted()
    const tree = new LayerTree({ origin: layers.origin, layer: layer.digest })
    yield* filesOfLayer(layers, new LayerView({ layer, folder, origin: layers.origin, above, tree }))
    above.push(tree)
  }
}

async function* filesOfLayer(layers: CatalogLayers, view: LayerView): AsyncGenerator<CatalogFile> {
  const handover = new Handover<CatalogFile>()
  const failure = readLayer(layers, view.layer, async (entry) => {
    const path = view.see(entry)
    if (path === undefined) return
    await handover.give({ path, size: entry.size, open: () => told(entry.content, handover, failure) })
  })
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    .finally(() => handover.end())
  const noMore = new Error('no more files are wanted')
  try {
    for (let file = await handover.take(); file; file = await handover.take()) yield file
    const failed = await failure
    if (failed) throw failed.error
  } finally {
    handover.stop(noMore)
    await failure
  }
}

/** What breaks in the middle of a file is a fault of the layer, and told as that. */
async function* told(
  content: AsyncIterable<Uint8Array>,
  handover: Handover<CatalogFile>,
  failure: Promise<{ readonly error: unknown } | undefined>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    handover.stop(error)
    throw (await failure)?.error ?? error
  }
}

interface LayerViewOptions {
  readonly layer: Descriptor
  readonly folder: string
  readonly origin: string
  /** The layers that hide this one. */
  readonly above: readonly LayerTree[]
  /** Of this layer, to be filled. */
  readonly tree: LayerTree
}

/** What of a layer can be seen. */
class LayerView {
  readonly #options: LayerViewOptions
  readonly #prefix: string
  readonly #seen = new Set<string>()

  constructor(options: LayerViewOptions) {
    this.#options = options
    this.#prefix = options.folder === '' ? '' : `${options.folder}/`
  }

  get layer(): Descriptor {
    return this.#options.layer
  }

  /**
   * The path below the folder, for a file that counts.
   *
   * @throws KnownError LAYER_UNSAFE
   */
  see(entry: LayerEntry): string | undefined {
    const { tree, above, folder } = this.#options
    const { path, kind, link } = entry
    tree.add(entry)
    if (kind === 'directory' || posix.basename(path).startsWith('.wh.')) return undefined
    const isOnTheWay = path === folder || folder.startsWith(`${path}/`)
    if (!isOnTheWay && !path.startsWith(this.#prefix)) return undefined
    if (above.some((upper) => upper.about(path).kind !== 'nothing')) return undefined
    if (kind === 'symlink' && !link.startsWith('/')) safePath(posix.join(posix.dirname(path), link), this.#place)
    if (kind === 'symlink' || kind === 'hardlink') throw this.#unsafe(path, `is a link to "${link}"`)
    if (kind !== 'file' || isOnTheWay) throw this.#unsafe(path, isOnTheWay ? 'is no folder' : 'is no plain file')
    if (this.#seen.has(path)) throw this.#unsafe(path, 'is there twice')
    this.#seen.add(path)
    return path.slice(this.#prefix.length)
  }

  get #place() {
    return { origin: this.#options.origin, layer: this.layer.digest }
  }

  #unsafe(path: string, why: string): KnownError {
    const { origin, layer } = this.#options
    return new KnownError('LAYER_UNSAFE', `${origin}: layer ${layer.digest}: ${path} ${why}`, {
      details: { image: origin, layer: layer.digest, path },
      hint: 'A catalog is a folder of plain files. Build the catalog image anew with COPY of such a folder.',
    })
  }
}
