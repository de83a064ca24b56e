import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseByteSize } from './byte-size.ts'

test('sizes are read with binary and decimal units, and anything else is refused', () => {
  const sizes = { '10MiB': 10_485_760, '4.7GB': 4_700_000_000, '4 gib': 4 * 2 ** 30, '12345': 12_345, '1.5KiB': 1536 }
  for (const [text, bytes] of Object.entries(sizes)) assert.equal(parseByteSize(text), bytes, text)
  for (const text of ['', '4Gb it', '-1', 'GiB', '4 G', '0x10', '1e9'])
    assert.throws(() => parseByteSize(text), { code: 'USAGE' }, text)
})
