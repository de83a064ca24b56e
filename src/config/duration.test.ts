import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration } from './duration.ts'

test('a duration has a unit for each of its numbers, largest first', () => {
  assert.equal(parseDuration('90s'), 90_000)
  assert.equal(parseDuration('1h30m'), 5_400_000)
  assert.equal(parseDuration('2h1m1s'), 7_261_000)
  for (const text of ['', '90', '0s', '1.5h', '30m1h', '5 m', '-1s', '10ms', '1d']) {
    assert.equal(parseDuration(text), undefined, text)
  }
})
