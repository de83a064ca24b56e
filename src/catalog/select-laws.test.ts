/** What holds of every selection, whatever the channels look like. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as semver from 'semver'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Catalog, CatalogPackage, ChannelEntry } from './meta.ts'
import { type SelectionRequest, selectBundles } from './select-bundles.ts'
import type { CatalogSelection } from './selection.ts'

type Request = NonNullable<SelectionRequest['packages']>[number]

const nameOf = (index: number) => `p.v${index}.0.0`

/** Entries as publishers write them: newer ones replace and skip older ones, some of which are missing. */
const orderly: fc.Arbitrary<ChannelEntry[]> = fc
  .array(
    fc.record({
      isThere: fc.boolean(),
      replaces: fc.nat({ max: 3 }),
      skips: fc.array(fc.nat({ max: 4 }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((steps) => {
    const entries: ChannelEntry[] = []
    for (const [index, { isThere, replaces, skips }] of steps.entries()) {
      if (!isThere && index < steps.length - 1) continue
      const below = (distance: number) => index - 1 - distance
      const skipped = [...new Set(skips.map(below).filter((other) => other >= 0))].map(nameOf)
      const target = below(replaces)
      entries.push({ name: nameOf(index), skips: skipped, ...(target >= 0 && { replaces: nameOf(target) }) })
    }
    return entries
  })

/** Entries in any disorder. */
const anything: fc.Arbitrary<ChannelEntry[]> = fc.array(
  fc
    .record({
      name: fc.nat({ max: 6 }),
      replaces: fc.option(fc.nat({ max: 7 }), { nil: undefined }),
      skips: fc.array(fc.nat({ max: 7 }), { maxLength: 2 }),
    })
    .map(({ name, replaces, skips }) => ({
      name: nameOf(name),
      skips: skips.map(nameOf),
      ...(replaces !== undefined && { replaces: nameOf(replaces) }),
    })),
  { maxLength: 7 },
)

const channels = fc.dictionary(
  fc.constantFrom('alpha', 'beta', 'stable'),
  fc.oneof({ weight: 4, arbitrary: orderly }, anything),
  {
    minKeys: 1,
    noNullPrototype: true,
  },
)

const steps = fc.oneof(
  fc.constant({}),
  fc.record({ minVersion: fc.nat({ max: 9 }).map((n) => `${n}.0.0`) }),
  fc.record({ maxVersion: fc.nat({ max: 9 }).map((n) => `${n}.0.0`) }),
  fc.record({ heads: fc.nat({ max: 4 }) }),
  fc.record({ installed: fc.nat({ max: 9 }).map((n) => `${n}.0.0`) }),
)

const cases = fc
  .record({ channels, isFull: fc.boolean(), steps, own: fc.boolean(), override: fc.boolean() })
  .map(({ channels: all, isFull, steps: wanted, own, override }) => {
    const names = Object.keys(all)
    const [first = '', second = first] = names
    const catalog = madeCatalog({ p: { defaultChannel: first, channels: all } })
    const request: Request = {
      name: 'p',
      ...wanted,
      ...(own && { channels: names.slice(0, 2).map((name) => ({ name })) }),
      ...(override && { defaultChannel: second }),
    }
    return { catalog, request: { packages: [request], ...(isFull && { full: true }) } satisfies SelectionRequest }
  })

/** The selection, or undefined where it is refused with an error that was foreseen. */
function selectionOf(catalog: Catalog, request: SelectionRequest): CatalogSelection | undefined {
  try {
    return selectBundles(catalog, request)
  } catch (error) {
    assert.ok(error instanceof KnownError, String(error))
    assert.match(error.code, /^CATALOG_(SELECTION_INVALID|CHANNEL_UNKNOWN)$/)
    return undefined
  }
}

/** The catalog that a cluster would see. */
function filtered(catalog: Catalog, { kept }: CatalogSelection): Catalog {
  const packages = [...kept.values()].map((one): [string, CatalogPackage] => {
    const of = catalog.packages.get(one.name)
    assert.ok(of)
    const channelMetas = one.channels.map(({ name, entries }) => {
      const meta = of.channels.get(name)
      assert.ok(meta)
      return [name, { ...meta, entries }] as const
    })
    const bundles = [...of.bundles].filter(([name]) => one.bundles.includes(name))
    const meta = { ...of.meta, defaultChannel: one.defaultChannel }
    return [one.name, { ...of, meta, channels: new Map(channelMetas), bundles: new Map(bundles) }]
  })
  return { packages: new Map(packages), others: catalog.others }
}

/** As operator-registry looks at a channel: one head, and every entry on its chain or skipped from it. */
function assertSound(entries: readonly ChannelEntry[]): void {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const below = new Set(
    entries.flatMap(({ replaces, skips }) => [...skips, ...(replaces === undefined ? [] : [replaces])]),
  )
  const heads = entries.filter(({ name }) => !below.has(name))
  assert.equal(heads.length, 1, `heads: ${heads.map(({ name }) => name).join(', ')}`)
  const reached = new Set<string>()
  for (let at = heads[0]; at !== undefined && !reached.has(at.name); at = byName.get(at.replaces ?? '')) {
    reached.add(at.name)
    for (const skip of at.skips) reached.add(skip)
  }
  for (const { name } of entries) assert.ok(reached.has(name), `${name} hangs loose`)
}

test('the default channel is there, no channel is empty, and what is kept is in the catalog', () => {
  fc.assert(
    fc.property(cases, ({ catalog, request }) => {
      const kept = selectionOf(catalog, request)?.kept.get('p')
      if (kept === undefined) return
      assert.ok(kept.channels.some(({ name }) => name === kept.defaultChannel))
      for (const { entries } of kept.channels) assert.ok(entries.length > 0)
      const listed = new Set(kept.channels.flatMap(({ entries }) => entries.map(({ name }) => name)))
      assert.deepEqual(kept.bundles, [...listed].sort())
    }),
    { numRuns: 400 },
  )
})

test('a channel that could be followed can still be followed', () => {
  fc.assert(
    fc.property(cases, ({ catalog, request }) => {
      if (request.full) return
      for (const { entries } of selectionOf(catalog, request)?.kept.get('p')?.channels ?? []) {
        const all = catalog.packages.get('p')?.channels
        if (isOrderly([...(all?.values() ?? [])].flatMap((channel) => channel.entries))) assertSound(entries)
      }
    }),
    { numRuns: 400 },
  )
})

/** Nothing skipped leads further down: then every entry is on the chain or skipped from it before filtering, too. */
function isOrderly(entries: readonly ChannelEntry[]): boolean {
  const skipped = new Set(entries.flatMap(({ skips }) => skips))
  return entries.every(
    ({ name, replaces, skips }) => !skipped.has(name) || (replaces === undefined && skips.length === 0),
  )
}

test('choosing again from what was chosen gives the same', () => {
  fc.assert(
    fc.property(cases, ({ catalog, request }) => {
      const first = selectionOf(catalog, request)
      const kept = first?.kept.get('p')
      if (first === undefined || kept === undefined) return
      // A version that only another channel lists counts where it is skipped, and is gone with that channel.
      const inCatalog = catalog.packages.get('p')?.bundles
      const skipped = kept.channels.flatMap(({ entries }) => entries.flatMap(({ skips }) => skips))
      if (skipped.some((name) => inCatalog?.has(name) && !kept.bundles.includes(name))) return
      const left = new Set(kept.channels.map(({ name }) => name))
      const again = {
        ...request,
        packages: request.packages.map((one) => ({
          ...one,
          ...(one.channels && { channels: one.channels.filter(({ name }) => left.has(name)) }),
        })),
      }
      assert.deepEqual(selectBundles(filtered(catalog, first), again).kept, first.kept)
    }),
    { numRuns: 400 },
  )
})

test('every bundle has its reason, and it agrees with what is kept', () => {
  fc.assert(
    fc.property(cases, ({ catalog, request }) => {
      const selection = selectionOf(catalog, request)
      const kept = selection?.kept.get('p')
      for (const name of kept === undefined ? [] : (catalog.packages.get('p')?.bundles.keys() ?? [])) {
        const reason = selection?.why('p', name)
        assert.equal(reason?.isKept, kept?.bundles.includes(name), name)
        assert.notEqual(reason?.text, '')
      }
    }),
    { numRuns: 200 },
  )
})

/**
 * The rule of catalog-filter, word by word: count what is in the range at or below each entry of the chain, each bundle
 * where it is seen first from below; the head is the lowest with the highest count, the tail the first without any.
 */
function byTheRule(entries: readonly ChannelEntry[], isIn: (name: string) => boolean): string[] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const below = new Set(entries.flatMap(({ replaces, skips }) => [...skips, replaces ?? '']))
  const head = entries.find(({ name }) => !below.has(name))
  const seen = new Set<string>()
  const counts = new Map<string, number>()
  const count = (entry: ChannelEntry): number => {
    const next = byName.get(entry.replaces ?? '')
    let own = next === undefined ? 0 : count(next)
    for (const name of [entry.name, ...entry.skips]) {
      if (!isIn(name) || seen.has(name)) continue
      seen.add(name)
      own += 1
    }
    counts.set(entry.name, own)
    return own
  }
  if (head === undefined) return []
  count(head)
  let newHead: ChannelEntry | undefined
  let tail: ChannelEntry | undefined
  let most = -1
  for (let at: ChannelEntry | undefined = head; at !== undefined; at = byName.get(at.replaces ?? '')) {
    const own = counts.get(at.name) ?? 0
    if (own >= most) [newHead, most] = [at, own]
    if (own === 0) {
      tail = at
      break
    }
  }
  const kept = new Set<string>()
  for (let at = newHead; at !== undefined && at !== tail; at = byName.get(at.replaces ?? '')) {
    kept.add(at.name)
    for (const skip of at.skips) if (isIn(skip) && byName.has(skip)) kept.add(skip)
  }
  return entries.flatMap(({ name }) => (kept.has(name) ? [name] : []))
}

test('a range keeps what the rule of catalog-filter keeps', () => {
  const bound = fc.nat({ max: 10 })
  fc.assert(
    fc.property(orderly, bound, bound, (entries, low, high) => {
      const catalog = madeCatalog({ p: { channels: { c: entries } } })
      const request = { packages: [{ name: 'p', minVersion: `${low}.0.0`, maxVersion: `${high}.0.0` }] }
      const selection = selectionOf(catalog, request)
      if (selection === undefined) return
      const kept = selection.kept.get('p')?.channels[0]?.entries.map(({ name }) => name) ?? []
      const bundles = catalog.packages.get('p')?.bundles
      const isIn = (name: string) =>
        bundles?.has(name) === true && semver.satisfies(name.slice(3), `>=${low}.0.0 <=${high}.0.0`)
      const only = entries.flatMap(({ name }) => (isIn(name) ? [name] : []))
      // Two bounds of the same text are not a range.
      assert.deepEqual(kept, low === high ? only : byTheRule(entries, isIn))
    }),
    { numRuns: 600 },
  )
})
