/** What one layer says about paths: what stands there, and what it takes away from the layers below. */
import { posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { type LayerEntry, safePath } from './layer-files-read.ts'

/** What a layer says about a path. */
export type Verdict =
  /** Ask the layer below. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file' }
  /** Nothing is there, or something that is no file; no layer below is asked. */
  | { readonly kind: 'none' }
  /** A file with holes that are not in the archive. */
  | { readonly kind: 'sparse' }
  /** Another path is meant: in the whole image, or for a hard link in this layer and those below. */
  | { readonly kind: 'symlink' | 'hardlink'; readonly path: string }

/** Of all paths together, in characters: an image has some hundred thousand paths of a hundred characters at most. */
const maxPathCharacters = 128 * 1024 * 1024

interface Place {
  readonly origin: string
  readonly layer: string
}

interface Node {
  readonly kind: LayerEntry['kind']
  readonly link: string
}

export class LayerTree {
  readonly #place: Place
  readonly #nodes = new Map<string, Node>()
  /** Paths that are gone, with all below them. */
  readonly #gone = new Set<string>()
  /** Directories of which only what this layer has is left. */
  readonly #opaque = new Set<string>()
  #characters = 0

  /** @param place names image and layer in messages */
  constructor(place: Place) {
    this.#place = place
  }

  /** @throws KnownError LAYER_UNSAFE where there are too many to remember */
  add({ path, kind, link }: Pick<LayerEntry, 'path' | 'kind' | 'link'>): void {
    this.#characters += path.length + link.length
    if (this.#characters > maxPathCharacters) throw this.#unsafe(`names more paths than an image has`)
    const name = posix.basename(path)
    if (name === '.wh..wh..opq') this.#opaque.add(posix.dirname(path))
    else if (name.startsWith('.wh.')) this.#gone.add(posix.join(posix.dirname(path), name.slice('.wh.'.length)))
    else this.#nodes.set(path, { kind, link })
  }

  /** True where the layer itself says that `path` is a directory. */
  hasDirectory(path: string): boolean {
    return this.#nodes.get(path)?.kind === 'directory'
  }

  /**
   * @param directories paths that are directories in a layer above: what stands there in this one is hidden
   * @throws KnownError LAYER_UNSAFE for a link to the outside
   */
  about(path: string, directories: ReadonlySet<string> = new Set()): Verdict {
    const node = this.#nodes.get(path)
    if (node) return this.#follow(path, node, '')
    for (const ancestor of ancestorsOf(path)) {
      const above = this.#nodes.get(ancestor)
      if (!above || above.kind === 'directory') continue
      // Nothing can be below what is no directory.
      if (above.kind !== 'symlink' || directories.has(ancestor)) return { kind: 'none' }
      return this.#follow(ancestor, above, path.slice(ancestor.length))
    }
    return this.#takesAway(path) ? { kind: 'none' } : { kind: 'nothing' }
  }

  #takesAway(path: string): boolean {
    if (this.#gone.has(path) || this.#opaque.has('.')) return true
    return ancestorsOf(path).some((ancestor) => this.#gone.has(ancestor) || this.#opaque.has(ancestor))
  }

  /** @param rest of the wanted path, below the node */
  #follow(path: string, { kind, link }: Node, rest: string): Verdict {
    switch (kind) {
      case 'file':
      case 'sparse':
        return { kind }
      case 'symlink': {
        // In the image an absolute link begins at its root.
        const target = link.startsWith('/') ? link : posix.join(posix.dirname(path), link)
        return { kind, path: safePath(`${target}${rest}`, this.#place) }
      }
      case 'hardlink':
        return { kind, path: safePath(link, this.#place) }
      default:
        return { kind: 'none' }
    }
  }

  #unsafe(why: string): KnownError {
    const { origin, layer } = this.#place
    return new KnownError('LAYER_UNSAFE', `${origin}: layer ${layer} ${why}`, { details: { image: origin, layer } })
  }
}

/** `usr`, `usr/bin` of `usr/bin/oc`. */
export function ancestorsOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}
