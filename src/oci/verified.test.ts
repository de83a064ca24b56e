import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { digestOf } from './digest.ts'
import { verified } from './verified.ts'

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const cut of [...cuts.map((each) => each % (bytes.byteLength + 1)).sort((a, b) => a - b), bytes.byteLength]) {
    yield bytes.subarray(from, cut)
    from = cut
  }
}

function pass(
  bytes: Uint8Array,
  of: Uint8Array,
  { cuts = [], algorithm = 'sha256' }: { cuts?: number[]; algorithm?: 'sha256' | 'sha512' } = {},
) {
  const descriptor = { mediaType: 'x', digest: digestOf(of, algorithm), size: of.byteLength }
  return Array.fromAsync(verified(chunksOf(bytes, cuts), descriptor, 'quay.io/a/b'))
}

test('however the right bytes are cut, they pass unchanged', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ maxLength: 500 }),
    fc.array(fc.nat(500), { maxLength: 6 }),
    fc.constantFrom('sha256' as const, 'sha512' as const),
    async (bytes, cuts, algorithm) => {
      assert.deepEqual(Buffer.concat(await pass(bytes, bytes, { cuts, algorithm })), Buffer.from(bytes))
    },
  )
  await fc.assert(property)
})

test('one wrong bit anywhere is found', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ minLength: 1, maxLength: 200 }),
    fc.nat(),
    fc.nat(7),
    async (bytes, at, bit) => {
      const wrong = Uint8Array.from(bytes)
      wrong[at % bytes.length] = (wrong[at % bytes.length] ?? 0) ^ (1 << bit)
      await assert.rejects(pass(wrong, bytes), {
        code: 'BLOB_DIGEST_MISMATCH',
        message: /^quay\.io\/a\/b: expected sha256:/,
      })
    },
  )
  await fc.assert(property)
})

test('too few bytes fail at the end, too many at once', async () => {
  const bytes = Buffer.from('0123456789')
  await assert.rejects(pass(bytes.subarray(1), bytes), {
    code: 'BLOB_SIZE_MISMATCH',
    message: /received 9 of 10 bytes/,
  })
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield bytes
  }
  const descriptor = { mediaType: 'x', digest: digestOf(bytes), size: 25 }
  await assert.rejects(Array.fromAsync(verified(endless(), descriptor, 'quay.io/a/b')), {
    code: 'BLOB_SIZE_MISMATCH',
    message: /more than 25 bytes/,
  })
})
