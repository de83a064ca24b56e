/** All files below one folder of an image, as its layers together show them. */
import { posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { type ImageLayers, readLayer } from './layer-files-read.ts'
import { LayerTree } from './layer-files-tree.ts'

export interface FolderOptions extends ImageLayers {
  /** No layer below the first that holds this path is read: for a folder that is known to be written as one layer. */
  readonly lastAt?: string
  /** Of all files together. */
  readonly maxBytes?: number
}

const defaultMaxBytes = 256 * 1024 * 1024

/**
 * The content of each file, by its path, in the order of the paths. Links are not followed.
 *
 * @param folder relative to the root of the image, without a slash at either end
 * @throws KnownError LAYER_UNSAFE where it is too large, PAYLOAD_INVALID for a layer that cannot be read, and what `open` throws
 */
export async function readLayerFolder(folder: string, options: FolderOptions): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>()
  const above: LayerTree[] = []
  const budget = { left: options.maxBytes ?? defaultMaxBytes }
  for (const layer of options.layers.toReversed()) {
    const tree = new LayerTree({ origin: options.origin, layer: layer.digest })
    const own = new Map<string, Buffer>()
    await readLayer(options, layer, async ({ path, kind, link, content }) => {
      tree.add({ path, kind, link })
      own.delete(path)
      if (kind !== 'file' || !path.startsWith(`${folder}/`) || posix.basename(path).startsWith('.wh.')) return
      if (above.every((upper) => upper.about(path).kind === 'nothing'))
        own.set(path, await collect(content, budget, options))
    })
    for (const [path, bytes] of own) found.set(path, bytes)
    if (options.lastAt !== undefined && found.has(options.lastAt)) break
    above.push(tree)
  }
  return new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

async function collect(
  content: AsyncIterable<Uint8Array>,
  budget: { left: number },
  { origin, maxBytes = defaultMaxBytes }: FolderOptions,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) {
    budget.left -= chunk.byteLength
    if (budget.left < 0) {
      throw new KnownError('LAYER_UNSAFE', `${origin}: the files of its folder are larger than ${maxBytes} bytes`, {
        details: { image: origin },
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
