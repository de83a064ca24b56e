/** Huffman codes as deflate wants them (RFC 1951, 3.2.2 "Use of Huffman coding in the 'deflate' format"). */

export interface HuffmanCode {
  /** Of each symbol, in bits; 0 for a symbol that does not occur. */
  readonly lengths: Uint8Array
  /** Of each symbol, its bits already reversed: deflate sends codes from their most significant bit. */
  readonly codes: Uint16Array
}

/** A code for symbols that occur so often, none longer than `maxBits`. */
export function huffmanCode(counts: Uint32Array, maxBits: number): HuffmanCode {
  const weights = Uint32Array.from(counts)
  // A tree for smaller differences between the weights is flatter. At worst all weights become 1, and the tree balanced.
  for (;;) {
    const lengths = treeDepths(weights)
    if (lengths.every((length) => length <= maxBits)) return { lengths, codes: canonicalCodes(lengths, maxBits) }
    for (const [symbol, weight] of weights.entries()) if (weight > 0) weights[symbol] = (weight >>> 1) | 1
  }
}

/** How deep each symbol hangs in the Huffman tree; with a single symbol one bit, because a code needs one. */
function treeDepths(weights: Uint32Array): Uint8Array {
  const depths = new Uint8Array(weights.length)
  const symbols = [...weights.keys()].filter((symbol) => at(weights, symbol) > 0)
  const [only] = symbols
  if (symbols.length === 1 && only !== undefined) depths[only] = 1
  if (symbols.length < 2) return depths
  symbols.sort((a, b) => at(weights, a) - at(weights, b) || a - b)
  const count = symbols.length
  const sums = new Float64Array(2 * count - 1)
  const parents = new Uint32Array(2 * count - 1)
  for (const [index, symbol] of symbols.entries()) sums[index] = at(weights, symbol)
  let leaf = 0
  let inner = count
  for (let next = count; next < sums.length; next += 1) {
    const lightest = () => (inner >= next || (leaf < count && at(sums, leaf) <= at(sums, inner)) ? leaf++ : inner++)
    for (const child of [lightest(), lightest()]) {
      sums[next] = at(sums, next) + at(sums, child)
      parents[child] = next
    }
  }
  const levels = new Uint8Array(sums.length)
  for (let node = sums.length - 2; node >= 0; node -= 1) levels[node] = at(levels, at(parents, node)) + 1
  for (const [index, symbol] of symbols.entries()) depths[symbol] = at(levels, index)
  return depths
}

function canonicalCodes(lengths: Uint8Array, maxBits: number): Uint16Array {
  const counts = new Uint16Array(maxBits + 2)
  for (const length of lengths) if (length > 0) counts[length] = at(counts, length) + 1
  const next = new Uint16Array(maxBits + 2)
  for (let bits = 1; bits <= maxBits; bits += 1) next[bits + 1] = (at(next, bits) + at(counts, bits)) << 1
  return Uint16Array.from(lengths, (length) => {
    if (length === 0) return 0
    const code = at(next, length)
    next[length] = code + 1
    return reversed(code, length)
  })
}

function reversed(code: number, length: number): number {
  let result = 0
  for (let bit = 0; bit < length; bit += 1) result |= ((code >>> bit) & 1) << (length - 1 - bit)
  return result
}

function at(numbers: Uint8Array | Uint16Array | Uint32Array | Float64Array, index: number): number {
  return numbers[index] ?? 0
}
