/**
 * The case list that the catalog filter of oc-mirror v2 publishes (sherine-k/catalog-filter
 * `pkg/filter/mirror-config/v1alpha1/mirror-filter_test.go`), with its own expectations.
 *
 * Its catalogs are those of 3scale-operator (real channels, from the shared data), jaeger-product (written out here) and
 * devworkspace-operator, of which only the number of bundles and the head are known: its chain is made up.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog, noCatalogs, realCatalogs, threescaleChannels } from '../../testkit/catalogs.ts'
import type { Catalog } from './meta.ts'
import { type SelectionRequest, selectBundles } from './select-bundles.ts'

const jaegerEntries = [
  { name: 'jaeger-operator.v1.30.2', skipRange: '>=1.13.0 <1.30.2' },
  { name: 'jaeger-operator.v1.34.1-5', replaces: 'jaeger-operator.v1.30.2', skipRange: '>=1.13.0 <1.34.1-5' },
  { name: 'jaeger-operator.v1.42.0-5', skipRange: '>=1.13.0 <1.42.0-5' },
  {
    name: 'jaeger-operator.v1.42.0-5-0.1687199951.p',
    replaces: 'jaeger-operator.v1.34.1-5',
    skips: ['jaeger-operator.v1.42.0-5'],
    skipRange: '>=1.13.0 <1.42.0-5',
  },
  {
    name: 'jaeger-operator.v1.47.1-5',
    replaces: 'jaeger-operator.v1.42.0-5-0.1687199951.p',
    skipRange: '>=1.13.0 <1.47.1-5',
  },
  { name: 'jaeger-operator.v1.51.0-1', replaces: 'jaeger-operator.v1.47.1-5', skipRange: '>=1.13.0 <1.51.0-1' },
]

function threePackages(): Catalog {
  const threescale = threescaleChannels()
  const names = Object.values(threescale).flatMap((entries) => entries.map(({ name }) => name))
  // Rebuilds are published as `v0.8.0-0.1634606167.p` with the version 0.8.0+0.1634606167.p.
  const versions = names.map((name) => [name, name.replace(/^.*\.v/, '').replace(/-(0\.\d+\.p)$/, '+$1')])
  const devworkspace = Array.from({ length: 15 }, (_, index) => `devworkspace-operator.v0.${index + 1}.0`)
  const devworkspaceHead = 'devworkspace-operator.v0.19.1-0.1682321189.p'
  return madeCatalog({
    '3scale-operator': {
      defaultChannel: 'threescale-mas',
      channels: threescale,
      bundles: Object.fromEntries(versions),
    },
    'devworkspace-operator': {
      defaultChannel: 'fast',
      channels: {
        fast: [...devworkspace, devworkspaceHead].map((name, index, all) =>
          index === 0 ? name : `${name} > ${all[index - 1]}`,
        ),
      },
    },
    'jaeger-product': { defaultChannel: 'stable', channels: { stable: jaegerEntries } },
  })
}

interface Case {
  readonly title: string
  readonly request: SelectionRequest
  readonly packages?: number
  readonly channels?: number
  readonly bundles?: number
  /** At least these. */
  readonly names?: readonly string[]
}

const threescaleHeads = [
  '3scale-operator.v0.8.4-0.1655690146.p',
  '3scale-operator.v0.9.1-0.1664967752.p',
  '3scale-operator.v0.11.0-mas',
]
const jaegerHead = 'jaeger-operator.v1.51.0-1'

