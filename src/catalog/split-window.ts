/** The bytes of a file from the document that is being read on, as far as they have come. */

const smallestBytes = 64 * 1024

export interface WindowOptions {
  /** So many bytes will come at most, or so many in one go. */
  readonly expectedBytes: number
  /** Of the first byte that will come, in the file. */
  readonly offset: number
}

export class SplitWindow {
  #bytes: Buffer
  #start = 0
  #end = 0
  #offset: number
  #dropped = 0

  constructor({ expectedBytes, offset }: WindowOptions) {
    this.#offset = offset
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(smallestBytes, expectedBytes))
  }

  /** Of the first byte of the window, in the file. */
  get offset(): number {
    return this.#offset
  }

  /** How many bytes of the document were dropped. */
  get dropped(): number {
    return this.#dropped
  }

  /** Valid until the window changes. */
  get view(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  append(chunk: Uint8Array): void {
    const length = this.#end - this.#start
    if (this.#end + chunk.byteLength > this.#bytes.length) {
      const needed = length + chunk.byteLength
      const roomy = needed > this.#bytes.length / 2 ? Buffer.allocUnsafeSlow(needed * 2) : this.#bytes
      this.#bytes.copy(roomy, 0, this.#start, this.#end)
      this.#bytes = roomy
      this.#start = 0
      this.#end = length
    }
    this.#bytes.set(chunk, this.#end)
    this.#end += chunk.byteLength
  }

  /** Leaves `count` bytes behind: those of a document, or what stands between two. */
  consume(count: number): void {
    this.#start += count
    this.#offset += count + this.#dropped
    this.#dropped = 0
  }

  /** Takes bytes out of the middle of the document, for which there is no room. */
  drop(from: number, to: number): void {
    this.#bytes.copyWithin(this.#start + from, this.#start + to, this.#end)
    this.#end -= to - from
    this.#dropped += to - from
  }
}
