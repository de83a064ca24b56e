import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsedJson } from './parsed-json.ts'

test('what is JSON is read from text and from bytes alike, and nothing of it is undefined', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      assert.deepEqual(parsedJson(text), JSON.parse(text))
      assert.deepEqual(parsedJson(Buffer.from(text)), JSON.parse(text))
      assert.notEqual(parsedJson(text), undefined)
    }),
  )
})

test('what is no JSON is an answer: nothing, a half, two, a mark of the byte order, bytes that are no text', () => {
  for (const text of ['', '{"a":', '{} {}', 'undefined', '\ufeff{}']) {
    assert.equal(parsedJson(text), undefined, text)
    assert.equal(parsedJson(Buffer.from(text)), undefined, text)
  }
  assert.equal(parsedJson(new Uint8Array([0x7b, 0xff, 0x7d])), undefined)
})
