/** Reads the entries of a layer in the order in which they lie there. Nothing is unpacked, and the layer is read to its end. */
import { posix } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'

/** The layers of an image, and where their bytes come from. */
export interface ImageLayers {
  /** As the manifest lists them: lowest first. */
  readonly layers: readonly Descriptor[]
  /** The compressed bytes of a layer; it throws at their end where they are not what the descriptor names. */
  readonly open: (layer: Descriptor) => AsyncIterable<Uint8Array>
  /** Names the image in messages. */
  readonly origin: string
}

export interface LayerEntry {
  /** Relative to the root of the image, without a slash at either end. */
  readonly path: string
  /** `sparse`: a file with holes that are not in the archive; `other`: a device, a pipe. */
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'sparse' | 'other'
  /** Where a link points, as it is written. */
  readonly link: string
  /** Of the content, in bytes, as the header says. */
  readonly size: number
  /** To be read before the next entry is asked for, or not at all. */
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * Calls `visit` for every entry, and returns when the last byte of the layer has been read: what `open` proves is proven then.
 *
 * @throws KnownError LAYER_UNSAFE for a path outside the root, PAYLOAD_INVALID for what is no such archive, and what `open` and `visit` throw
 */
export async function readLayer(
  { open, origin }: Pick<ImageLayers, 'open' | 'origin'>,
  layer: Descriptor,
  visit: (entry: LayerEntry) => Promise<void> | void,
): Promise<void> {
  const tar = extract()
  const source = new WatchedSource(open(layer))
  const compressed = Readable.from(source, { objectMode: false })
  const decompressor = decompressorFor(layer.mediaType)
  // A failure anywhere in the pipeline destroys `tar`, and so is thrown by the loop below.
  pipeline([compressed, ...(decompressor ? [decompressor] : []), tar], () => undefined)
  try {
    for await (const entry of tar) {
      const { name, type, linkname, size } = entry.header
      const pax = (entry.header.pax ?? {}) as Readonly<Record<string, string>>
      const sparseName = pax['GNU.sparse.name']
      const path = safePath(sparseName ?? name, { origin, layer: layer.digest })
      const kind = Object.keys(pax).some((key) => key.startsWith('GNU.sparse.')) ? 'sparse' : kindOf(type)
      const content = entry as AsyncIterable<Uint8Array>
      await visitEntry(visit, { path, kind, link: linkname ?? '', size: size ?? 0, content })
      // Of what was read to its end nothing is left, and of the rest nothing is wanted.
      entry.resume()
    }
    await source.drain()
  } catch (error) {
    if (error instanceof VisitFailed) throw error.cause
    if (error instanceof KnownError) throw error
    source.throwFailure()
    // Where these are not the bytes of the layer at all, that is the fault to tell.
    await source.drain()
    // It may have been met by who was reading when that stopped.
    source.throwFailure()
    throw unreadable(origin, layer, error)
  } finally {
    compressed.destroy()
    await source.close()
  }
}

/** What a visitor threw by itself: no fault of the layer. */
class VisitFailed extends Error {}

async function visitEntry(visit: (entry: LayerEntry) => Promise<void> | void, entry: LayerEntry): Promise<void> {
  let broken: unknown
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* entry.content
    } catch (error) {
      broken = error
      throw error
    }
  }
  try {
    await visit({ ...entry, content: watched() })
  } catch (error) {
    throw error === broken ? error : new VisitFailed('', { cause: error })
  }
}

/** Where an entry or a link leads, relative to the root of the image. */
export function safePath(name: string, { origin, layer }: { origin: string; layer: string }): string {
  const path = posix
    .normalize(name)
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/$/, '')
  if (path !== '..' && !path.startsWith('../') && !name.includes('\0')) return path
  throw new KnownError('LAYER_UNSAFE', `${origin}: layer ${layer} holds the path "${name}", outside its root`, {
    details: { image: origin, layer, path: name },
  })
}

const kinds: Readonly<Record<string, LayerEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  symlink: 'symlink',
  link: 'hardlink',
}

function kindOf(type: string | null | undefined): LayerEntry['kind'] {
  // GNU's own type for sparse files is one that tar-stream does not know.
  if (type === null || type === undefined) return 'sparse'
  return kinds[type] ?? 'other'
}

/**
 * Remembers why the bytes of a layer stopped, since the decompressor would only say that they did, and can go on where it
 * has enough of them: a digest is proven by all bytes, also by those behind the end of the archive.
 */
class WatchedSource implements AsyncIterable<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array>
  #failure: { readonly error: unknown } | undefined
  #isDone = false

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#iterator = source[Symbol.asyncIterator]()
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk
  }

  async drain(): Promise<void> {
    while ((await this.#next()) !== undefined);
  }

  async close(): Promise<void> {
    if (this.#isDone) return
    this.#isDone = true
    await this.#iterator.return?.()
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#isDone) return undefined
    try {
      const { done, value } = await this.#iterator.next()
      if (!done) return value
      this.#isDone = true
      return undefined
    } catch (error) {
      this.#isDone = true
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
