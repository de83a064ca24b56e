/**
 * Takes one file out of the layers of an image, without unpacking a layer and without holding the file in memory.
 *
 * Layers are read from the top down, and none below the one that holds the file. Each that is read is read to its end, also
 * behind the file: only all of its bytes prove its digest, and a later entry of the same name would count.
 */
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { type ImageLayers, type LayerEntry, readLayer } from './layer-files-read.ts'
import { ancestorsOf, LayerTree, type Verdict } from './layer-files-tree.ts'

export interface TakeOptions extends ImageLayers {
  /**
   * Consumes the file. It is called anew, from the first byte on, where a later entry counts. What it was given is proven
   * only when `takeLayerFile` has returned.
   */
  readonly sink: (content: AsyncIterable<Uint8Array>) => Promise<void>
  /** A file larger than this is refused, so that a hostile layer cannot fill the disk. */
  readonly maxFileBytes?: number
}

export interface TakenFile {
  /** Where the file was in the end: another path than was asked for where links led there. */
  readonly path: string
  readonly layer: Descriptor
  /** In bytes. */
  readonly size: number
}

const defaultMaxFileBytes = 4 * 1024 ** 3
/** As Linux (`include/linux/namei.h`, MAXSYMLINKS). */
const maxLinks = 40

/**
 * @param path relative to the root of the image
 * @returns undefined where the image has no file there
 * @throws KnownError LAYER_UNSAFE for links that lead outside or in a circle, and for a file that is too large;
 * PAYLOAD_INVALID for a layer that cannot be read, and for a file with holes; and what `open` and `sink` throw
 */
export async function takeLayerFile(path: string, options: TakeOptions): Promise<TakenFile | undefined> {
  const taking = new Taking(options)
  let wanted = path
  let top = options.layers.length - 1
  for (let links = 0; links <= maxLinks; links += 1) {
    const { verdict, index } = await taking.search(wanted, top)
    if (verdict.kind === 'file') return taking.take(wanted, index)
    if (verdict.kind === 'sparse') throw sparse(wanted, options)
    if (verdict.kind !== 'symlink' && verdict.kind !== 'hardlink') return undefined
    // A hard link is another name of a file of its own layer: what a layer above put into that place is another file.
    top = verdict.kind === 'hardlink' ? index : options.layers.length - 1
    wanted = verdict.path
  }
  throw new KnownError('LAYER_UNSAFE', `${options.origin}: the links at ${path} lead in a circle`, {
    details: { image: options.origin, path },
  })
}

interface Found {
  readonly verdict: Verdict
  /** Of the layer that decided. */
  readonly index: number
}

class Taking {
  readonly #options: TakeOptions
  /** By the index of the layer: what was read once is not read again to look for something else. */
  readonly #trees = new Map<number, LayerTree>()
  /** What the sink was given last. */
  #given: { readonly path: string; readonly index: number; readonly size: number } | undefined

  constructor(options: TakeOptions) {
    this.#options = options
  }

  async search(wanted: string, top: number): Promise<Found> {
    const directories = new Set<string>()
    for (let index = top; index >= 0; index -= 1) {
      const tree = this.#trees.get(index) ?? (await this.#read(index, wanted))
      const verdict = tree.about(wanted, directories)
      if (verdict.kind !== 'nothing') return { verdict, index }
      for (const ancestor of ancestorsOf(wanted)) if (tree.hasDirectory(ancestor)) directories.add(ancestor)
    }
    return { verdict: { kind: 'none' }, index: 0 }
  }

  /** The file is where `search` said: given to the sink on the way, or else read again. */
  async take(path: string, index: number): Promise<TakenFile> {
    const isGiven = () => this.#given?.path === path && this.#given.index === index
    if (!isGiven()) await this.#read(index, path)
    const layer = this.#layerAt(index)
    if (this.#given && isGiven()) return { path, layer, size: this.#given.size }
    throw new KnownError(
      'BLOB_DIGEST_MISMATCH',
      `${this.#options.origin}: layer ${layer.digest} changed while it was read`,
    )
  }

  async #read(index: number, wanted: string): Promise<LayerTree> {
    const layer = this.#layerAt(index)
    const tree = new LayerTree({ origin: this.#options.origin, layer: layer.digest })
    await readLayer(this.#options, layer, async (entry) => {
      tree.add(entry)
      if (entry.path === wanted && entry.kind === 'file') await this.#give(entry, index)
    })
    this.#trees.set(index, tree)
    return tree
  }

  async #give({ path, content }: LayerEntry, index: number): Promise<void> {
    const { sink, origin, maxFileBytes = defaultMaxFileBytes } = this.#options
    let size = 0
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        size += chunk.byteLength
        if (size > maxFileBytes) {
          throw new KnownError('LAYER_UNSAFE', `${origin}: ${path} is larger than ${maxFileBytes} bytes`, {
            details: { image: origin, path },
          })
        }
        yield chunk
      }
    }
    await sink(counted())
    this.#given = { path, index, size }
  }

  #layerAt(index: number): Descriptor {
    const layer = this.#options.layers[index]
    if (!layer) throw new RangeError(`there is no layer ${index}`)
    return layer
  }
}

function sparse(path: string, { origin }: TakeOptions): KnownError {
  return new KnownError('PAYLOAD_INVALID', `${origin}: ${path} is stored with holes, which is not supported`, {
    details: { image: origin, path },
    hint: 'No tool that builds images stores files so. Ask where this image came from.',
  })
}
