/**
 * Takes files out of the layers of an image, without unpacking a layer and without holding a file in memory.
 *
 * Layers are read from the top down, each once for all files, and none below the one that holds the last of them. Each that is
 * read is read to its end, also behind the files: only all of its bytes prove its digest, and a later entry of the same
 * name would count.
 */
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { type ImageLayers, type LayerEntry, readLayer } from './layer-files-read.ts'
import { ancestorsOf, LayerTree, type Verdict } from './layer-files-tree.ts'

export interface TakeOptions extends ImageLayers {
  /**
   * Consumes the file that was asked for as `path`. It is called anew, from the first byte on, where a later entry counts.
   * What it was given is proven only when `takeLayerFiles` has returned.
   */
  readonly sink: (path: string, content: AsyncIterable<Uint8Array>) => Promise<void>
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
 * @param paths relative to the root of the image, each once
 * @returns by path, the files that the image has
 * @throws KnownError LAYER_UNSAFE for links that lead outside or in a circle, and for a file that is too large;
 * PAYLOAD_INVALID for a layer that cannot be read, and for a file with holes; and what `open` and `sink` throw
 */
export async function takeLayerFiles(
  paths: readonly string[],
  options: TakeOptions,
): Promise<ReadonlyMap<string, TakenFile>> {
  const taking = new Taking(paths, options)
  const taken = new Map<string, TakenFile>()
  for (const path of paths) {
    const file = await takeOne(path, taking, options)
    if (file) taken.set(path, file)
  }
  return taken
}

async function takeOne(asked: string, taking: Taking, options: TakeOptions): Promise<TakenFile | undefined> {
  let wanted = asked
  let top = options.layers.length - 1
  for (let links = 0; links <= maxLinks; links += 1) {
    const { verdict, index } = await taking.search(wanted, top)
    if (verdict.kind === 'file') return taking.take({ asked, wanted }, index)
    if (verdict.kind === 'sparse') throw sparse(wanted, options)
    if (verdict.kind !== 'symlink' && verdict.kind !== 'hardlink') return taking.leave(asked)
    // A hard link is another name of a file of its own layer: what a layer above put into that place is another file.
    top = verdict.kind === 'hardlink' ? index : options.layers.length - 1
    wanted = verdict.path
    taking.redirect(asked, wanted)
  }
  throw new KnownError('LAYER_UNSAFE', `${options.origin}: the links at ${asked} lead in a circle`, {
    details: { image: options.origin, path: asked },
  })
}

interface Found {
  readonly verdict: Verdict
  /** Of the layer that decided. */
  readonly index: number
}

interface Given {
  readonly wanted: string
  readonly index: number
  readonly size: number
}

class Taking {
  readonly #options: TakeOptions
  /** By the index of the layer: what was read once is not read again to look for something else. */
  readonly #trees = new Map<number, LayerTree>()
  /** By the path that was asked for: where it is looked for now. */
  readonly #open: Map<string, string>
  /** By the path that was asked for: what its sink was given last. */
  readonly #given = new Map<string, Given>()

  constructor(paths: readonly string[], options: TakeOptions) {
    this.#options = options
    this.#open = new Map(paths.map((path) => [path, path]))
  }

  async search(wanted: string, top: number): Promise<Found> {
    const directories = new Set<string>()
    for (let index = top; index >= 0; index -= 1) {
      const tree = this.#trees.get(index) ?? (await this.#read(index, this.#undecidedAbove(index)))
      const verdict = tree.about(wanted, directories)
      if (verdict.kind !== 'nothing') return { verdict, index }
      for (const ancestor of ancestorsOf(wanted)) if (tree.hasDirectory(ancestor)) directories.add(ancestor)
    }
    return { verdict: { kind: 'none' }, index: 0 }
  }

  /** The file is where `search` said: given to the sink on the way, or else read again. */
  async take({ asked, wanted }: { asked: string; wanted: string }, index: number): Promise<TakenFile> {
    const given = () => {
      const last = this.#given.get(asked)
      return last?.wanted === wanted && last.index === index ? last : undefined
    }
    if (!given()) await this.#read(index, new Map([[asked, wanted]]))
    const file = given()
    const layer = this.#layerAt(index)
    this.leave(asked)
    if (file) return { path: wanted, layer, size: file.size }
    throw new KnownError(
      'BLOB_DIGEST_MISMATCH',
      `${this.#options.origin}: layer ${layer.digest} was another when it was read again`,
      { details: { image: this.#options.origin, layer: layer.digest } },
    )
  }

  leave(asked: string): undefined {
    this.#open.delete(asked)
  }

  redirect(asked: string, wanted: string): void {
    this.#open.set(asked, wanted)
  }

  /** Those of the files that are looked for which the layers above `index` do not have and do not hide. */
  #undecidedAbove(index: number): ReadonlyMap<string, string> {
    const above = [...this.#trees].filter(([other]) => other > index)
    return new Map(
      [...this.#open].filter(([, wanted]) => above.every(([, tree]) => tree.about(wanted).kind === 'nothing')),
    )
  }

  async #read(index: number, wanted: ReadonlyMap<string, string>): Promise<LayerTree> {
    const layer = this.#layerAt(index)
    const tree = new LayerTree({ origin: this.#options.origin, layer: layer.digest })
    const askedAs = new Map([...wanted].map(([asked, path]) => [path, asked]))
    await readLayer(this.#options, layer, async (entry) => {
      tree.add(entry)
      const asked = askedAs.get(entry.path)
      if (asked !== undefined && entry.kind === 'file') await this.#give(asked, entry, index)
    })
    this.#trees.set(index, tree)
    return tree
  }

  async #give(asked: string, { path, content }: LayerEntry, index: number): Promise<void> {
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
    await sink(asked, counted())
    this.#given.set(asked, { wanted: path, index, size })
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