const published: readonly Case[] = [
  {
    title: 'empty config: all packages with all channels and their heads',
    request: {},
    packages: 3,
    bundles: 5,
    names: [...threescaleHeads, jaegerHead, 'devworkspace-operator.v0.19.1-0.1682321189.p'],
  },
  { title: 'empty config and full: the catalog as it is', request: { full: true }, channels: 5, bundles: 38 },
  {
    title: 'one package: all its channels with their heads',
    request: { packages: [{ name: '3scale-operator' }] },
    packages: 1,
    bundles: 3,
    names: threescaleHeads,
  },
  {
    title: 'one package with a range: of every channel what lies in it',
    request: { packages: [{ name: '3scale-operator', minVersion: '0.10.0-mas' }] },
    packages: 1,
    bundles: 2,
    names: ['3scale-operator.v0.10.0-mas', '3scale-operator.v0.11.0-mas'],
  },
  {
    title: 'one channel without range: its head',
    request: { packages: [{ name: 'jaeger-product', channels: [{ name: 'stable' }] }] },
    packages: 1,
    bundles: 1,
    names: [jaegerHead],
  },
  {
    title: 'one package, full: all channels, all bundles',
    request: { full: true, packages: [{ name: '3scale-operator' }] },
    packages: 1,
    channels: 3,
    bundles: 16,
  },
  {
    title: 'one channel, full, and it becomes the default: all its entries',
    request: {
      full: true,
      packages: [
        { name: '3scale-operator', defaultChannel: 'threescale-2.11', channels: [{ name: 'threescale-2.11' }] },
      ],
    },
    packages: 1,
    channels: 1,
    bundles: 11,
  },
  {
    title: 'one channel, and it becomes the default: its head',
    request: {
      packages: [
        { name: '3scale-operator', defaultChannel: 'threescale-2.12', channels: [{ name: 'threescale-2.12' }] },
      ],
    },
    packages: 1,
    channels: 1,
    bundles: 1,
    names: ['3scale-operator.v0.9.1-0.1664967752.p'],
  },
  {
    title: 'two packages: all their channels with their heads',
    request: { packages: [{ name: 'jaeger-product' }, { name: '3scale-operator' }] },
    packages: 2,
    channels: 4,
    bundles: 4,
    names: [jaegerHead, ...threescaleHeads],
  },
  {
    title: 'one channel from minVersion on: up to its head',
    request: { packages: [{ name: 'jaeger-product', channels: [{ name: 'stable', minVersion: '1.47.1-5' }] }] },
    packages: 1,
    bundles: 2,
    names: [jaegerHead, 'jaeger-operator.v1.47.1-5'],
  },
  {
    title: 'two channels, one of them up to maxVersion',
    request: {
      packages: [
        {
          name: '3scale-operator',
          channels: [{ name: 'threescale-mas' }, { name: 'threescale-2.12', maxVersion: '0.8.0+0.1634606167.p' }],
        },
      ],
    },
    packages: 1,
    channels: 2,
    bundles: 3,
    names: ['3scale-operator.v0.8.0-0.1634606167.p', '3scale-operator.v0.8.0', '3scale-operator.v0.11.0-mas'],
  },
  {
    title: 'one channel from minVersion to maxVersion, with what its entries skip in the range',
    request: {
      packages: [
        {
          name: 'jaeger-product',
          channels: [{ name: 'stable', minVersion: '1.34.1-5', maxVersion: '1.42.0-5' }],
        },
      ],
    },
    packages: 1,
    channels: 1,
    bundles: 3,
    names: ['jaeger-operator.v1.34.1-5', 'jaeger-operator.v1.42.0-5', 'jaeger-operator.v1.42.0-5-0.1687199951.p'],
  },
]

test('what the published cases keep is kept, and nothing more', { skip: noCatalogs }, async (t) => {
  const catalog = threePackages()
  for (const { title, request, ...expected } of published) {
    await t.test(title, () => {
      const { kept } = selectBundles(catalog, request)
      const packages = [...kept.values()]
      const names = packages.flatMap(({ bundles }) => bundles)
      assert.equal(packages.length, expected.packages ?? packages.length)
      const channels = packages.flatMap((one) => one.channels)
      assert.equal(channels.length, expected.channels ?? channels.length)
      assert.equal(names.length, expected.bundles)
      for (const name of expected.names ?? []) assert.ok(names.includes(name), `${name} of ${names.join(', ')}`)
    })
  }
})

