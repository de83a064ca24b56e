import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { selectBundles } from './select-bundles.ts'

type Entries = Parameters<typeof madeCatalog>[0][string]['channels'][string]

function keptFrom(installed: string, entries: Entries): readonly string[] {
  const catalog = madeCatalog({ p: { defaultChannel: 'stable', channels: { stable: entries } } })
  const { kept } = selectBundles(catalog, { packages: [{ name: 'p', installed }] })
  return kept.get('p')?.channels[0]?.entries.map(({ name }) => name) ?? []
}

const chain = ['p.v1.3.0 > p.v1.2.0', 'p.v1.2.0 > p.v1.1.0', 'p.v1.1.0 > p.v1.0.0', 'p.v1.0.0']

test('along replaces every version between the installed one and the head is carried', () => {
  assert.deepEqual(keptFrom('1.1.0', chain), ['p.v1.3.0', 'p.v1.2.0'])
  assert.deepEqual(keptFrom('1.0', chain), ['p.v1.3.0', 'p.v1.2.0', 'p.v1.1.0'])
})

test('where the head is installed already, it alone is carried', () => {
  assert.deepEqual(keptFrom('1.3.0', chain), ['p.v1.3.0'])
})

test('a skipRange leads over what lies between, also from a version that the catalog no longer has', () => {
  const ranged = [{ name: 'p.v1.3.0', replaces: 'p.v1.2.0', skipRange: '>=0.5.0 <1.3.0' }, ...chain.slice(1)]
  assert.deepEqual(keptFrom('1.0.0', ranged), ['p.v1.3.0'])
  assert.deepEqual(keptFrom('0.7.3', ranged), ['p.v1.3.0'])
})

test('a version that only the edges still name is found by its name', () => {
  assert.deepEqual(keptFrom('1.1.0', chain.slice(0, 2)), ['p.v1.3.0', 'p.v1.2.0'])
})

test('what skips the installed version takes its place, and what is skipped is never stopped at', () => {
  const skipping = [
    { name: 'p.v1.3.0', replaces: 'p.v1.1.0', skips: ['p.v1.2.0'] },
    'p.v1.2.0 > p.v1.1.0',
    ...chain.slice(2),
  ]
  assert.deepEqual(keptFrom('1.2.0', skipping), ['p.v1.3.0'])
  assert.deepEqual(keptFrom('1.1.0', skipping), ['p.v1.3.0'])
  assert.deepEqual(keptFrom('1.0.0', skipping), ['p.v1.3.0', 'p.v1.1.0'])
})

test('a step over a gap brings what lies in the gap, or the channel would have two heads', () => {
  const gap = [
    { name: 'p.v1.3.0', replaces: 'p.v1.2.0', skipRange: '>=1.1.0 <1.3.0' },
    'p.v1.2.0 > p.v1.1.0',
    { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
    'p.v1.0.0',
  ]
  const catalog = madeCatalog({ p: { defaultChannel: 'stable', channels: { stable: gap } } })
  const { kept, why } = selectBundles(catalog, { packages: [{ name: 'p', installed: '1.0.0' }] })
  assert.deepEqual(kept.get('p')?.bundles, ['p.v1.1.0', 'p.v1.2.0', 'p.v1.3.0'])
  assert.deepEqual(
    ['p.v1.0.0', 'p.v1.1.0', 'p.v1.2.0', 'p.v1.3.0'].map((name) => why('p', name)?.because),
    ['older', 'path', 'link', 'path'],
  )
})

test('an installed version from which nothing leads to the head is told, with the versions there are', () => {
  assert.throws(() => keptFrom('0.9.0', chain), {
    code: 'CATALOG_SELECTION_INVALID',
    message:
      /no entry takes the place of version 0\.9\.0 on the way to p\.v1\.3\.0; there are 1\.0\.0, 1\.1\.0, 1\.2\.0, 1\.3\.0/,
  })
})

test('a channel that the installed version cannot enter is left out, and that is said', () => {
  const catalog = madeCatalog({
    p: {
      defaultChannel: 'new',
      channels: { old: ['p.v1.1.0 > p.v1.0.0', 'p.v1.0.0'], new: ['p.v3.0.0 > p.v2.0.0', 'p.v2.0.0'] },
    },
  })
  const { kept, findings } = selectBundles(catalog, { packages: [{ name: 'p', installed: '2.0.0' }] })
  assert.deepEqual(
    kept.get('p')?.channels.map(({ name }) => name),
    ['new'],
  )
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['catalog.channel-left-out'],
  )
})
