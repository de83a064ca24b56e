import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { resolveDependencies } from './dependencies.ts'
import { explainPackage } from './explain.ts'
import { selectBundles } from './select-bundles.ts'
import { limitBreaches, limitFindings } from './select-limits.ts'

const catalog = madeCatalog({
  gitops: {
    defaultChannel: 'latest',
    channels: {
      latest: ['gitops.v1.2.0 > gitops.v1.1.0', 'gitops.v1.1.0 > gitops.v1.0.0'],
      old: ['gitops.v1.0.0'],
    },
    bundles: {
      'gitops.v1.0.0': '1.0.0',
      'gitops.v1.1.0': { version: '1.1.0', maxOpenShiftVersion: '4.17' },
      'gitops.v1.2.0': {
        version: '1.2.0',
        minKubeVersion: '1.32.0',
        requires: [{ kind: 'package', package: 'pipelines', versionRange: '>=1.0.0' }],
      },
      'gitops.v0.1.0': '0.1.0',
    },
    deprecations: [
      { reference: { schema: 'olm.channel', name: 'old' }, message: 'use\nlatest' },
      { reference: { schema: 'olm.bundle', name: 'gitops.v1.0.0' }, message: 'too old' },
    ],
  },
  pipelines: { defaultChannel: 'stable', channels: { stable: ['pipelines.v1.5.0'] } },
})

test('an explanation has a reason for every bundle, what it needs and where it runs', () => {
  const request = { packages: [{ name: 'gitops', channels: [{ name: 'latest' }] }] }
  const { bundles, channels, findings, kept } = explainPackage(catalog, 'gitops', {
    request,
    releases: ['4.17.1', '4.18.9'],
  })
  assert.deepEqual(kept, { defaultChannel: 'latest', bundles: ['gitops.v1.2.0'] })
  assert.deepEqual(
    bundles.map(({ name, reason }) => [name, reason?.text]),
    [
      ['gitops.v1.2.0', 'head of channel latest'],
      ['gitops.v1.1.0', 'only the head of channel latest is asked for'],
      ['gitops.v1.0.0', 'only in channels that are not asked for: old'],
      ['gitops.v0.1.0', 'no channel has it'],
    ],
  )
  assert.deepEqual(bundles[0]?.requires, ['the package pipelines in >=1.0.0'])
  assert.deepEqual(bundles[0]?.breaches, [{ limit: 'kubernetes', bound: '1.32.0', releases: ['4.17.1', '4.18.9'] }])
  assert.deepEqual(bundles[1]?.breaches, [{ limit: 'openshift', bound: '4.17', releases: ['4.18.9'] }])
  assert.equal(bundles[2]?.deprecated, 'too old')
  assert.deepEqual(
    channels.map(({ name, isDefault, isKept, keptEntries, deprecated }) => ({
      name,
      isDefault,
      isKept,
      keptEntries,
      deprecated,
    })),
    [
      { name: 'latest', isDefault: true, isKept: true, keptEntries: 1, deprecated: undefined },
      { name: 'old', isDefault: false, isKept: false, keptEntries: 0, deprecated: 'use latest' },
    ],
  )
  assert.deepEqual(channels[0]?.drawing, [
    '[x] gitops.v1.2.0  HEAD',
    ' | replaces',
    '[ ] gitops.v1.1.0',
    ' | replaces gitops.v1.0.0, which this channel does not have',
  ])
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['catalog.kubernetes-too-old'],
  )
})

test('what cannot be selected is explained all the same, with the reason', () => {
  const { problem, kept, channels, bundles } = explainPackage(catalog, 'gitops', {
    request: { packages: [{ name: 'gitops', channels: [{ name: 'old' }] }] },
  })
  assert.equal(problem?.code, 'CATALOG_SELECTION_INVALID')
  assert.match(problem?.message ?? '', /default channel "latest" is not among the channels asked for/)
  assert.equal(kept, undefined)
  assert.equal(channels[0]?.drawing[0], '[ ] gitops.v1.2.0  HEAD')
  assert.equal(bundles[0]?.reason, undefined)
})

test('a package that is not asked for is explained so, and one taken for another with who requires it', () => {
  const request = { packages: [{ name: 'gitops' }] }
  const alone = explainPackage(catalog, 'pipelines', { request })
  assert.equal(alone.bundles[0]?.reason?.text, 'the package is not asked for')
  const selected = { name: 'index', catalog, selection: selectBundles(catalog, request), policy: 'take' } as const
  const [selection] = resolveDependencies([selected]).selections
  assert.ok(selection)
  const taken = explainPackage(catalog, 'pipelines', { request, selection })
  assert.equal(
    taken.bundles[0]?.reason?.text,
    'required by gitops.v1.2.0 of package gitops: the package pipelines in >=1.0.0',
  )
  assert.equal(taken.channels[0]?.drawing[0], '[x] pipelines.v1.5.0  HEAD')
})