test('a named bundle is kept in every channel that has it, where the default channel does', {
  skip: noCatalogs,
}, () => {
  const request = (defaultChannel?: string) => ({
    packages: [
      {
        name: '3scale-operator',
        bundles: [{ name: '3scale-operator.v0.9.1-0.1664967752.p' }],
        ...(defaultChannel !== undefined && { defaultChannel }),
      },
    ],
  })
  const one = selectBundles(threePackages(), request()).kept.get('3scale-operator')
  assert.deepEqual(
    one?.channels.map(({ name, entries }) => [name, entries.length]),
    [
      ['threescale-2.12', 1],
      ['threescale-mas', 1],
    ],
  )
  assert.deepEqual(one?.bundles, ['3scale-operator.v0.9.1-0.1664967752.p'])
  assert.equal(
    selectBundles(threePackages(), request('threescale-2.12')).kept.get('3scale-operator')?.defaultChannel,
    'threescale-2.12',
  )
})

const small = madeCatalog({
  pkg1: {
    defaultChannel: 'ch1',
    channels: { ch1: ['b1 > b0'], ch2: ['b3 > b2'] },
    bundles: { b1: '1.0.0', b3: '2.0.0' },
  },
})

test('the default channel must be among what is kept, or another one be named', () => {
  const keep = (request: NonNullable<SelectionRequest['packages']>[number]) =>
    selectBundles(small, { packages: [request] }).kept.get('pkg1')
  assert.equal(keep({ name: 'pkg1' })?.defaultChannel, 'ch1')
  assert.throws(() => keep({ name: 'pkg1', channels: [{ name: 'ch2' }] }), {
    code: 'CATALOG_SELECTION_INVALID',
    message: 'Package "pkg1": its default channel "ch1" is not among the channels asked for',
    hint: /add "ch1" to channels, or write defaultChannel: ch2/,
  })
  assert.throws(() => keep({ name: 'pkg1', defaultChannel: 'ch2', channels: [{ name: 'ch1' }] }), {
    code: 'CATALOG_SELECTION_INVALID',
  })
  const moved = keep({ name: 'pkg1', defaultChannel: 'ch2', channels: [{ name: 'ch2' }] })
  assert.deepEqual(moved, {
    name: 'pkg1',
    defaultChannel: 'ch2',
    channels: [{ name: 'ch2', entries: [{ name: 'b3', replaces: 'b2', skips: [] }] }],
    bundles: ['b3'],
    deprecations: [],
  })
})

test('a range that leaves nothing of the default channel tells which versions there are', () => {
  const catalog = madeCatalog({
    pkg1: { defaultChannel: 'ch1', channels: { ch1: ['p.v1.1.0 > p.v1.0.0', 'p.v1.0.0'] } },
  })
  assert.throws(() => selectBundles(catalog, { packages: [{ name: 'pkg1', minVersion: '100.0.0' }] }), {
    code: 'CATALOG_SELECTION_INVALID',
    message: /default channel "ch1" would be empty: no version in >=100\.0\.0; there are 1\.0\.0, 1\.1\.0/,
  })
})

test('a channel in which every entry is replaced is refused with its graph', () => {
  const catalog = madeCatalog({ pkg1: { channels: { ch1: ['b1 > b0', 'b0 > b1'] } } })
  assert.throws(
    () => selectBundles(catalog, { packages: [{ name: 'pkg1', channels: [{ name: 'ch1', minVersion: '1.0.0' }] }] }),
    {
      code: 'CATALOG_SELECTION_INVALID',
      message: /no channel heads found[\s\S]*o b1[\s\S]*replaces b1 again: a circle/,
    },
  )
})

