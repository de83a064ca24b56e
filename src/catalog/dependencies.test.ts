import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { type DependencyPolicy, dependencyPolicy, resolveDependencies, type SelectedCatalog } from './dependencies.ts'
import type { Catalog, Constraint, Gvk, Requirement } from './meta.ts'
import { selectBundles } from './select-bundles.ts'

const gvk = (kind: string): Gvk => ({ group: 'example.test', version: 'v1', kind })
const needsPackage = (name: string, versionRange: string): Requirement => ({
  kind: 'package',
  package: name,
  versionRange,
})
const needsKind = (kind: string): Requirement => ({ kind: 'gvk', gvk: gvk(kind) })
const needsAll = (constraint: Constraint): Requirement => ({ kind: 'constraint', text: 'tell the user', constraint })

interface Made {
  readonly requires?: readonly Requirement[]
  readonly provides?: readonly Gvk[]
}

/** Packages with one channel `stable`, in which each version replaces the one before. */
function catalogOf(packages: Readonly<Record<string, Readonly<Record<string, Made>>>>): Catalog {
  return madeCatalog(
    Object.fromEntries(
      Object.entries(packages).map(([name, versions]) => {
        const names = Object.keys(versions).map((version) => `${name}.v${version}`)
        const entries = names.map((own, index) => (index === 0 ? own : `${own} > ${names[index - 1]}`)).toReversed()
        const bundles = Object.entries(versions).map(([version, made]) => [`${name}.v${version}`, { version, ...made }])
        return [name, { defaultChannel: 'stable', channels: { stable: entries }, bundles: Object.fromEntries(bundles) }]
      }),
    ),
  )
}

function selected(catalog: Catalog, names: readonly string[], policy: DependencyPolicy): SelectedCatalog {
  const selection = selectBundles(catalog, { packages: names.map((name) => ({ name })) })
  return { name: `registry.test/${[...catalog.packages.keys()].join('-')}`, catalog, selection, policy }
}

const keptIn = (one: SelectedCatalog['selection'] | undefined) =>
  [...(one?.kept.values() ?? [])].flatMap(({ bundles }) => bundles)

test('what is taken leads to what it requires itself, and a circle ends', () => {
  const catalog = catalogOf({
    a: { '1.0.0': { requires: [needsPackage('b', '>=1.0.0')] } },
    b: { '1.0.0': {}, '2.0.0': { requires: [needsKind('Wheel')] } },
    c: { '3.0.0': { provides: [gvk('Wheel')], requires: [needsPackage('a', '>=0.1.0')] } },
    d: { '1.0.0': {} },
  })
  const { selections, dependencies, findings } = resolveDependencies([selected(catalog, ['a'], 'take')])
  assert.deepEqual(keptIn(selections[0]), ['a.v1.0.0', 'b.v2.0.0', 'c.v3.0.0'])
  assert.deepEqual(
    dependencies.map(({ from, state, by }) => [from.bundle, state, by?.bundle]),
    [
      ['a.v1.0.0', 'taken', 'b.v2.0.0'],
      ['b.v2.0.0', 'taken', 'c.v3.0.0'],
      ['c.v3.0.0', 'kept', 'a.v1.0.0'],
    ],
  )
  assert.deepEqual(selections[0]?.why('b', 'b.v2.0.0'), {
    isKept: true,
    because: 'dependency',
    text: 'required by a.v1.0.0 of package a: the package b in >=1.0.0',
  })
  assert.equal(selections[0]?.why('d', 'd.v1.0.0')?.because, 'package')
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['catalog.dependency-taken', 'catalog.dependency-taken'],
  )
})

test('an older version is taken with all between it and what is kept, so that the channel has one head', () => {
  const catalog = catalogOf({
    a: { '1.0.0': { requires: [needsPackage('b', '<2.0.0')] } },
    b: { '1.0.0': {}, '1.9.0': {}, '2.0.0': {}, '3.0.0': {} },
  })
  const [selection] = resolveDependencies([selected(catalog, ['a', 'b'], 'take')]).selections
  assert.deepEqual(selection?.kept.get('b')?.bundles, ['b.v1.9.0', 'b.v2.0.0', 'b.v3.0.0'])
  assert.equal(selection?.why('b', 'b.v2.0.0')?.because, 'link')
  const [alone] = resolveDependencies([selected(catalog, ['a'], 'take')]).selections
  assert.deepEqual(alone?.kept.get('b')?.bundles, ['b.v1.9.0'])
})

test('the own catalog comes before the others, and the others count too', () => {
  const first = catalogOf({ a: { '1.0.0': { requires: [needsKind('Wheel'), needsKind('Axle')] } }, b: { '1.0.0': {} } })
  const second = catalogOf({
    w: { '1.0.0': { provides: [gvk('Wheel')] } },
    x: { '1.0.0': { provides: [gvk('Axle')] } },
  })
  const { selections, dependencies } = resolveDependencies([
    selected(first, ['a'], 'take'),
    selected(second, ['x'], 'warn'),
  ])
  assert.deepEqual(
    dependencies.map(({ state, by }) => [state, by?.catalog, by?.bundle]),
    [
      ['taken', 'registry.test/w-x', 'w.v1.0.0'],
      ['kept', 'registry.test/w-x', 'x.v1.0.0'],
    ],
  )
  assert.deepEqual(keptIn(selections[1]), ['w.v1.0.0', 'x.v1.0.0'])
})

