import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import { yamlDocuments } from './yaml-documents.ts'

const odd = fc.constantFrom(
  '\u007f',
  '\u0085',
  '\u009b',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\uffff',
  '\u001b[1m',
  '\t',
  '\n',
  '\r',
  ' ',
  'x',
  '"',
  '\\',
  '#',
  'yes',
)

test('every text comes back as it was, and no character stands there that go-yaml refuses or breaks a line at', () => {
  const text = fc.array(odd, { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b'), text), (object) => {
      const yaml = yamlDocuments([{ object, comment: 'one' }])
      assert.deepEqual(parseDocument(yaml, { version: '1.1' }).toJS() ?? {}, { ...object })
      assert.doesNotMatch(yaml, /[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/)
      assert.doesNotMatch(yaml, /: [|>][-+]?\n *\t/)
    }),
  )
})
