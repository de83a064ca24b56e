/**
 * Finds files inside the layers of an image without unpacking a layer to disk.
 *
 * Layers are read from the top down, as an overlay shows them: the first that holds a path decides, and a whiteout
 * ends the search for what it hides (OCI image-spec layer.md, "Whiteouts").
 */
import { posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { type ImageLayers, readLayer } from './layer-files-read.ts'

export interface LayerSearch extends ImageLayers {
  /** Paths relative to the root of the image, without a leading slash. */
  readonly wanted: readonly string[]
  /** Taken along where they are in a layer that is read anyway; no layer is opened for their sake. */
  readonly beside?: readonly string[]
  /** A file larger than this is refused, so that a hostile layer cannot fill the memory. */
  readonly maxFileBytes?: number
}

const defaultMaxFileBytes = 64 * 1024 * 1024

/**
 * The content of each wanted file that the image has, and of those beside them.
 *
 * @throws KnownError LAYER_UNSAFE for an entry that points outside the root or a file that is too large
 */
export async function findLayerFiles(search: LayerSearch): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  const open = new Set([...search.wanted, ...(search.beside ?? [])])
  for (const layer of search.layers.toReversed()) {
    if (!search.wanted.some((path) => open.has(path))) break
    const { files, hidden } = await searchLayer(search, layer, open)
    for (const [path, content] of files) found.set(path, content)
    for (const path of [...files.keys(), ...hidden]) open.delete(path)
  }
  return found
}

/** Reads one layer to its end: the wanted files in it, and the wanted paths that it hides from the layers below. */
async function searchLayer(
  search: LayerSearch,
  layer: Descriptor,
  open: ReadonlySet<string>,
): Promise<{ files: Map<string, Buffer>; hidden: Set<string> }> {
  const files = new Map<string, Buffer>()
  const hidden = new Set<string>()
  await readLayer(search, layer, async ({ path, kind, content }) => {
    for (const hiddenPath of hiddenBy(path, kind, open)) {
      hidden.add(hiddenPath)
      if (!isWhiteout(path)) files.delete(hiddenPath)
    }
    if (open.has(path) && kind === 'file') files.set(path, await readEntry(content, search, path))
  })
  return { files, hidden }
}

function isWhiteout(path: string): boolean {
  return posix.basename(path).startsWith('.wh.')
}

/** The wanted paths of lower layers that this entry takes away: by a whiteout, or by standing in their place. */
function* hiddenBy(path: string, type: string, wanted: ReadonlySet<string>): Generator<string> {
  if (isWhiteout(path)) {
    const name = posix.basename(path)
    const directory = posix.dirname(path)
    const isOpaque = name === '.wh..wh..opq'
    const gone = isOpaque ? directory : posix.join(directory, name.slice('.wh.'.length))
    for (const candidate of wanted) {
      const isBelow = gone === '.' || candidate.startsWith(`${gone}/`)
      if (isBelow || (!isOpaque && candidate === gone)) yield candidate
    }
    return
  }
  for (const candidate of wanted) {
    const isInPlace = candidate === path && type !== 'file'
    // Nothing can be below what is no directory.
    if (isInPlace || (type !== 'directory' && candidate.startsWith(`${path}/`))) yield candidate
  }
}

async function readEntry(entry: AsyncIterable<Uint8Array>, search: LayerSearch, path: string): Promise<Buffer> {
  const limit = search.maxFileBytes ?? defaultMaxFileBytes
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of entry) {
    size += chunk.byteLength
    if (size > limit) {
      throw new KnownError('LAYER_UNSAFE', `${search.origin}: ${path} is larger than ${limit} bytes`, {
        details: { image: search.origin, path },
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
