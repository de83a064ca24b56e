import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { algorithmOf, digestOf, hexOf, isDigest, parseDigest } from './digest.ts'

test('the digest of nothing is the one that everybody knows', () => {
  assert.equal(digestOf(''), 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  const long = digestOf('abc', 'sha512')
  assert.equal(long, `sha512:${createHash('sha512').update('abc').digest('hex')}`)
  assert.deepEqual([algorithmOf(long), hexOf(long).length], ['sha512', 128])
})

test('what is no sha256 or sha512 in lower-case hex is refused by its text', () => {
  const hex = 'a'.repeat(64)
  const wrong = [
    '',
    hex,
    `sha256:${hex}0`,
    `sha256:${hex.slice(1)}`,
    `sha256:${hex.toUpperCase()}`,
    `sha512:${hex}`,
    `md5:${hex}`,
    `sha256:${hex}\n`,
    `sha256:../${hex.slice(3)}`,
  ]
  for (const text of wrong) {
    assert.equal(isDigest(text), false, text)
    assert.throws(() => parseDigest(text), { code: 'DIGEST_INVALID', message: `"${text}" is not a digest` })
  }
  assert.equal(parseDigest(`sha256:${hex}`), `sha256:${hex}`)
})
