/**
 * Finds files inside the layers of an image without unpacking a layer to disk.
 *
 * Layers are read from the top down, as an overlay shows them: the first that holds a path decides, and a whiteout
 * ends the search for what it hides (OCI image-spec layer.md, "Whiteouts").
 */
import { posix } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'

export interface LayerSearch {
  /** Paths relative to the root of the image, without a leading slash. */
  readonly wanted: readonly string[]
  /** Layers of the manifest, lowest first, as the manifest lists them. */
  readonly layers: readonly Descriptor[]
  /** The compressed bytes of a layer. */
  readonly open: (layer: Descriptor) => AsyncIterable<Uint8Array>
  /** Names the image in messages. */
  readonly origin: string
  /** A file larger than this is refused, so that a hostile layer cannot fill the memory. */
  readonly maxFileBytes?: number
}

const defaultMaxFileBytes = 64 * 1024 * 1024

/**
 * The content of each wanted file that the image has.
 *
 * @throws KnownError LAYER_UNSAFE for an entry that points outside the root or a file that is too large
 */
export async function findLayerFiles(search: LayerSearch): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  const open = new Set(search.wanted)
  for (const layer of search.layers.toReversed()) {
    if (open.size === 0) break
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
  const tar = extract()
  const source = new WatchedSource(search.open(layer))
  const compressed = Readable.from(source, { objectMode: false })
  const decompressor = decompressorFor(layer.mediaType)
  // A failure anywhere in the pipeline destroys `tar`, and so is thrown by the loop below.
  pipeline([compressed, ...(decompressor ? [decompressor] : []), tar], () => undefined)
  try {
    for await (const entry of tar) {
      const path = safePath(entry.header.name, search.origin, layer)
      for (const hiddenPath of hiddenBy(path, entry.header.type, open)) {
        hidden.add(hiddenPath)
        if (!isWhiteout(path)) files.delete(hiddenPath)
      }
      if (open.has(path) && entry.header.type === 'file')
        files.set(path, await readEntry(entry as AsyncIterable<Uint8Array>, search, path))
      else entry.resume()
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    source.throwFailure()
    throw unreadable(search.origin, layer, error)
  } finally {
    compressed.destroy()
  }
  return { files, hidden }
}

/** Remembers why the bytes of a layer stopped: the decompressor would only say that they did. */
class WatchedSource implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>
  #failure: { readonly error: unknown } | undefined

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#source
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }
}

function decompressorFor(mediaType: string) {
  if (mediaType.endsWith('gzip')) return createGunzip({ chunkSize: 256 * 1024 })
  if (mediaType.endsWith('zstd')) return createZstdDecompress({ chunkSize: 256 * 1024 })
  return undefined
}

function unreadable(origin: string, layer: Descriptor, cause: unknown): KnownError {
  return new KnownError('PAYLOAD_INVALID', `${origin}: layer ${layer.digest} cannot be read as a ${layer.mediaType}`, {
    details: { image: origin, layer: layer.digest },
    hint: 'The layer is no tar archive, or is cut. Check the image at its source.',
    cause,
  })
}

function safePath(name: string, origin: string, layer: Descriptor): string {
  const path = posix
    .normalize(name)
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/$/, '')
  if (path !== '..' && !path.startsWith('../') && !name.includes('\0')) return path
  throw new KnownError('LAYER_UNSAFE', `${origin}: layer ${layer.digest} holds the path "${name}", outside its root`, {
    details: { image: origin, layer: layer.digest, path: name },
  })
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
