/**
 * Puts the release into a tool: openshift-install installs the release whose image stands in it, oc tells its version.
 *
 * A binary has room for each value: `\0_RELEASE_…_LOCATION_\0`, padding of X, and a NUL, of fixed length. The first
 * place that is exactly that is overwritten from its beginning with the value and a NUL; nothing moves.
 *
 * Source: openshift/oc `pkg/cli/admin/release/extract_tools.go:copyAndReplace`, openshift/installer
 * `pkg/asset/releaseimage/default.go` and `pkg/version/version.go`.
 */
import { KnownError } from '../errors/known-error.ts'

/** What a tool can be told. */
export type ReleaseMark = 'image' | 'version' | 'architecture'

/** How the values are called in messages, and how long the padding of their places is. */
const places: Readonly<Record<ReleaseMark, { readonly title: string; readonly padding: number }>> = {
  image: { title: 'release image', padding: 300 },
  version: { title: 'release version', padding: 64 },
  architecture: { title: 'release architecture', padding: 64 },
}

/** The values to put in. */
export type ReleaseMarks = Readonly<Partial<Record<ReleaseMark, string>>>

/** A run of bytes that is now another. */
export interface PatchedBytes {
  readonly mark: ReleaseMark
  /** Of the first byte, in the file. */
  readonly offset: number
  readonly size: number
}

/** What a binary has where a value belongs, before there is one. */
export function placeholderOf(mark: ReleaseMark): Buffer {
  return Buffer.from(`\0_RELEASE_${mark.toUpperCase()}_LOCATION_\0${'X'.repeat(places[mark].padding)}\0`)
}

export class BinaryPatch {
  readonly #open: { readonly mark: ReleaseMark; readonly placeholder: Buffer; readonly bytes: Buffer }[]
  readonly #made: PatchedBytes[] = []

  /** @throws KnownError USAGE for a value that is longer than its place */
  constructor(marks: ReleaseMarks) {
    this.#open = markNames(marks).map((mark) => {
      const placeholder = placeholderOf(mark)
      const bytes = Buffer.from(`${marks[mark]}\0`)
      if (bytes.length > placeholder.length) throw tooLong(mark, bytes.length - 1, placeholder.length - 1)
      return { mark, placeholder, bytes }
    })
  }

  /** What was put in so far. */
  get made(): readonly PatchedBytes[] {
    return this.#made
  }

  /** The values for which no place was found so far. */
  get missing(): readonly ReleaseMark[] {
    return this.#open.map(({ mark }) => mark)
  }

  /** `content` with the values in their places. Holds back no more than the longest place. */
  async *apply(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let held = Buffer.alloc(0)
    let offset = 0
    for await (const chunk of content) {
      if (this.#open.length === 0 && held.length === 0) {
        yield chunk
        continue
      }
      const window = Buffer.concat([held, chunk])
      this.#search(window, offset)
      const keep = Math.min(window.length, Math.max(0, ...this.#open.map(({ placeholder }) => placeholder.length - 1)))
      const ready = window.length - keep
      if (ready > 0) yield window.subarray(0, ready)
      offset += ready
      held = window.subarray(ready)
    }
    if (held.length > 0) yield held
  }

  #search(window: Buffer, offset: number): void {
    for (const place of [...this.#open]) {
      const at = window.indexOf(place.placeholder)
      if (at < 0) continue
      place.bytes.copy(window, at)
      this.#made.push({ mark: place.mark, offset: offset + at, size: place.bytes.length })
      this.#open.splice(this.#open.indexOf(place), 1)
    }
  }
}

/** `release image`, as messages call it. */
export function titleOf(mark: ReleaseMark): string {
  return places[mark].title
}

function markNames(marks: ReleaseMarks): ReleaseMark[] {
  return (['image', 'version', 'architecture'] as const).filter((mark) => marks[mark] !== undefined)
}

function tooLong(mark: ReleaseMark, bytes: number, room: number): KnownError {
  return new KnownError(
    'USAGE',
    `The ${titleOf(mark)} to put into the tools has ${bytes} bytes, and there is room for ${room}`,
    { details: { bytes, room }, hint: 'Name the release by a shorter repository: --release-image HOST/PATH.' },
  )
}