test('where both bounds are the same text, that version alone is kept, whatever the order of updates', () => {
  const catalog = madeCatalog({
    p: {
      defaultChannel: 'ch',
      channels: {
        ch: [{ name: 'rebuilt', replaces: 'old', skips: ['first'] }, 'first > old', 'old'],
        flawed: ['first', 'old', 'other'],
        without: ['old'],
      },
      bundles: { rebuilt: '1.2.0+2', first: '1.2.0', old: '1.1.0', other: '3.0.0' },
    },
  })
  const keep = (version: string) => {
    const { kept, findings } = selectBundles(catalog, {
      packages: [{ name: 'p', minVersion: version, maxVersion: version }],
    })
    const channels = kept.get('p')?.channels.map(({ name, entries }) => [name, ...entries.map((entry) => entry.name)])
    return { channels, findings: findings.map(({ id }) => id) }
  }
  assert.deepEqual(keep('1.2.0').channels, [
    ['ch', 'first'],
    ['flawed', 'first'],
  ])
  assert.deepEqual(keep('1.2.0').findings, ['catalog.channel-left-out'])
  assert.deepEqual(keep('1.2.0+2').channels?.[0], ['ch', 'rebuilt'])
  assert.deepEqual(keep('1.2').channels?.[0], ['ch', 'rebuilt'])
  assert.throws(() => keep('3.0.0'), { message: /default channel "ch" would be empty: no version 3\.0\.0; there are/ })
})

test('deprecations stay of what is kept only', () => {
  const reference = (schema: string, name?: string) => ({
    reference: { schema, ...(name && { name }) },
    message: 'old',
  })
  const catalog = madeCatalog({
    pkg1: {
      channels: {
        ch1: [{ name: 'b2', replaces: 'b1', skips: ['b0'] }, 'b1'],
        ch2: [{ name: 'b5', replaces: 'b4', skips: ['b3'] }, 'b4'],
      },
      bundles: { b1: '0.1.0', b2: '0.2.0', b3: '3.0.0', b4: '4.0.0', b5: '5.0.0' },
      deprecations: [
        reference('olm.package'),
        reference('olm.channel', 'ch1'),
        reference('olm.channel', 'ch2'),
        ...['b1', 'b2', 'b4'].map((name) => reference('olm.bundle', name)),
      ],
    },
  })
  const selection = selectBundles(catalog, { packages: [{ name: 'pkg1', channels: [{ name: 'ch1' }] }] })
  const kept = selection.kept.get('pkg1')
  assert.deepEqual(kept?.bundles, ['b2'])
  assert.deepEqual(kept?.channels, [{ name: 'ch1', entries: [{ name: 'b2', replaces: 'b1', skips: ['b0'] }] }])
  assert.deepEqual(
    kept?.deprecations.map((entry) => entry.reference),
    [{ schema: 'olm.package' }, { schema: 'olm.channel', name: 'ch1' }, { schema: 'olm.bundle', name: 'b2' }],
  )
  assert.deepEqual(selection.findings.filter(({ id }) => id === 'catalog.deprecated').length, 3)
})

test('what stands outside the range and holds the channel together is kept, and said', () => {
  const catalog = madeCatalog({
    pkg: { channels: { ch: [{ name: 'b2', skips: ['b1'] }, 'b1'] }, bundles: { b1: '1.0.0', b2: '2.0.0' } },
  })
  const request = { packages: [{ name: 'pkg', channels: [{ name: 'ch', minVersion: '1.0.0', maxVersion: '1.9.9' }] }] }
  const { kept, findings, why } = selectBundles(catalog, request)
  assert.deepEqual(kept.get('pkg')?.bundles, ['b1', 'b2'])
  assert.match(findings[0]?.summary ?? '', /^b2 \(2\.0\.0\) of package "pkg" is kept: outside >=1\.0\.0 <=1\.9\.9/)
  assert.equal(why('pkg', 'b2')?.because, 'link')
})

test('a channel of hundreds of entries that all skip each other is no effort', { skip: noCatalogs }, () => {
  const catalog = realCatalogs().get('mirror/catalog-filter/community-catalog-config.json')?.() ?? madeCatalog({})
  const kept = selectBundles(catalog, { packages: [{ name: 'assisted-service-operator' }] }).kept
  const [first] = kept.get('assisted-service-operator')?.channels ?? []
  assert.deepEqual(
    first?.entries.map(({ name }) => name),
    ['assisted-service-operator.v0.7.74'],
  )
})
