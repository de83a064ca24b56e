import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { withoutValue, withValue } from './json-edit.ts'
import { minified, parseJsonText, plainValue, printJson, printNode } from './json-text.ts'

/** A document with white space of any kind anywhere that JSON allows it. */
const anyText = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.array(fc.stringMatching(/^[ \n\t\r]{0,3}$/), { minLength: 1, maxLength: 9 }))
  .map(([json, spaces]) => {
    let at = 0
    const space = () => spaces[at++ % spaces.length] ?? ''
    const parts = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs) ?? []
    return `${space()}${parts.map((part) => `${part}${space()}`).join('')}`
  })

test('a document is printed as it was written, whatever its white space', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const document = parseJsonText(text, 'any.json')
      assert.equal(printJson(document), text)
      assert.deepEqual(plainValue(document.root), JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('a document without white space says the same', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const small = printNode(minified(parseJsonText(text, 'any.json').root))
      assert.deepEqual(JSON.parse(small), JSON.parse(text))
      assert.ok(small.length <= text.length)
    }),
  )
})

test('what is added to a list or an object that is not empty, and taken out again, leaves no trace', () => {
  const value = fc.record({ list: fc.array(fc.jsonValue(), { minLength: 1 }), other: fc.jsonValue() })
  const layout = fc.constantFrom(undefined, 1, 2, '\t')
  fc.assert(
    fc.property(value, layout, fc.jsonValue(), (plain, indent, added) => {
      const text = JSON.stringify(plain, null, indent)
      const document = parseJsonText(text, 'any.json')
      for (const path of [['new'], ['list', { by: 'name', is: 'new' }]]) {
        const item = path.length === 1 ? added : { name: 'new', added }
        const changed = withValue(document, path, { plain: item })
        assert.equal(printJson(withoutValue(changed, path)), text)
        assert.equal(JSON.stringify(JSON.parse(printJson(changed)), null, indent), printJson(changed))
      }
    }),
  )
})

test('new values are laid out as their neighbours', () => {
  const add = (text: string) =>
    printJson(
      withValue(parseJsonText(text, 'a.json'), ['a', 'list', { by: 'path', is: '/y' }], {
        plain: { path: '/y', n: [1] },
      }),
    )
  assert.equal(add('{"a":{"list":[{"path":"/x"}]}}'), '{"a":{"list":[{"path":"/x"},{"path":"/y","n":[1]}]}}')
  assert.equal(
    add('{"a": {"list": [{"path": "/x"}]}, "b": 1}'),
    '{"a": {"list": [{"path": "/x"}, {"path": "/y", "n": [1]}]}, "b": 1}',
  )
  assert.equal(
    add('{\r\n\t"a" : {\r\n\t}\r\n}'),
    '{\r\n\t"a" : {\r\n\t\t"list" : [\r\n\t\t\t{\r\n\t\t\t\t"path" : "/y",\r\n\t\t\t\t"n" : [\r\n\t\t\t\t\t1\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}',
  )
})

test('of a key that stands twice the last one counts, as for JSON.parse, and an escaped key is found', () => {
  const text = '{"a":1,"a":2,"\\u0062":3}'
  const changed = withValue(parseJsonText(text, 'a.json'), ['a'], { plain: 5 })
  assert.equal(printJson(withValue(changed, ['b'], { plain: 6 })), '{"a":1,"a":5,"\\u0062":6}')
})

test('what is not JSON is refused with the name of the file', () => {
  assert.throws(() => parseJsonText('{"a":', 'a.ign'), { code: 'IGNITION_INVALID', message: /^a\.ign: not JSON: / })
})
