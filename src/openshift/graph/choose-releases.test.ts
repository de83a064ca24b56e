import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noGraphs, realAnswers, stable413 } from '../../../testkit/real-graphs.ts'
import { risk, sketchedGraph } from '../../../testkit/update-graphs.ts'
import { type ChannelRequest, channelsFor, chooseReleases } from './choose-releases.ts'
import { parseUpdateGraph, type UpdateGraph } from './update-graph.ts'

type Wish = Omit<ChannelRequest, 'type' | 'name'> & { readonly name?: string; readonly type?: 'okd' }

/** 4.17.0-rc.1 comes before 4.17.0; a head is the highest version, wherever the answer lists it. */
const stable417 = sketchedGraph({
  '4.17.10': [],
  '4.17.0': ['4.17.2', '4.17.9', ['4.17.10', 'A']],
  '4.17.0-rc.1': ['4.17.0'],
  '4.17.2': ['4.17.9', '4.17.10'],
  '4.17.9': ['4.17.10'],
})

function choose(graph: UpdateGraph, wish: Wish, options: Parameters<typeof chooseReleases>[2] = {}) {
  return chooseReleases(graph, { type: 'ocp', name: 'stable-4.17', ...wish }, options)
}

function versions(graph: UpdateGraph, wish: Wish, options: Parameters<typeof chooseReleases>[2] = {}): string {
  return choose(graph, wish, options)
    .releases.map(({ version }) => version)
    .join(' ')
}

const all = '4.17.0-rc.1 4.17.0 4.17.2 4.17.9 4.17.10'

const selections: readonly (readonly [string, Wish, string])[] = [
  ['nothing is said: the head', {}, '4.17.10'],
  ['full: all', { full: true }, all],
  ['only a lower end: up to the head', { minVersion: '4.17.2' }, '4.17.2 4.17.9 4.17.10'],
  ['only an upper end: from the first', { maxVersion: '4.17.2' }, '4.17.0-rc.1 4.17.0 4.17.2'],
  [
    'both ends: all between, no release candidate',
    { minVersion: '4.17.0', maxVersion: '4.17.9' },
    '4.17.0 4.17.2 4.17.9',
  ],
  ['a release candidate as lower end', { minVersion: '4.17.0-rc.1', maxVersion: '4.17.0' }, '4.17.0-rc.1 4.17.0'],
  ['one release', { minVersion: '4.17.9', maxVersion: '4.17.9' }, '4.17.9'],
  ['both ends and full: the range', { minVersion: '4.17.2', maxVersion: '4.17.9', full: true }, '4.17.2 4.17.9'],
  [
    'a shortest path',
    { minVersion: '4.17.0-rc.1', maxVersion: '4.17.9', shortestPath: true },
    '4.17.0-rc.1 4.17.0 4.17.9',
  ],
  ['a shortest path to the head, around a risk', { minVersion: '4.17.0', shortestPath: true }, '4.17.0 4.17.9 4.17.10'],
  ['a shortest path of nothing', { shortestPath: true }, '4.17.10'],
  ['a shortest path through all', { full: true, shortestPath: true }, '4.17.0-rc.1 4.17.0 4.17.9 4.17.10'],
]

for (const [name, wish, expected] of selections) {
  test(`what a channel asks for, as oc-mirror chooses: ${name}`, () =>
    assert.equal(versions(stable417, wish), expected))
}

test('every chosen release says why it is there', () => {
  const reasons = (wish: Wish) => choose(stable417, wish).releases.map(({ why }) => why)
  assert.deepEqual(reasons({}), ['head of stable-4.17'])
  assert.deepEqual(reasons({ minVersion: '4.17.2', maxVersion: '4.17.10' }), [
    'minVersion of stable-4.17',
    'stable-4.17 from 4.17.2 to 4.17.10',
    'maxVersion of stable-4.17',
  ])
  assert.deepEqual(reasons({ full: true }).slice(0, 1), ['all of stable-4.17'])
  assert.deepEqual(reasons({ minVersion: '4.17.2', shortestPath: true }), [
    'update path from 4.17.2 to 4.17.10 in stable-4.17, 0 of 1 updates',
    'update path from 4.17.2 to 4.17.10 in stable-4.17, 1 of 1 updates',
  ])
})

