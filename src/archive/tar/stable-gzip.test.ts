import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { digestOf } from '../../oci/digest.ts'
import { sampleBytes } from '../../quickstart/sample-bytes.ts'
import { stableGzip } from './stable-gzip.ts'

function packed(...chunks: readonly Uint8Array[]): Buffer {
  return Buffer.concat([...stableGzip(chunks)])
}

function lines(count: number): Buffer {
  const list = Array.from({ length: count }, (_, index) => `{"schema": "olm.bundle", "name": "sample.v1.${index}.0"}\n`)
  return Buffer.from(list.join(''))
}

/** Weights that grow like Fibonacci numbers, for which a plain Huffman tree is deeper than deflate allows. */
function skewed(): Buffer {
  let [before, weight] = [1, 1]
  const parts: Buffer[] = []
  for (let byte = 0; byte < 22; byte += 1) {
    parts.push(Buffer.alloc(weight, byte))
    ;[before, weight] = [weight, before + weight]
  }
  const bytes = Buffer.concat(parts)
  // Spread, so that the runs are not matches.
  const step = 7919
  return Buffer.from(bytes.map((_, index) => bytes[(index * step) % bytes.byteLength] ?? 0))
}

test('whatever is packed comes out again', () => {
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.record({ byte: fc.nat(255), length: fc.nat(1000) }).map(({ byte, length }) => new Uint8Array(length).fill(byte)),
    fc.constant(lines(20)),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (chunks) => {
      assert.deepEqual(gunzipSync(packed(...chunks)), Buffer.concat(chunks))
    }),
    { numRuns: 200 },
  )
})

test('also where blocks, the window and codes are filled to their limits', () => {
  const random = Buffer.concat([...sampleBytes('random', 200_000)])
  const cases = [
    Buffer.alloc(0),
    Buffer.alloc(1_000_000),
    random,
    skewed(),
    Buffer.concat([random.subarray(0, 32_768), random.subarray(0, 32_768)]),
    Buffer.concat([random.subarray(0, 32_767), random.subarray(0, 65_536)]),
    lines(10_000),
    lines(10_000).subarray(0, 65_536),
    lines(10_000).subarray(0, 65_537),
  ]
  for (const bytes of cases) assert.ok(gunzipSync(packed(bytes)).equals(bytes), `${bytes.byteLength} bytes`)
})

test('other programs unpack it', () => {
  const bytes = Buffer.concat([lines(5000), skewed(), ...sampleBytes('random', 70_000)])
  assert.ok(execFileSync('gzip', ['-dc'], { input: packed(bytes), maxBuffer: 2 ** 26 }).equals(bytes))
})

test('the same bytes are packed the same, however they are cut and on every machine', () => {
  const bytes = lines(6000)
  const whole = packed(bytes)
  const cut = Array.from({ length: Math.ceil(bytes.byteLength / 997) }, (_, index) =>
    bytes.subarray(index * 997, (index + 1) * 997),
  )
  assert.ok(packed(...cut).equals(whole))
  // A change here changes the digest of every catalog that is rebuilt: it needs another format version there.
  assert.equal(digestOf(whole), 'sha256:c5726299bfd6f7cffa3c659862ab699c50199349a966f97d76d8de4440bc442a')
})

test('text that repeats itself becomes small, and random bytes hardly larger', () => {
  const text = lines(10_000)
  assert.ok(packed(text).byteLength < text.byteLength / 8)
  const random = Buffer.concat([...sampleBytes('random', 500_000)])
  assert.ok(packed(random).byteLength < random.byteLength * 1.003)
})