test('a name that the catalog does not have brings the nearest ones', () => {
  assert.throws(() => explainPackage(catalog, 'gitop'), {
    code: 'CATALOG_PACKAGE_UNKNOWN',
    message: 'The catalog has no package "gitop"; the nearest: gitops',
  })
  assert.throws(() => selectBundles(catalog, { packages: [{ name: 'openshift-pipelines-operator' }] }), {
    code: 'CATALOG_PACKAGE_UNKNOWN',
    message: 'The catalog has no package "openshift-pipelines-operator"; the nearest: pipelines',
  })
  assert.throws(() => selectBundles(catalog, { packages: [{ name: 'gitops', channels: [{ name: 'lattest' }] }] }), {
    code: 'CATALOG_CHANNEL_UNKNOWN',
    message: 'Package "gitops" has no channel "lattest"; it has latest, old',
  })
  assert.throws(
    () => selectBundles(catalog, { packages: [{ name: 'gitops', bundles: [{ name: 'gitops.v1.2.1' }] }] }),
    {
      code: 'CATALOG_SELECTION_INVALID',
      message: /has no bundle "gitops\.v1\.2\.1"; the nearest: gitops\.v1\./,
    },
  )
})

test('of several problems all are told at once, or left out one by one', () => {
  const request = {
    packages: [{ name: 'gitops', channels: [{ name: 'none' }] }, { name: 'nothing' }, { name: 'pipelines' }],
  }
  assert.throws(() => selectBundles(catalog, request), {
    code: 'CATALOG_PACKAGE_UNKNOWN',
    message: /no package "nothing"[\s\S]*no channel "none"/,
    hint: 'Mend these 2 in the configuration and run again; nothing was changed.',
  })
  const { kept, findings } = selectBundles(catalog, request, { onProblem: 'leave-out' })
  assert.deepEqual([...kept.keys()], ['pipelines'])
  assert.deepEqual(
    findings.map(({ id, severity }) => [id, severity]),
    [
      ['catalog.package-unknown', 'error'],
      ['catalog.channel-unknown', 'error'],
    ],
  )
})

test('limits are compared by minor versions, and 5.0 follows on 4.22', () => {
  const of = (maxOpenShiftVersion: string, ...releases: string[]) =>
    limitBreaches({ maxOpenShiftVersion }, releases).flatMap((breach) => breach.releases)
  assert.deepEqual(of('4.17', '4.16.3', '4.17.20', '4.18.0-rc.1'), ['4.18.0-rc.1'])
  assert.deepEqual(of('4.9', '4.10.1'), ['4.10.1'])
  assert.deepEqual(of('4.22', '4.22.9', '5.0.1'), ['5.0.1'])
  assert.deepEqual(of('4.23', '5.0.1', '5.1.0'), ['5.1.0'])
  assert.deepEqual(of('"4.17"', '4.18.1'), ['4.18.1'])
  assert.deepEqual(of('next', '4.18.1'), [])
  const wanting = (minKubeVersion: string, release: string) => limitBreaches({ minKubeVersion }, [release]).length
  assert.equal(wanting('1.31.0', '4.18.9'), 0)
  assert.equal(wanting('1.31.7', '4.18.9'), 0)
  assert.equal(wanting('1.32.0', '4.18.9'), 1)
  assert.equal(wanting('v1.32', '4.18.9'), 1)
})

test('limits are told once for all the bundles of a package that have them', () => {
  const bundles = Object.fromEntries(
    [1, 2, 3, 4, 5].map((major) => [`p.v${major}.0.0`, { version: `${major}.0.0`, maxOpenShiftVersion: '4.16' }]),
  )
  const names = Object.keys(bundles)
  const many = madeCatalog({
    p: { channels: { c: names.map((name, index) => (index ? `${name} > ${names[index - 1]}` : name)) }, bundles },
  })
  const findings = limitFindings(many, selectBundles(many, { full: true }), ['4.16.1', '4.17.1', '4.18.1'])
  assert.deepEqual(
    findings.map(({ summary }) => summary),
    [
      'p.v3.0.0, p.v4.0.0, p.v5.0.0 and 2 more of package "p" run on OpenShift up to 4.16, and 4.17.1, 4.18.1 are mirrored',
    ],
  )
})