test('VERSION_FILTER chooses the head and the first release, as in oc-mirror; a range is not filtered', () => {
  const filter = /^4\.17\.\d$/
  assert.equal(versions(stable417, {}, { filter }), '4.17.9')
  assert.equal(versions(stable417, { full: true }, { filter }), '4.17.0 4.17.2 4.17.9')
  assert.equal(versions(stable417, { minVersion: '4.17.9', maxVersion: '4.17.10' }, { filter }), '4.17.9 4.17.10')
  assert.throws(() => choose(stable417, {}, { filter: /^5/ }), {
    code: 'RELEASE_UNKNOWN',
    message: 'no release of stable-4.17 matches VERSION_FILTER ^5',
  })
})

test('an end of a range that the channel does not have bounds it all the same, and is told', () => {
  const { releases, absent } = choose(stable417, { minVersion: '4.17.3' })
  assert.deepEqual(
    releases.map(({ version }) => version),
    ['4.17.9', '4.17.10'],
  )
  assert.deepEqual(absent, ['4.17.3'])
  assert.deepEqual(choose(stable417, { minVersion: '4.17.9', maxVersion: '4.17.99' }).absent, ['4.17.99'])
  assert.equal(choose(stable417, { minVersion: '4.17.9' }).absent, undefined)
})

test('an end of a path, and a range with nothing in it, is an error with the nearest and with the channel that has it', () => {
  const others = [sketchedGraph({ '4.17.11': [] }, { channels: { '4.17.11': ['candidate-4.17', 'fast-4.17'] } })]
  const nearest = {
    code: 'RELEASE_UNKNOWN',
    message: 'stable-4.17 has no release 4.17.3 (nearest here: 4.17.2 and 4.17.9)',
    details: { version: '4.17.3', channel: 'stable-4.17' },
  }
  assert.throws(() => choose(stable417, { minVersion: '4.17.3', shortestPath: true }), nearest)
  assert.throws(() => choose(stable417, { minVersion: '4.17.3', maxVersion: '4.17.5' }), nearest)
  assert.throws(
    () => choose(stable417, { minVersion: '4.17.9', maxVersion: '4.17.11', shortestPath: true }, { others }),
    {
      message: 'stable-4.17 has no release 4.17.11 (it is in candidate-4.17, fast-4.17; nearest here: 4.17.10)',
    },
  )
})

test('a lower end above the upper end, and a channel without releases, are said as they are', () => {
  assert.throws(() => choose(stable417, { minVersion: '4.17.9', maxVersion: '4.17.2' }), {
    code: 'CONFIG_INVALID',
    message: 'channel stable-4.17: minVersion 4.17.9 comes after maxVersion 4.17.2',
  })
  assert.throws(() => choose(stable417, { minVersion: '4.17.10' }, { filter: /\.2$/ }), {
    message: 'channel stable-4.17: minVersion 4.17.10 comes after head 4.17.2',
  })
  assert.throws(() => choose({ releases: [], edges: [] }, {}), {
    code: 'RELEASE_UNKNOWN',
    message: 'channel stable-4.17 has no release for this architecture',
  })
})

test('a risk that no path avoids is told, for a path and for a range', () => {
  const graph = sketchedGraph({ '4.17.0': ['4.17.1'], '4.17.1': [['4.17.2', 'A', 'B']] })
  const risks = ['A', 'B'].map((name) => ({ from: '4.17.1', to: '4.17.2', risk: risk(name) }))
  assert.deepEqual(choose(graph, { minVersion: '4.17.0', shortestPath: true }).risks, risks)
  assert.equal(choose(graph, { minVersion: '4.17.0', shortestPath: true }).path?.riskyHops, 1)
  assert.deepEqual(choose(graph, { minVersion: '4.17.0' }).risks, risks)
  assert.deepEqual(choose(graph, { full: true }).risks, [])
})

