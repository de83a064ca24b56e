import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contentEntries } from './rebuild-content.ts'

const place = { file: 'catalog.json', offset: 0, length: 0 }
const staged = { format: 'json', start: 0, length: 0, endsLine: true } as const

function pathsFor(names: readonly (string | undefined)[], directory = '/configs'): string[] {
  const documents = names.map((name) => ({ place, ...(name !== undefined && { package: name }) }))
  return contentEntries({ documents, staged: names.map(() => staged), file: -1, directory }).map(({ name }) => name)
}

test('whatever a package is called, its file is in a folder of its own below the catalog', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', '', '/', 'a/../..', '.wh.x', '\0', '\uD800'),
  )
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 5 }), (names) => {
      const paths = pathsFor(names).filter((path) => path.endsWith('.json'))
      assert.equal(paths.length, new Set(names.map((one) => one.toWellFormed())).size)
      for (const path of paths) assert.match(path, /^configs\/(?![.])[^/\0]+\/catalog\.json$/)
    }),
  )
})

test('names that packages have are names of folders, and folders stand before what is in them', () => {
  assert.deepEqual(pathsFor(['foo', undefined, '3scale-operator', 'foo'], '/opt/catalog/'), [
    'opt/',
    'opt/catalog/',
    'opt/catalog/3scale-operator/',
    'opt/catalog/3scale-operator/catalog.json',
    'opt/catalog/_/',
    'opt/catalog/_/catalog.json',
    'opt/catalog/foo/',
    'opt/catalog/foo/catalog.json',
  ])
})

test('a catalog of nothing is an empty folder', () => {
  assert.deepEqual(pathsFor([]), ['configs/'])
})
