/**
 * Gzip (RFC 1952) that comes out the same on every machine.
 *
 * What zlib makes of the same input depends on its version and on the processor that Node was built for, and with it would
 * the digest of a layer. This is a plain deflate instead: matches by short hash chains, one code for each block. In size it
 * is near the lower levels of zlib.
 */
import { crc32 } from 'node:zlib'
import { BitWriter, Block, blockBytes } from './deflate-blocks.ts'

const windowBytes = 32 * 1024
const hashBits = 15
const minMatch = 4
const maxMatch = 258
/** A place further back than this is not looked at. */
const maxDistance = windowBytes - 1
/** How many earlier places with the same hash are looked at. */
const maxProbes = 8
/** A match of this length is taken without looking for a longer one. */
const goodMatch = 64
const nowhere = -1
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/** The same input, cut into chunks however, gives the same output. */
export function* stableGzip(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const deflate = new Deflate()
  let checksum = 0
  let size = 0
  yield gzipHeader
  for (const chunk of chunks) {
    checksum = crc32(chunk, checksum)
    size += chunk.byteLength
    yield* deflate.add(chunk)
  }
  yield deflate.finish()
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  yield trailer
}

class Deflate {
  /** One window of what was before, and one block of what is new. */
  readonly #bytes = new Uint8Array(windowBytes + blockBytes)
  readonly #block = new Block()
  readonly #bits = new BitWriter()
  /** The last place with a hash, and of each place the one before it with the same hash. */
  readonly #last = new Int32Array(2 ** hashBits).fill(nowhere)
  readonly #before = new Int32Array(windowBytes).fill(nowhere)
  /** Where the new bytes begin and end. */
  #start = 0
  #end = 0

  finish(): Uint8Array {
    return this.#compress({ isLast: true })
  }

  *add(chunk: Uint8Array): Generator<Uint8Array> {
    let rest = chunk
    while (rest.byteLength > 0) {
      if (this.#end - this.#start === blockBytes) {
        yield this.#compress({ isLast: false })
        this.#slide()
      }
      const part = rest.subarray(0, blockBytes - (this.#end - this.#start))
      this.#bytes.set(part, this.#end)
      this.#end += part.byteLength
      rest = rest.subarray(part.byteLength)
    }
  }

  #compress(options: { readonly isLast: boolean }): Uint8Array {
    let position = this.#start
    while (position < this.#end) {
      const before = this.#remember(position)
      const { length, distance } = this.#longestMatch(position, before)
      if (length < minMatch) {
        this.#block.addLiteral(this.#bytes[position] ?? 0)
        position += 1
        continue
      }
      this.#block.addMatch(length, distance)
      for (let next = position + 1; next < position + length; next += 1) this.#remember(next)
      position += length
    }
    this.#block.send(this.#bits, options)
    if (options.isLast) this.#bits.flush()
    return this.#bits.take()
  }

  /** Enters a place under its hash; the place that stood there before. */
  #remember(position: number): number {
    if (position + minMatch > this.#end) return nowhere
    const bytes = this.#bytes
    const four =
      (bytes[position] ?? 0) |
      ((bytes[position + 1] ?? 0) << 8) |
      ((bytes[position + 2] ?? 0) << 16) |
      ((bytes[position + 3] ?? 0) << 24)
    const hash = Math.imul(four, 0x9e3779b1) >>> (32 - hashBits)
    const before = this.#last[hash] ?? nowhere
    this.#before[position & (windowBytes - 1)] = before
    this.#last[hash] = position
    return before
  }

  #longestMatch(position: number, first: number): { readonly length: number; readonly distance: number } {
    const bytes = this.#bytes
    const limit = Math.min(maxMatch, this.#end - position)
    let length = minMatch - 1
    let distance = 0
    let place = first
    for (let probe = 0; probe < maxProbes && place >= 0 && position - place <= maxDistance; probe += 1) {
      // Only a place that also agrees in the last byte of a longer match can be one.
      if (bytes[place + length] === bytes[position + length]) {
        let common = 0
        while (common < limit && bytes[place + common] === bytes[position + common]) common += 1
        if (common > length) {
          length = common
          distance = position - place
          if (length >= goodMatch || length === limit) break
        }
      }
      place = this.#before[place & (windowBytes - 1)] ?? nowhere
    }
    return { length, distance }
  }

  /** Moves the window on by what was compressed. */
  #slide(): void {
    const kept = Math.min(windowBytes, this.#end)
    const shift = this.#end - kept
    this.#bytes.copyWithin(0, shift, this.#end)
    // Multiples of the window keep every place under its index in #before.
    for (const table of [this.#last, this.#before])
      for (let index = 0; index < table.length; index += 1)
        table[index] = Math.max(nowhere, (table[index] ?? nowhere) - shift)
    this.#start = kept
    this.#end = kept
  }
}