test('by default what is missing is said with what would give it, and nothing is added', () => {
  const catalog = catalogOf({
    a: { '1.0.0': { requires: [needsPackage('b', '>=1.0.0'), needsKind('Nowhere')] } },
    b: { '1.0.0': {} },
  })
  assert.equal(dependencyPolicy({}), 'warn')
  assert.equal(dependencyPolicy({ skipDependencies: true }), 'ignore')
  const { selections, findings } = resolveDependencies([selected(catalog, ['a'], 'warn')])
  assert.deepEqual(keptIn(selections[0]), ['a.v1.0.0'])
  assert.deepEqual(
    findings.map(({ severity, summary }) => [severity, summary]),
    [
      [
        'warning',
        'a.v1.0.0 of package "a" requires the package b in >=1.0.0: b.v1.0.0 of package "b" (channel stable, registry.test/a-b) would give it',
      ],
      ['warning', 'a.v1.0.0 of package "a" requires the API Nowhere (example.test/v1), which none of the catalogs has'],
    ],
  )
  assert.deepEqual(resolveDependencies([selected(catalog, ['a'], 'ignore')]).findings, [])
})

test('where the policy says so, an unmet requirement ends the run', () => {
  const catalog = catalogOf({ a: { '1.0.0': { requires: [needsPackage('b', '>=1.0.0')] } }, b: { '1.0.0': {} } })
  assert.throws(() => resolveDependencies([selected(catalog, ['a'], 'fail')]), {
    code: 'CATALOG_SELECTION_INVALID',
    message: /^Kept operators require something that nothing kept gives:\n {4}a\.v1\.0\.0 of package "a" requires/,
  })
  assert.deepEqual(resolveDependencies([selected(catalog, ['a', 'b'], 'fail')]).findings, [])
})

test('what thousands of bundles require is looked for once', () => {
  const many = Object.fromEntries(
    Array.from({ length: 4000 }, (_, index) => [
      `${index}.0.0`,
      { provides: [gvk(`Kind${index}`)], requires: [needsKind('Nowhere'), needsPackage('b', '>=1.0.0')] },
    ]),
  )
  const catalog = catalogOf({ a: many, b: { '1.0.0': {} } })
  const selection = selectBundles(catalog, { full: true, packages: [{ name: 'a' }] })
  const { findings, dependencies } = resolveDependencies([{ name: 'index', catalog, selection, policy: 'take' }])
  assert.equal(dependencies.length, 8000)
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['catalog.dependency-missing', 'catalog.dependency-taken'],
  )
})

test('a compound constraint is met by one bundle; an expression is never guessed', () => {
  const parts = (kind: 'all' | 'any' | 'not', ...of: Constraint[]): Constraint => ({ kind, of })
  const wheel: Constraint = { kind: 'gvk', gvk: gvk('Wheel') }
  const axle: Constraint = { kind: 'gvk', gvk: gvk('Axle') }
  const old: Constraint = { kind: 'package', package: 'both', versionRange: '<2.0.0' }
  const states = (constraint: Constraint) => {
    const catalog = catalogOf({
      a: { '1.0.0': { requires: [needsAll(constraint)] } },
      both: { '1.0.0': { provides: [gvk('Wheel'), gvk('Axle')] }, '2.0.0': { provides: [gvk('Wheel'), gvk('Axle')] } },
      one: { '1.0.0': { provides: [gvk('Wheel')] } },
    })
    const { dependencies } = resolveDependencies([selected(catalog, ['a'], 'warn')])
    return dependencies.map(({ state, by }) => `${state} ${by?.bundle ?? ''}`.trim())
  }
  assert.deepEqual(states(parts('all', wheel, axle)), ['offered both.v2.0.0'])
  assert.deepEqual(states(parts('all', wheel, old)), ['offered both.v1.0.0'])
  assert.deepEqual(states(parts('all', wheel, parts('not', axle))), ['offered one.v1.0.0'])
  assert.deepEqual(states(parts('any', { kind: 'gvk', gvk: gvk('None') }, axle)), ['offered both.v2.0.0'])
  assert.deepEqual(states({ kind: 'cel', rule: 'properties.exists(p, p.type == "certified")' }), ['unjudged'])
  assert.deepEqual(states(parts('all', axle, { kind: 'cel', rule: 'true' })), ['unjudged'])
  assert.deepEqual(states(parts('all', { kind: 'gvk', gvk: gvk('None') }, { kind: 'cel', rule: 'true' })), ['missing'])
})
