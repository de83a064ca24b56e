import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type JsonNode, readJson } from './json-tree.ts'

function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]))
    case 'array':
      return node.items.map(plainValue)
    case 'string':
      return node.text
    case 'number':
      return Number(node.text)
    case 'bool':
      return node.isTrue
    case 'null':
      return null
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
  } catch {
    return undefined
  }
}

const pieces = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"é\\n"',
    '"',
    '\\',
    '1',
    '-',
    '0',
    '.5',
    'e',
    '+',
    'true',
    'nul',
    ' ',
    '\n',
  ],
  ...['\\u00', 'null', '\u0001', '"\\ud83d\\ude00"', '"\\ud83d"'],
)
const texts = fc.oneof(
  fc.json(),
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.tuple(fc.json(), fc.nat(), pieces).map(([json, at, piece]) => {
    const place = at % (json.length + 1)
    return json.slice(0, place) + piece + json.slice(place)
  }),
)

test('what JSON.parse takes is taken with the same value, and nothing else', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const document = readJson(Buffer.from(text))
      const expected = parsed(text)
      if ('fault' in document) assert.equal(expected, undefined, document.fault.message)
      else assert.deepEqual(plainValue(document.root), expected)
    }),
    { numRuns: 2000 },
  )
})

test('every value knows where it begins and ends', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (json, isSpaced) => {
      const text = isSpaced ? JSON.stringify(JSON.parse(json), undefined, '\t') : json
      const bytes = Buffer.from(text)
      const check = (node: JsonNode): void => {
        assert.deepEqual(parsed(bytes.toString('utf8', node.start, node.end)), plainValue(node))
        if (node.kind === 'array') node.items.forEach(check)
        if (node.kind !== 'object') return
        for (const { key, keyStart, value } of node.members) {
          assert.ok(bytes.toString('utf8', keyStart).startsWith(JSON.stringify(key).slice(0, 1)))
          check(value)
        }
      }
      const document = readJson(bytes)
      assert.ok('root' in document)
      check(document.root)
    }),
  )
})

function faultOf(text: string): string {
  const document = readJson(Buffer.from(text))
  return 'fault' in document ? `${document.fault.offset}: ${document.fault.message}` : 'none'
}

test('faults are told in the words of Go, at its places', () => {
  const faults: Readonly<Record<string, string>> = {
    '': '0: unexpected end of JSON input',
    '{"a"': '4: unexpected end of JSON input',
    '{"a" 1}': "6: invalid character '1' after object key",
    '{"a":1 2}': "8: invalid character '2' after object key:value pair",
    '{a}': "2: invalid character 'a' looking for beginning of object key string",
    '[1 2]': "4: invalid character '2' after array element",
    '[1,]': "4: invalid character ']' looking for beginning of value",
    '1 x': "3: invalid character 'x' after top-level value",
    '"\n"': "2: invalid character '\\n' in string literal",
    '"\\x"': "3: invalid character 'x' in string escape code",
    '"\\u12"': "6: invalid character '\"' in \\u hexadecimal character escape",
    '"\\': "2: invalid character ' ' in string escape code",
    '-x': "2: invalid character 'x' in numeric literal",
    '1.': "2: invalid character ' ' after decimal point in numeric literal",
    '1e+': "3: invalid character ' ' in exponent of numeric literal",
    trap: "3: invalid character 'a' in literal true (expecting 'u')",
    "'": "1: invalid character '\\'' looking for beginning of value",
    '\uFEFF{}': "1: invalid character 'ï' looking for beginning of value",
  }
  for (const [text, expected] of Object.entries(faults)) assert.equal(faultOf(text), expected, text)
})

test('ten thousand levels are read, and no more', () => {
  assert.equal(faultOf('['.repeat(10_000) + ']'.repeat(10_000)), 'none')
  assert.equal(faultOf('['.repeat(10_001)), "10001: invalid character '[' exceeded max depth")
})