test('where no path leads from end to end, shortestPath is an error and a range is taken as it is', () => {
  const graph = sketchedGraph({ '4.17.0': ['4.17.1'], '4.17.2': [] })
  assert.throws(() => choose(graph, { minVersion: '4.17.0', shortestPath: true }), { code: 'UPDATE_PATH_UNKNOWN' })
  assert.equal(versions(graph, { minVersion: '4.17.0' }), '4.17.0 4.17.1 4.17.2')
})

const questions: readonly (readonly [Wish, string])[] = [
  [{}, 'stable-4.17'],
  [{ minVersion: '4.17.1', maxVersion: '4.17.9' }, 'stable-4.17'],
  [{ name: 'stable-4.18', minVersion: '4.16.3' }, 'stable-4.16 stable-4.17 stable-4.18'],
  [{ name: 'fast-4.16', minVersion: '4.16.3', maxVersion: '4.18.9' }, 'fast-4.16 fast-4.17 fast-4.18'],
  [{ name: 'candidate-4.18', minVersion: '4.17.0-rc.1' }, 'candidate-4.17 candidate-4.18'],
  [{ name: 'eus-4.18', minVersion: '4.14.3' }, 'eus-4.14 eus-4.16 eus-4.18'],
  [{ name: 'eus-4.18', minVersion: '4.15.3' }, 'eus-4.16 eus-4.18'],
  [{ name: 'candidate-5.0', minVersion: '4.22.1' }, 'candidate-4.22 candidate-5.0'],
  [{ name: 'stable-4', type: 'okd', minVersion: '4.14.0-0.okd-2023-11-12-042703' }, 'stable-4'],
  [{ name: 'stable-scos-4', type: 'okd' }, 'stable-scos-4'],
  [{ maxVersion: '4.9999.0' }, 'stable-4.17'],
]

for (const [wish, expected] of questions) {
  test(`the channels that have to be asked: ${JSON.stringify(wish)}`, () => {
    const { type = 'ocp', ...rest } = wish
    assert.equal(channelsFor({ name: 'stable-4.17', ...rest, type }).join(' '), expected)
  })
}

/** Two answers in one: 4.18.9 cannot be reached from what stable-4.16 alone has. */
const across = sketchedGraph(
  {
    '4.16.3': ['4.16.40', '4.17.5'],
    '4.16.40': ['4.17.20'],
    '4.17.5': ['4.17.20'],
    '4.17.20': ['4.18.1', ['4.18.9', 'A']],
    '4.18.1': ['4.18.9'],
  },
  {
    channels: {
      '4.16.3': ['stable-4.16', 'stable-4.17'],
      '4.16.40': ['stable-4.16', 'stable-4.17', 'stable-4.18'],
      '4.17.5': ['stable-4.17'],
      '4.17.20': ['stable-4.17', 'stable-4.18'],
      '4.18.1': ['stable-4.18'],
      '4.18.9': ['stable-4.18'],
    },
  },
)

test('a range that begins before what the channel holds is read from the channels of all minors between', () => {
  const name = 'stable-4.18'
  assert.equal(versions(across, { name, minVersion: '4.16.3' }), '4.16.3 4.16.40 4.17.5 4.17.20 4.18.1 4.18.9')
  assert.equal(
    versions(across, { name, minVersion: '4.16.3', maxVersion: '4.18.9', shortestPath: true }),
    '4.16.3 4.17.5 4.17.20 4.18.1 4.18.9',
  )
})

test('a range that the channel itself holds is not widened by the answers of other channels', () => {
  assert.equal(versions(across, { name: 'stable-4.18', minVersion: '4.16.40' }), '4.16.40 4.17.20 4.18.1 4.18.9')
})

