import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { channelGraph } from './channel-graph.ts'
import { drawChannel } from './draw-channel.ts'
import { selectBundles } from './select-bundles.ts'

type Entries = Parameters<typeof madeCatalog>[0][string]['channels'][string]

function graphOf(entries: Entries) {
  const catalog = madeCatalog({ p: { channels: { c: entries } } })
  return channelGraph(catalog.packages.get('p')?.channels.get('c')?.entries ?? [])
}

const ordinary: Entries = [
  { name: 'p.v1.3.0', replaces: 'p.v1.2.0', skips: ['p.v1.2.1', 'p.v0.1.0'], skipRange: '>=1.0.0 <1.3.0' },
  { name: 'p.v1.2.1', replaces: 'p.v1.2.0' },
  'p.v1.2.0 > p.v1.1.0',
]

test('a channel is drawn from its head downwards, with all that it can update from', () => {
  const kept = new Set(['p.v1.3.0'])
  assert.deepEqual(
    drawChannel(graphOf(ordinary), { kept, note: (name) => (name === 'p.v1.2.0' ? '(old)' : undefined) }),
    [
      '[x] p.v1.3.0  HEAD',
      ' |    also updates from any version in >=1.0.0 <1.3.0 (skipRange)',
      ' |    skips [ ] p.v1.2.1, which itself replaces p.v1.2.0',
      ' |    skips p.v0.1.0, not in this channel',
      ' | replaces',
      '[ ] p.v1.2.0 (old)',
      ' | replaces p.v1.1.0, which this channel does not have',
    ],
  )
})

test('of several heads each one has its line, down to where the lines meet', () => {
  assert.deepEqual(drawChannel(graphOf(['a > c', 'b > c', 'c'])), [
    'o a  HEAD 1 of 2',
    ' | replaces',
    'o c',
    '',
    'o b  HEAD 2 of 2',
    ' | replaces c, drawn above',
  ])
})

test('what is only reached through something skipped is drawn, too', () => {
  const lines = drawChannel(graphOf([{ name: 'a', skips: ['b'] }, 'b > c', 'c']))
  assert.deepEqual(lines, [
    'o a  HEAD',
    ' |    skips o b, which itself replaces c',
    '',
    'o c  (beside the line from the head)',
  ])
})

test('a circle is drawn once around', () => {
  assert.deepEqual(drawChannel(graphOf(['a > b', 'b > a'])), [
    'o a  (no head leads to it)',
    ' | replaces',
    'o b',
    ' | replaces a again: a circle',
  ])
})

test('a long channel is cut in the middle where that is asked for', () => {
  const entries = Array.from({ length: 50 }, (_, index) => `p.v${50 - index}.0.0 > p.v${49 - index}.0.0`)
  const lines = drawChannel(graphOf(entries), { maxLines: 9 })
  assert.equal(lines.length, 10)
  assert.equal(lines[6], ' :    91 more lines')
  assert.equal(lines.at(-1), ' | replaces p.v0.0.0, which this channel does not have')
})

test('several heads are explained with the graph, what it means, and what to do', () => {
  const catalog = madeCatalog({
    p: { defaultChannel: 'c', channels: { c: ['p.v2.0.0 > p.v1.0.0', 'p.v1.1.0 > p.v1.0.0', 'p.v1.0.0'] } },
  })
  assert.throws(() => selectBundles(catalog, {}), {
    code: 'CATALOG_SELECTION_INVALID',
    message: [
      'Channel "c" of package "p" has no clear order of updates: 2 entries are replaced or skipped by none, so it is not clear which is the newest (multiple channel heads found): p.v1.1.0, p.v2.0.0',
      '    o p.v1.1.0  HEAD 1 of 2',
      '     | replaces',
      '    o p.v1.0.0',
      '    ',
      '    o p.v2.0.0  HEAD 2 of 2',
      '     | replaces p.v1.0.0, drawn above',
    ].join('\n'),
    hint: 'The catalog was published so. Name the other channels of "p" under packages[].channels, or take everything with full: true, which follows no order; and tell the publisher of the catalog.',
  })
  const { kept, findings } = selectBundles(catalog, { full: true })
  assert.equal(kept.get('p')?.bundles.length, 3)
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['catalog.channel-flawed'],
  )
})

test('every flaw of a graph has its name', () => {
  const kinds = (entries: Entries) => graphOf(entries).flaws.map(({ kind }) => kind)
  assert.deepEqual(kinds([]), ['empty'])
  assert.deepEqual(kinds(['a', 'a']), ['duplicate'])
  assert.deepEqual(kinds(['a', 'b > b']), ['self'])
  assert.deepEqual(kinds(['a > b', 'b > a']), ['no-head'])
  assert.deepEqual(kinds(['a', 'b']), ['several-heads'])
  assert.deepEqual(kinds(['a > b', 'b > c', 'c > b']), ['cycle'])
  assert.deepEqual(kinds([{ name: 'a', skips: ['b', 'c'] }, 'b > c', { name: 'c', skips: ['b'] }]), ['cycle'])
  assert.deepEqual(kinds([{ name: 'a', replaces: 'b', skips: ['b', 'z'] }, 'b > y']), [])
})

test('named bundles that do not lead to one another are refused, with what is between them', () => {
  const catalog = madeCatalog({
    p: { defaultChannel: 'c', channels: { c: ['p.v3.0.0 > p.v2.0.0', 'p.v2.0.0 > p.v1.0.0', 'p.v1.0.0'] } },
  })
  const named = (...versions: number[]) => ({
    packages: [{ name: 'p', bundles: versions.map((version) => ({ name: `p.v${version}.0.0` })) }],
  })
  assert.throws(() => selectBundles(catalog, named(3, 1)), {
    code: 'CATALOG_SELECTION_INVALID',
    message:
      /fall apart in channel "c": p\.v1\.0\.0, p\.v3\.0\.0[\s\S]*\[x\] p\.v3\.0\.0 {2}HEAD[\s\S]*\[ \] p\.v2\.0\.0[\s\S]*\[x\] p\.v1\.0\.0/,
  })
  assert.deepEqual(selectBundles(catalog, named(2, 1)).kept.get('p')?.bundles, ['p.v1.0.0', 'p.v2.0.0'])
})
