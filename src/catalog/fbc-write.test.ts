import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { editDocument, keptDocuments } from './fbc-write.ts'
import type { Catalog, MetaPlace } from './meta.ts'
import type { CatalogSelection } from './selection.ts'

/** Two packages, in maps that are filled in the order of the names, or against it. */
function catalogOf(isReversed: boolean): { catalog: Catalog; selection: CatalogSelection } {
  const inOrder = <Item>(...items: readonly Item[]) => (isReversed ? items.toReversed() : items)
  const at = (file: string): MetaPlace => ({ file, offset: 0, length: 1 })
  const packages = inOrder('bar', 'foo').map((name) => {
    const bundles = inOrder('a', 'b', 'c').map((bundle) => {
      const meta = { schema: 'olm.bundle', package: name, name: bundle, image: '', relatedImages: [] } as const
      return [bundle, { ...meta, requires: [], provides: [], place: at(`${name} bundle ${bundle}`) }] as const
    })
    const channels = inOrder('x', 'y').map((channel) => {
      const entries = ['a', 'b'].map((entry) => ({ name: entry, skips: [] }))
      const place = at(`${name} channel ${channel}`)
      return [channel, { schema: 'olm.channel', package: name, name: channel, entries, place }] as const
    })
    const others = inOrder('m', 'n').map((schema) => ({ schema, package: name, place: at(`${name} ${schema}`) }))
    const meta = { schema: 'olm.package', name, defaultChannel: 'x', place: at(name) } as const
    return [name, { meta, channels: new Map(channels), bundles: new Map(bundles), others }] as const
  })
  const kept = packages.map(([name]) => {
    const entries = [{ name: 'b', skips: [] }]
    const channels = inOrder('x', 'y').map((channel) => ({ name: channel, entries }))
    return [name, { name, defaultChannel: 'y', channels, bundles: inOrder('b', 'c'), deprecations: [] }] as const
  })
  return {
    catalog: {
      packages: new Map(packages),
      others: inOrder('o', 'p').map((schema) => ({ schema, place: at(schema) })),
    },
    selection: { kept: new Map(kept), isWhole: false, findings: [], why: () => undefined },
  }
}

test('documents are written in one order, whatever the order in which they were found', () => {
  const [one, other] = [catalogOf(false), catalogOf(true)]
  const documents = keptDocuments(one.catalog, one.selection)
  assert.deepEqual(keptDocuments(other.catalog, other.selection), documents)
  const ofPackage = (name: string) =>
    ['', ' channel x', ' channel y', ' bundle b', ' bundle c', ' m', ' n'].map((rest) => `${name}${rest}`)
  const places = documents.map(({ place }) => place.file)
  assert.deepEqual(places, ['o', 'p', ...ofPackage('bar'), ...ofPackage('foo')])
})

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