test('a path stays in the channel where that is as safe, and leaves it for one with fewer risks', () => {
  const wish = { name: 'stable-4.18', minVersion: '4.17.1', shortestPath: true }
  const channels = {
    '4.17.1': ['stable-4.17', 'stable-4.18'],
    '4.17.2': ['stable-4.17', 'stable-4.18'],
    '4.17.3': ['stable-4.17', 'stable-4.18'],
    '4.17.9': ['stable-4.17'],
    '4.18.1': ['stable-4.18'],
  }
  const outside = { '4.17.1': ['4.17.2', '4.17.9'], '4.17.9': ['4.18.1'], '4.17.2': ['4.17.3'] }
  const safe = sketchedGraph({ ...outside, '4.17.3': ['4.18.1'] }, { channels })
  assert.equal(versions(safe, wish), '4.17.1 4.17.2 4.17.3 4.18.1')
  const risky = sketchedGraph({ ...outside, '4.17.3': [['4.18.1', 'A']] }, { channels })
  assert.equal(versions(risky, wish), '4.17.1 4.17.9 4.18.1')
  assert.equal(versions(sketchedGraph(outside, { channels }), wish), '4.17.1 4.17.9 4.18.1')
  const both = { ...outside, '4.17.9': [['4.18.1', 'B']], '4.17.3': [['4.18.1', 'A']] } as const
  assert.equal(versions(sketchedGraph(both, { channels }), wish), '4.17.1 4.17.2 4.17.3 4.18.1')
})

test('versions of OKD are ordered by their date', () => {
  const okd = ['4.15.0-0.okd-2024-03-10-010116', '4.14.0-0.okd-2024-01-26-175629', '4.15.0-0.okd-2024-02-23-163410']
  const graph = sketchedGraph({ [okd[1] ?? '']: [okd[2] ?? ''], [okd[2] ?? '']: [okd[0] ?? ''] })
  assert.equal(versions(graph, { name: 'stable-4', type: 'okd' }), okd[0])
  assert.equal(versions(graph, { name: 'stable-4', type: 'okd', minVersion: okd[2] ?? '' }), `${okd[2]} ${okd[0]}`)
})

test('of the real stable-4.13, a range holds as many releases as its JSON lists in between', { skip: noGraphs }, () => {
  const graph = parseUpdateGraph(stable413(), 'stable-4.13')
  const listed: readonly string[] = JSON.parse(stable413().toString()).nodes.map(
    (node: { version: string }) => node.version,
  )
  const patches = listed.flatMap((version) => (version.startsWith('4.13.') ? [Number(version.split('.')[2])] : []))
  const wish = { name: 'stable-4.13', minVersion: '4.13.3', maxVersion: '4.13.30' }
  const expected = patches.filter((patch) => patch >= 3 && patch <= 30).toSorted((a, b) => a - b)
  assert.equal(versions(graph, wish), expected.map((patch) => `4.13.${patch}`).join(' '))
  assert.equal(versions(graph, { name: 'stable-4.13' }), `4.13.${Math.max(...patches)}`)
  assert.equal(versions(graph, { name: 'stable-4.13', full: true }).split(' ').length, listed.length)
})

test("on the graph of oc-mirror's own tests the choice is what those tests expect", { skip: noGraphs }, () => {
  const answer = realAnswers().find(({ name }) => name.endsWith('test-arch-stable-4.0.json'))
  const graph = parseUpdateGraph(answer?.bytes ?? '', 'stable-4.0')
  const name = 'stable-4.0'
  const ends = { name, minVersion: '4.0.0-4', shortestPath: true }
  assert.equal(versions(graph, { ...ends, maxVersion: '4.0.0-5' }), '4.0.0-4 4.0.0-5')
  assert.equal(versions(graph, { ...ends, maxVersion: '4.0.0-8' }), '4.0.0-4 4.0.0-5 4.0.0-6 4.0.0-8')
  assert.equal(versions(graph, { name }), '4.0.0-8')
  assert.equal(versions(graph, { name, minVersion: '4.0.0-5' }), '4.0.0-5 4.0.0-6 4.0.0-7 4.0.0-8')
  assert.equal(versions(graph, { name, full: true }).split(' ')[0], '4.0.0-0.okd-0')
})
