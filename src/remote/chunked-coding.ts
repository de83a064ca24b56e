/** Takes chunked transfer coding off a body (RFC 9112 7.1), whatever the pieces it arrives in. */
import { InvalidHead } from './response-head.ts'

const maxLineBytes = 4096

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done'

export class ChunkedDecoder {
  #state: State = 'size'
  #line = ''
  #left = 0

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * The payload in `bytes`, in parts that share its memory.
   *
   * @throws InvalidHead
   */
  decode(bytes: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = []
    let at = 0
    while (at < bytes.byteLength) {
      if (this.#state === 'done') throw new InvalidHead('bytes after the end of a chunked body')
      if (this.#state === 'data') {
        const end = Math.min(bytes.byteLength, at + this.#left)
        parts.push(bytes.subarray(at, end))
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#state = 'data-end'
      } else at = this.#readLine(bytes, at)
    }
    return parts
  }

  /** Goes on with the line that `at` is in; returns the position after what was used of it. */
  #readLine(bytes: Uint8Array, at: number): number {
    const feed = bytes.indexOf(0x0a, at)
    const end = feed < 0 ? bytes.byteLength : feed + 1
    this.#line += Buffer.from(bytes.subarray(at, end)).toString('latin1')
    if (this.#line.length > maxLineBytes) throw new InvalidHead('a line of chunked coding without an end')
    if (feed >= 0) {
      const line = this.#line.replace(/\r?\n$/, '')
      this.#line = ''
      this.#onLine(line)
    }
    return end
  }

  #onLine(line: string): void {
    if (this.#state === 'data-end') {
      if (line !== '') throw new InvalidHead('a chunk is longer than it says')
      this.#state = 'size'
    } else if (this.#state === 'trailer') {
      if (line === '') this.#state = 'done'
    } else {
      const size = /^([0-9a-fA-F]{1,12})(?:[ \t]*;.*)?$/.exec(line)
      if (size === null) throw new InvalidHead(`"${line.slice(0, 80)}" is no chunk size`)
      this.#left = Number.parseInt(size[1] ?? '', 16)
      this.#state = this.#left === 0 ? 'trailer' : 'data'
    }
  }
}
