import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { selectBundles } from './select-bundles.ts'

test('heads counts along the line of updates, and never past its end', () => {
  const catalog = madeCatalog({
    p: {
      defaultChannel: 'c',
      channels: {
        c: [
          { name: 'p.v3.0.0', replaces: 'p.v2.0.0', skips: ['p.v2.5.0'] },
          'p.v2.5.0',
          'p.v2.0.0 > p.v1.0.0',
          'p.v1.0.0',
        ],
        short: ['p.v1.0.0'],
      },
    },
  })
  const kept = (heads: number) =>
    selectBundles(catalog, { packages: [{ name: 'p', heads }] })
      .kept.get('p')
      ?.channels.map(({ entries }) => entries.map(({ name }) => name))
  assert.deepEqual(kept(0), [['p.v3.0.0'], ['p.v1.0.0']])
  assert.deepEqual(kept(1), [['p.v3.0.0', 'p.v2.0.0'], ['p.v1.0.0']])
  assert.deepEqual(kept(9), [['p.v3.0.0', 'p.v2.0.0', 'p.v1.0.0'], ['p.v1.0.0']])
})

test('what is said for a channel comes before what is said for its package', () => {
  const catalog = madeCatalog({
    p: {
      defaultChannel: 'a',
      channels: { a: ['p.v2.0.0 > p.v1.0.0', 'p.v1.0.0'], b: ['p.v2.0.0 > p.v1.0.0', 'p.v1.0.0'] },
    },
  })
  const request = { packages: [{ name: 'p', heads: 1, channels: [{ name: 'a', installed: '1.0.0' }, { name: 'b' }] }] }
  const kept = selectBundles(catalog, request).kept.get('p')
  assert.deepEqual(
    kept?.channels.map(({ entries }) => entries.length),
    [1, 2],
  )
})

test('minBundle of v1alpha2 stands for the version of that bundle', () => {
  const catalog = madeCatalog({
    p: {
      defaultChannel: 'c',
      channels: { c: ['three > two', 'two > one', 'one'] },
      bundles: { one: '1.0.0', two: '2.0.0', three: {} },
    },
  })
  const keep = (minBundle: string) =>
    selectBundles(catalog, { packages: [{ name: 'p', minBundle }] }).kept.get('p')?.bundles
  assert.deepEqual(keep('one'), ['one', 'two'])
  assert.throws(() => keep('four'), { code: 'CATALOG_SELECTION_INVALID', message: /has no bundle "four"/ })
  assert.throws(() => keep('three'), { message: /"three" of package "p" is named as minBundle and has no version/ })
})

test('bundles stand alone: beside channels, a range or full they would say two things', () => {
  const catalog = madeCatalog({ p: { defaultChannel: 'c', channels: { c: ['p.v1.0.0'] } } })
  const bundles = [{ name: 'p.v1.0.0' }]
  for (const request of [
    { packages: [{ name: 'p', bundles, minVersion: '1.0.0' }] },
    { packages: [{ name: 'p', bundles, channels: [{ name: 'c' }] }] },
    { packages: [{ name: 'p', bundles }], full: true },
  ])
    assert.throws(() => selectBundles(catalog, request), {
      code: 'CATALOG_SELECTION_INVALID',
      message: /keep one of them/,
    })
})
