/** Catalogs as they were published: what is chosen from them is what another way of counting finds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noCatalogs, realCatalogs } from '../../testkit/catalogs.ts'
import { channelGraph } from './channel-graph.ts'
import { drawChannel } from './draw-channel.ts'
import { explainPackage } from './explain.ts'
import type { Catalog, CatalogPackage } from './meta.ts'
import { selectBundles } from './select-bundles.ts'

const catalogs: readonly (readonly [string, Catalog])[] = noCatalogs
  ? []
  : [...realCatalogs()].map(([name, read]) => [name, read()] as const)

/** Entries that no other one names, channel by channel. */
function headsOf(of: CatalogPackage): string[][] {
  return [...of.channels.values()].map(({ entries }) =>
    entries
      .map(({ name }) => name)
      .filter((name) => !entries.some((other) => other.replaces === name || other.skips.includes(name))),
  )
}

test('there is something to choose from', { skip: noCatalogs }, () => {
  const packages = catalogs.flatMap(([, { packages: all }]) => [...all.values()])
  assert.ok(packages.length > 100, String(packages.length))
  assert.ok(packages.reduce((sum, { bundles }) => sum + bundles.size, 0) > 1500)
})

test('of every published package the heads of its channels are chosen, or it is said why not', {
  skip: noCatalogs,
}, () => {
  const refused: string[] = []
  for (const [name, catalog] of catalogs) {
    const selection = selectBundles(catalog, {}, { onProblem: 'leave-out' })
    for (const of of catalog.packages.values()) {
      const kept = selection.kept.get(of.meta.name)
      const heads = headsOf(of)
      const isClear = heads.every((own) => own.length === 1)
      const hasDefault = of.meta.defaultChannel === '' || of.channels.has(of.meta.defaultChannel)
      if (kept === undefined) refused.push(`${name}: ${of.meta.name}`)
      assert.equal(kept !== undefined, isClear && hasDefault, `${name}: ${of.meta.name}`)
      if (kept === undefined) continue
      assert.deepEqual(
        kept.channels.map(({ entries }) => entries.map((entry) => entry.name)),
        heads,
      )
      const there = [...new Set(heads.flat())].filter((head) => of.bundles.has(head))
      assert.deepEqual(kept.bundles, there.sort())
    }
    const errors = selection.findings.filter(({ severity }) => severity === 'error')
    assert.equal(errors.length, catalog.packages.size - selection.kept.size)
  }
  // Test data of opm: parts of catalogs, and channels as they were before the format was released.
  assert.ok(
    refused.every((one) => /^(catalogs|mirror\/oc)\/fbc\//.test(one)),
    refused.join('\n'),
  )
})

test('full keeps every bundle that a channel lists', { skip: noCatalogs }, () => {
  for (const [name, catalog] of catalogs) {
    const { kept } = selectBundles(catalog, { full: true }, { onProblem: 'leave-out' })
    for (const one of kept.values()) {
      const of = catalog.packages.get(one.name)
      const listed = new Set(
        [...(of?.channels.values() ?? [])].flatMap(({ entries }) => entries.map((entry) => entry.name)),
      )
      assert.deepEqual(one.bundles, [...(of?.bundles.keys() ?? [])].filter((bundle) => listed.has(bundle)).sort(), name)
    }
  }
})

test('a range over the newest half of every default channel keeps its head and nothing older', {
  skip: noCatalogs,
}, () => {
  let checked = 0
  for (const [, catalog] of catalogs) {
    for (const { meta, channels, bundles } of catalog.packages.values()) {
      const { chain, flaws } = channelGraph(channels.get(meta.defaultChannel)?.entries ?? [])
      const middle = bundles.get(chain[Math.floor(chain.length / 2)] ?? '')?.version
      if (flaws.length > 0 || middle === undefined || chain.length < 4) continue
      const request = { name: meta.name, channels: [{ name: meta.defaultChannel, minVersion: middle }] }
      const kept = selectBundles(catalog, { packages: [request] }).kept.get(meta.name)
      const [only] = kept?.channels ?? []
      const own = new Set(only?.entries.map(({ name }) => name))
      // The part of the chain that is kept has no gap, and what is wanted lies in it.
      const places = chain.flatMap((entry, index) => (own.has(entry) ? [index] : []))
      assert.equal(places.length, (places.at(-1) ?? 0) - (places[0] ?? 0) + 1)
      assert.ok(own.has(chain[Math.floor(chain.length / 2)] ?? ''), meta.name)
      checked += 1
    }
  }
  assert.ok(checked > 20, String(checked))
})

test('every channel can be drawn, with every entry in it, and every package explained', { skip: noCatalogs }, () => {
  for (const [name, catalog] of catalogs) {
    for (const of of catalog.packages.values()) {
      for (const { entries } of of.channels.values()) {
        const drawing = drawChannel(channelGraph(entries)).join('\n')
        for (const entry of entries) assert.ok(drawing.includes(`o ${entry.name}`), `${name}: ${entry.name}`)
      }
      const { bundles, channels, problem, kept } = explainPackage(catalog, of.meta.name)
      assert.equal(bundles.length, of.bundles.size)
      assert.equal(channels.length, of.channels.size)
      assert.equal(problem === undefined, kept !== undefined)
    }
  }
})
