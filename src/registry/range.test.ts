import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseContentRange, requestedRange } from './range.ts'

test('a range is cut to the content, a suffix counts from its end, and nothing of it is unsatisfiable', () => {
  assert.deepEqual(requestedRange('bytes=0-9', 100), { start: 0, end: 10 })
  assert.deepEqual(requestedRange('bytes=90-1000', 100), { start: 90, end: 100 })
  assert.deepEqual(requestedRange('bytes=90-', 100), { start: 90, end: 100 })
  assert.deepEqual(requestedRange('bytes=-10', 100), { start: 90, end: 100 })
  assert.deepEqual(requestedRange('bytes=-1000', 100), { start: 0, end: 100 })
  assert.equal(requestedRange('bytes=100-', 100), 'unsatisfiable')
  assert.equal(requestedRange('bytes=-0', 100), 'unsatisfiable')
  assert.equal(requestedRange('bytes=0-', 0), 'unsatisfiable')
})

test('a header that cannot be followed is ignored, as RFC 9110 section 14.2 wants it', () => {
  for (const header of [undefined, '', 'lines=1-2', 'bytes=1-2,5-6', 'bytes=-', 'bytes=9-1', 'bytes=a-b'])
    assert.equal(requestedRange(header, 100), undefined, String(header))
})

test('whatever is asked for, the answer lies within the content', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1 }), (first, last, size) => {
      const range = requestedRange(`bytes=${first}-${last}`, size)
      if (range === undefined) return last < first
      if (range === 'unsatisfiable') return first >= size
      return range.start === first && range.start < range.end && range.end <= size && range.end <= last + 1
    }),
  )
})

test('a Content-Range is two inclusive numbers, with the unit and size that older clients add', () => {
  assert.deepEqual(parseContentRange('0-1023'), { start: 0, end: 1024 })
  assert.deepEqual(parseContentRange('bytes 5-5/100'), { start: 5, end: 6 })
  for (const header of ['5-4', '1-', '-1', 'a-b', '0-99999999999999999999'])
    assert.equal(parseContentRange(header), undefined)
})
