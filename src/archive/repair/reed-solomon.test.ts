import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addProduct, inverse, multiply } from './galois-field.ts'
import { addToParity, coefficient, maxBlocks, planRebuilding, rebuild } from './reed-solomon.ts'

const byte = fc.integer({ min: 0, max: 255 })

function zeros(words: number, indexes: readonly number[]): Map<number, Uint32Array> {
  return new Map(indexes.map((index) => [index, new Uint32Array(words)]))
}

function encode(data: readonly Uint32Array[], parity: number): Map<number, Uint32Array> {
  const words = data[0]?.length ?? 0
  const sums = zeros(words, [...Array(parity).keys()])
  for (const [index, block] of data.entries()) addToParity(sums, index, block)
  return sums
}

/** The data blocks `lost`, from the others and from `blocks`. */
function recover(
  data: readonly Uint32Array[],
  lost: readonly number[],
  blocks: ReadonlyMap<number, Uint32Array>,
): Uint32Array[] | undefined {
  const plan = planRebuilding(lost, [...blocks.keys()])
  if (!plan) return undefined
  const sums = new Map(plan.using.map((index) => [index, Uint32Array.from(blocks.get(index) ?? [])]))
  for (const [index, block] of data.entries()) if (!lost.includes(index)) addToParity(sums, index, block)
  const targets = lost.map(() => new Uint32Array(data[0]?.length ?? 0).fill(0xdeadbeef))
  rebuild(plan, sums, targets)
  return targets
}

test('the field is one: every number but 0 has an inverse, and multiplication distributes over XOR', () => {
  for (let value = 1; value < 256; value += 1) assert.equal(multiply(value, inverse(value)), 1)
  fc.assert(
    fc.property(byte, byte, byte, (a, b, c) => {
      assert.equal(multiply(a, b), multiply(b, a))
      assert.equal(multiply(a, multiply(b, c)), multiply(multiply(a, b), c))
      assert.equal(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c))
    }),
  )
  assert.equal(multiply(0x80, 2), 0x1d)
})

test('a block is multiplied byte by byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8, maxLength: 64 }), byte, (bytes, factor) => {
      const source = Uint8Array.from(bytes.subarray(0, bytes.length & ~3))
      const target = source.map((value) => value ^ 0x5a)
      addProduct(new Uint32Array(target.buffer), new Uint32Array(source.buffer), factor)
      assert.deepEqual(
        target,
        source.map((value) => value ^ 0x5a ^ multiply(factor, value)),
      )
    }),
  )
})

test('the first parity block is the XOR of the data', () => {
  for (let data = 0; data < maxBlocks - 1; data += 1) assert.equal(coefficient(0, data), 1)
})

test('whatever is lost, up to as many blocks as there are parity blocks, comes back', () => {
  const shape = fc.record({ data: fc.integer({ min: 1, max: 40 }), parity: fc.integer({ min: 1, max: 6 }) })
  const loss = shape.chain(({ data, parity }) =>
    fc.record({
      data: fc.array(fc.uint8Array({ minLength: 16, maxLength: 16 }), { minLength: data, maxLength: data }),
      parity: fc.constant(parity),
      lost: fc.subarray([...Array(data + parity).keys()], { minLength: 1, maxLength: Math.min(parity, data) }),
    }),
  )
  fc.assert(
    fc.property(loss, ({ data, parity, lost }) => {
      const blocks = data.map((bytes) => new Uint32Array(Uint8Array.from(bytes).buffer))
      const encoded = encode(blocks, parity)
      for (const index of lost) encoded.delete(index - blocks.length)
      const lostData = lost.filter((index) => index < blocks.length)
      assert.deepEqual(
        recover(blocks, lostData, encoded),
        lostData.map((index) => blocks[index]),
      )
    }),
  )
})

test('at the limit of 255 blocks any loss still comes back', () => {
  const parity = 8
  const data = Array.from({ length: maxBlocks - parity }, (_, index) => Uint32Array.of(index * 2654435761, index))
  const encoded = encode(data, parity)
  const first = [0, 1, 2, 3, 4, 5, 6, 7]
  const last = first.map((index) => maxBlocks - parity - 1 - index)
  for (const lost of [first, last, [0, 17, 99, 100, 101, 180, 200, 246]]) {
    assert.deepEqual(
      recover(data, lost, encoded),
      lost.map((index) => data[index]),
    )
  }
})

test('more than the parity blocks that are there cannot be had back', () => {
  assert.equal(planRebuilding([0, 1], [3]), undefined)
})
