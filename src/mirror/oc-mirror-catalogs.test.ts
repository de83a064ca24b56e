import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperatorContent } from '../config/image-set-content.ts'
import { parseDigest } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { madeCatalogReference } from './made-catalog.ts'
import { storedCatalogs } from './oc-mirror-catalogs.ts'

type OperatorEntry = OperatorContent[number]

const digest = parseDigest('sha256:2b4a2de220d4dfec7e859399edc4fb847b5ecba5819e7896b4d7bb9b91a742bd')
const catalog = 'catalog.invalid/acme/own-index:v4.18'

/** What oc-mirror v2 called the catalogs that it filtered out of the one with this digest. */
const hashes: readonly (readonly [string, Omit<OperatorEntry, 'catalog'>])[] = [
  ['6d428c7390c2535184760311e0a354dc', { packages: [{ name: 'web' }, { name: 'db' }] }],
  ['9acc55207528eb3a4e8447ff98f14230', {}],
  ['84d0d83bfa55160885d298c63d03b742', { packages: [{ name: 'web', minVersion: '1.0.0', maxVersion: '1.2.0' }] }],
  [
    'a1e36a1a3fab5e2ca2ffeda79b9477ef',
    { packages: [{ name: 'web', defaultChannel: 'beta', channels: [{ name: 'beta' }] }] },
  ],
  [
    '8b24289ba84ed7e697e4063a20fa64b0',
    {
      packages: [
        {
          name: 'web',
          channels: [
            { name: 'stable', minVersion: '1.0.0', maxVersion: '1.1.1' },
            { name: 'beta', minVersion: '2.0.0' },
          ],
        },
      ],
    },
  ],
  ['4d8d7f0a7dfc4596acfcc976c6abe4b7', { full: true, packages: [{ name: 'web' }, { name: 'skipper' }] }],
]

function stored(entry: OperatorEntry, names: readonly string[]) {
  const images = names.map((name) => {
    const [repository = '', tag = ''] = name.split(':')
    return { repository, tag, digest, isCarried: true }
  })
  const found = storedCatalogs([entry], images)
  const named = (image: string) => found.get(image)?.map(({ repository, tag }) => `${repository}:${tag}`)
  return { made: named(formatReference(madeCatalogReference(entry))), source: (image: string) => named(image) }
}

for (const [hash, wish] of hashes) {
  test(`a catalog that oc-mirror filtered is found under ${hash}, among others of the same repository`, () => {
    const others = hashes.map(([other]) => `acme/own-index:${other}`)
    const { made, source } = stored({ catalog, ...wish }, ['acme/own-index:v4.18', ...others])
    assert.deepEqual(made, [`acme/own-index:${hash}`])
    assert.deepEqual(source(formatReference(parseReference(catalog))), ['acme/own-index:v4.18'])
  })
}

test('by digest, and with a name of its own at the target, a catalog has the same hash', () => {
  const [[hash, wish] = ['', {}]] = hashes
  const pinned = `catalog.invalid/acme/own-index@${digest}`
  const names = (repository: string) => hashes.map(([other]) => `${repository}:${other}`)
  assert.deepEqual(stored({ catalog: pinned, ...wish }, names('acme/own-index')).made, [`acme/own-index:${hash}`])
  const renamed = { catalog, targetCatalog: 'mine/cat', targetTag: 'v9', ...wish }
  assert.deepEqual(stored(renamed, ['mine/cat:v9', ...names('mine/cat')]).made, [`mine/cat:${hash}`])
})

test('a hash that is not known is taken where it is the only one, and no other tag ever is', () => {
  const entry = { catalog, packages: [{ name: 'other' }] }
  const [one, two] = [`acme/own-index:${'a'.repeat(32)}`, `acme/own-index:${'b'.repeat(32)}`]
  assert.deepEqual(stored(entry, ['acme/own-index:v4.18', one]).made, [one])
  assert.deepEqual(stored(entry, ['acme/own-index:v4.18', one, two]).made, [])
  assert.deepEqual(stored(entry, ['acme/own-index:v4.18']).made, [])
})

test('a catalog of a directory is kept under the name of the directory; a whole one as it was', () => {
  const filtered = `own-oci:${'c'.repeat(32)}`
  const names = ['own-oci:latest', filtered]
  assert.deepEqual(stored({ catalog: 'oci:///layouts/own-oci', packages: [{ name: 'web' }] }, names).made, [filtered])
  assert.deepEqual(stored({ catalog: 'oci:///layouts/own-oci', full: true }, names).made, ['own-oci:latest'])
})
