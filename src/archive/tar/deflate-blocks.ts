/**
 * Blocks of deflate with a code of their own (RFC 1951, 3.2.7 "Compression with dynamic Huffman codes"), from literals
 * and matches.
 */
import { type HuffmanCode, huffmanCode } from './huffman.ts'

/** As many bytes at most are handed to one block. */
export const blockBytes = 64 * 1024
const endOfBlock = 256
/** The order in which the lengths of the lengths are sent. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** Symbol, number of extra bits and smallest value of the code for a length or distance (RFC 1951, 3.2.5). */
interface ValueCode {
  readonly symbols: Uint16Array
  readonly extraBits: Uint8Array
  readonly bases: Uint16Array
}
const lengthCode = withLongest(valueCode(259, { codes: 29, first: 3, plain: 4 }))
const distanceCode = valueCode(32769, { codes: 30, first: 1, plain: 2 })

/** Literals and matches of one block, in their order. */
export class Block {
  readonly #values = new Uint16Array(blockBytes)
  readonly #distances = new Uint16Array(blockBytes)
  readonly #literalCounts = new Uint32Array(286)
  readonly #distanceCounts = new Uint32Array(30)
  #size = 0

  addLiteral(byte: number): void {
    this.#values[this.#size] = byte
    this.#distances[this.#size] = 0
    this.#size += 1
    this.#literalCounts[byte] = (this.#literalCounts[byte] ?? 0) + 1
  }

  addMatch(length: number, distance: number): void {
    this.#values[this.#size] = length
    // 32768 does not fit beside the 0 of a literal, so a match at that distance is never looked for.
    this.#distances[this.#size] = distance
    this.#size += 1
    const symbol = 257 + (lengthCode.symbols[length] ?? 0)
    this.#literalCounts[symbol] = (this.#literalCounts[symbol] ?? 0) + 1
    const far = distanceCode.symbols[distance] ?? 0
    this.#distanceCounts[far] = (this.#distanceCounts[far] ?? 0) + 1
  }

  /** Sends the block and forgets it. */
  send(bits: BitWriter, { isLast }: { readonly isLast: boolean }): void {
    this.#literalCounts[endOfBlock] = 1
    const literals = huffmanCode(this.#literalCounts, 15)
    const distances = huffmanCode(this.#distanceCounts, 15)
    bits.add(isLast ? 1 : 0, 1)
    bits.add(2, 2)
    sendCodes(bits, literals, distances)
    for (let index = 0; index < this.#size; index += 1) {
      const value = this.#values[index] ?? 0
      const distance = this.#distances[index] ?? 0
      if (distance === 0) {
        bits.add(literals.codes[value] ?? 0, literals.lengths[value] ?? 0)
        continue
      }
      sendValue(bits, { code: literals, first: 257, table: lengthCode, value })
      sendValue(bits, { code: distances, first: 0, table: distanceCode, value: distance })
    }
    bits.add(literals.codes[endOfBlock] ?? 0, literals.lengths[endOfBlock] ?? 0)
    this.#size = 0
    this.#literalCounts.fill(0)
    this.#distanceCounts.fill(0)
  }
}

interface SentValue {
  readonly code: HuffmanCode
  readonly first: number
  readonly table: ValueCode
  readonly value: number
}

function sendValue(bits: BitWriter, { code, first, table, value }: SentValue): void {
  const symbol = table.symbols[value] ?? 0
  bits.add(code.codes[first + symbol] ?? 0, code.lengths[first + symbol] ?? 0)
  bits.add(value - (table.bases[symbol] ?? 0), table.extraBits[symbol] ?? 0)
}

/** The lengths of both codes, themselves in a code. Runs are not shortened: they would save some tens of bytes in 64 KiB. */
function sendCodes(bits: BitWriter, literals: HuffmanCode, distances: HuffmanCode): void {
  const lengths = [...literals.lengths, ...distances.lengths]
  const counts = new Uint32Array(19)
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1
  const code = huffmanCode(counts, 7)
  bits.add(literals.lengths.length - 257, 5)
  bits.add(distances.lengths.length - 1, 5)
  bits.add(lengthOrder.length - 4, 4)
  for (const length of lengthOrder) bits.add(code.lengths[length] ?? 0, 3)
  for (const length of lengths) bits.add(code.codes[length] ?? 0, code.lengths[length] ?? 0)
}

/** Bits, packed from the least significant one of each byte on. */
export class BitWriter {
  #bytes = new Uint8Array(2 * blockBytes)
  #size = 0
  #pending = 0
  #pendingBits = 0

  add(value: number, bits: number): void {
    this.#pending |= value << this.#pendingBits
    this.#pendingBits += bits
    while (this.#pendingBits >= 8) {
      this.#bytes[this.#size] = this.#pending & 0xff
      this.#size += 1
      this.#pending >>>= 8
      this.#pendingBits -= 8
    }
  }

  /** Fills the last byte with zeros. */
  flush(): void {
    if (this.#pendingBits > 0) this.add(0, 8 - this.#pendingBits)
  }

  /** The bytes that are complete; they are given once. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#size)
    this.#size = 0
    return taken
  }
}

interface ValueCodeShape {
  readonly codes: number
  /** The smallest value. */
  readonly first: number
  /** So many codes share a number of extra bits; twice as many have none. */
  readonly plain: number
}

/** @param end the largest value, and one */
function valueCode(end: number, { codes, first, plain }: ValueCodeShape): ValueCode {
  const symbols = new Uint16Array(end)
  const extraBits = new Uint8Array(codes)
  const bases = new Uint16Array(codes)
  let value = first
  for (let symbol = 0; symbol < codes; symbol += 1) {
    const extra = Math.max(0, Math.floor(symbol / plain) - 1)
    extraBits[symbol] = extra
    bases[symbol] = value
    symbols.fill(symbol, value, Math.min(end, value + 2 ** extra))
    value += 2 ** extra
  }
  return { symbols, extraBits, bases }
}

/** The longest match has a code to itself, without extra bits. */
function withLongest(code: ValueCode): ValueCode {
  const [last, longest] = [code.bases.length - 1, code.symbols.length - 1]
  code.symbols[longest] = last
  code.extraBits[last] = 0
  code.bases[last] = longest
  return code
}
