/**
 * Reed-Solomon over blocks: from n data blocks any number m of parity blocks, so that any m of the n + m may be lost.
 *
 * Parity block i is the sum over all data blocks j of `coefficient(i, j)` times block j. The coefficients are those of a
 * Cauchy matrix, of which every square part can be inverted, with each column divided by its first number: that keeps the
 * property and makes the first parity block plain XOR. A coefficient does not depend on n or m, so that parity can be added
 * to later.
 *
 * Source: J. Blömer et al., "An XOR-Based Erasure-Resilient Coding Scheme", ICSI TR-95-048, section 3 (Cauchy matrices).
 */
import { addProduct, inverse, multiply } from './galois-field.ts'

/** n + m may not be more. */
export const maxBlocks = 255

/**
 * @param parity index of the parity block, from 0
 * @param data index of the data block, from 0; the sum of both stays below `maxBlocks`
 */
export function coefficient(parity: number, data: number): number {
  // x runs down from 255 and y up from 0: they never meet, so x ^ y is never 0.
  return multiply(255 ^ data, inverse((255 - parity) ^ data))
}

/** Adds data block number `data` to each of the parity blocks in `sums`, which begin as zeros. */
export function addToParity(sums: ReadonlyMap<number, Uint32Array>, data: number, block: Uint32Array): void {
  for (const [parity, sum] of sums) addProduct(sum, block, coefficient(parity, data))
}

/** What was computed from the positions of a loss; it serves for every row of blocks with the same loss. */
export interface Rebuilding {
  /** Data blocks that are gone. */
  readonly lost: readonly number[]
  /** The parity blocks that replace them, as many. */
  readonly using: readonly number[]
  /** `factors[l][p]`: how much of parity block `using[p]` is in data block `lost[l]`. */
  readonly factors: readonly (readonly number[])[]
}

/**
 * How to get `lost` back with the first of the parity blocks in `available`; undefined where there are too few.
 */
export function planRebuilding(lost: readonly number[], available: readonly number[]): Rebuilding | undefined {
  if (available.length < lost.length) return undefined
  const using = available.slice(0, lost.length)
  const factors = inverseMatrix(using.map((parity) => lost.map((data) => coefficient(parity, data))))
  return { lost, using, factors }
}

/**
 * Writes the lost data blocks.
 *
 * @param sums for each parity block in use: the block itself plus what `addToParity` makes of the data blocks that are there
 * @param targets the blocks to write, in the order of `lost`
 */
export function rebuild(
  { using, factors }: Rebuilding,
  sums: ReadonlyMap<number, Uint32Array>,
  targets: readonly Uint32Array[],
): void {
  for (const [row, target] of targets.entries()) {
    target.fill(0)
    for (const [column, parity] of using.entries()) {
      const sum = sums.get(parity)
      if (sum) addProduct(target, sum, factors[row]?.[column] ?? 0)
    }
  }
}

/** Gauss and Jordan. No row is exchanged: every leading part of a Cauchy matrix can be inverted too, so no pivot is 0. */
function inverseMatrix(matrix: readonly (readonly number[])[]): number[][] {
  const rows = matrix.map((row, index) => [...row, ...matrix.map((_, column) => Number(column === index))])
  for (const [index, row] of rows.entries()) {
    const scale = inverse(row[index] ?? 0)
    for (const [column, value] of row.entries()) row[column] = multiply(value, scale)
    for (const other of rows) {
      const factor = other[index] ?? 0
      if (other === row || factor === 0) continue
      for (const [column, value] of row.entries()) other[column] = (other[column] ?? 0) ^ multiply(value, factor)
    }
  }
  return rows.map((row) => row.slice(matrix.length))
}
