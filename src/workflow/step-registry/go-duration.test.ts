import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { goDurationMs, goDurationNs, printedGoDuration } from './go-duration.ts'

test('a duration is read as Go reads it, and a bare number is nanoseconds', () => {
  const durations: readonly (readonly [string | number, number | undefined])[] = [
    ['1h30m', 5_400_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['2µs', 0.002],
    ['2μs', 0.002],
    ['+5m', 300_000],
    ['-5m', -300_000],
    ['0', 0],
    ['-0', 0],
    [600, 0.0006],
    ['600', undefined],
    ['', undefined],
    ['5 m', undefined],
    ['2562048h', undefined],
    ['m', undefined],
    ['1d', undefined],
    ['1m-5s', undefined],
  ]
  for (const [written, ms] of durations) assert.equal(goDurationMs(written), ms, String(written))
  assert.equal(goDurationMs(undefined), undefined)
})

test('what is printed is read as the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e15, max: 1e15 }), (ns) => {
      assert.ok(Math.abs((goDurationNs(printedGoDuration(ns)) ?? Number.NaN) - ns) < 1)
    }),
  )
})
