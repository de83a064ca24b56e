import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { editDocument } from './fbc-write.ts'

const second = { entries: new Set([1]) }

test('an edited JSON document keeps fields that nobody knows, and numbers as they are spelled', () => {
  const text = `{"schema":"olm.channel","entries":[{"name":"a"},{"name":"b","x":1.10}],
    "properties":[{"value":12345678901234567890,"__proto__":{"y":1e2}}],"ü":null}`
  const edited = editDocument(text, 'json', second)
  assert.equal(
    edited.replaceAll(/\s+/g, ''),
    '{"schema":"olm.channel","entries":[{"name":"b","x":1.10}],' +
      '"properties":[{"value":12345678901234567890,"__proto__":{"y":1e2}}],"ü":null}',
  )
})

test('an edited YAML document keeps comments, spellings and the order of its fields', () => {
  const text = `schema: olm.channel # what it is
package: "foo"
name: 1.10
entries:
  - name: a
    skipRange: '>=1.0.0 <2.0.0'
  # the newest
  - name: b
    replaces: a
    x: 0x1f
    yes: on
properties: [{type: t, value: {big: 12345678901234567890}}]
`
  const edited = editDocument(text, 'yaml', second)
  assert.equal(
    edited,
    `schema: olm.channel # what it is
package: "foo"
name: 1.10
entries:
  # the newest
  - name: b
    replaces: a
    x: 0x1f
    yes: on
properties: [ { type: t, value: { big: 12345678901234567890 } } ]
`,
  )
})

test('an alias in YAML still says what it said when its anchor is gone', () => {
  const text =
    'schema: olm.channel\nentries:\n- &a {name: a, skips: &s [x]}\n- {<<: *a, name: b}\n- {name: c, skips: *s}\n'
  const edited = editDocument(text, 'yaml', { entries: new Set([1, 2]) })
  assert.deepEqual(parse(edited), {
    schema: 'olm.channel',
    entries: [
      { name: 'b', skips: ['x'] },
      { name: 'c', skips: ['x'] },
    ],
  })
})

test('another default channel stands where the first one stood, or at the end where there was none', () => {
  const edit = { defaultChannel: 'stable' }
  assert.equal(
    editDocument('schema: olm.package\ndefaultChannel: beta\nname: foo\n', 'yaml', edit),
    'schema: olm.package\ndefaultChannel: stable\nname: foo\n',
  )
  assert.deepEqual(JSON.parse(editDocument('{"schema":"olm.package","name":"foo"}', 'json', edit)), {
    schema: 'olm.package',
    name: 'foo',
    defaultChannel: 'stable',
  })
})
