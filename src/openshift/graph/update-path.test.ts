import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as semver from 'semver'
import { noGraphs, realAnswers, stable413 } from '../../../testkit/real-graphs.ts'
import { risk, sketchedGraph } from '../../../testkit/update-graphs.ts'
import { parseUpdateGraph, type UpdateGraph } from './update-graph.ts'
import { shortestUpdatePath, type UpdatePath } from './update-path.ts'

function versionsOf({ releases }: UpdatePath): string {
  return releases.map(({ version }) => version).join(' ')
}

test('of several ways the shortest is taken, and of those the one with the highest versions, first things first', () => {
  const graph = sketchedGraph({
    '4.1.0': ['4.1.1', '4.1.2', '4.1.9', '4.1.10'],
    '4.1.1': ['4.2.0'],
    '4.1.2': ['4.2.0'],
    '4.1.9': ['4.2.0'],
    '4.1.10': ['4.1.9'],
  })
  const path = shortestUpdatePath(graph, { from: '4.1.0', to: '4.2.0' })
  assert.equal(versionsOf(path), '4.1.0 4.1.9 4.2.0')
  assert.deepEqual([path.riskyHops, path.alternatives, path.fewestHops], [0, 2, 2])
})

test('a known risk is avoided even where the way around it is longer, and the way through it is still counted', () => {
  const graph = sketchedGraph({ '4.1.0': [['4.2.0', 'A'], '4.1.1'], '4.1.1': ['4.1.2'], '4.1.2': ['4.2.0'] })
  const path = shortestUpdatePath(graph, { from: '4.1.0', to: '4.2.0' })
  assert.equal(versionsOf(path), '4.1.0 4.1.1 4.1.2 4.2.0')
  assert.deepEqual([path.riskyHops, path.fewestHops], [0, 1])
})

test('where every way has a risk, the path names what it takes: as few updates with risks as can be, then as few risks', () => {
  const graph = sketchedGraph({
    '4.1.0': [
      ['4.1.1', 'A'],
      ['4.1.2', 'A', 'B'],
      ['4.1.3', 'A'],
    ],
    '4.1.1': ['4.2.0'],
    '4.1.2': ['4.2.0'],
    '4.1.3': [['4.2.0', 'C']],
  })
  const path = shortestUpdatePath(graph, { from: '4.1.0', to: '4.2.0' })
  assert.equal(versionsOf(path), '4.1.0 4.1.1 4.2.0')
  assert.deepEqual(
    path.hops.map(({ risks }) => risks),
    [[risk('A')], []],
  )
  assert.deepEqual([path.riskyHops, path.alternatives], [1, 0])
})

test('circles end, also where nothing leads to the target', () => {
  const graph = sketchedGraph({
    '4.1.0': ['4.1.1'],
    '4.1.1': ['4.1.2', '4.1.0'],
    '4.1.2': ['4.1.0'],
    '4.1.3': ['4.1.0'],
  })
  assert.equal(versionsOf(shortestUpdatePath(graph, { from: '4.1.1', to: '4.1.0' })), '4.1.1 4.1.0')
  assert.throws(() => shortestUpdatePath(graph, { from: '4.1.0', to: '4.1.3' }), {
    code: 'UPDATE_PATH_UNKNOWN',
    message: 'no updates lead from 4.1.0 to 4.1.3: 4.1.0 leads to 4.1.1, 4.1.2, and nothing leads to 4.1.3',
  })
})

test('from a release to itself there is nothing to do', () => {
  const path = shortestUpdatePath(sketchedGraph({ '4.1.0': ['4.1.1'] }), { from: '4.1.0', to: '4.1.0' })
  assert.deepEqual([versionsOf(path), path.hops, path.alternatives, path.fewestHops], ['4.1.0', [], 0, 0])
})

test('without a path, what can be reached from the one end and what leads to the other is said', () => {
  const chain = ['4.1.0', '4.1.1', '4.1.2', '4.1.3', '4.1.4']
  const graph = sketchedGraph({
    ...Object.fromEntries(chain.map((one, index) => [one, chain.slice(index + 1)])),
    '4.2.0': ['4.2.1'],
  })
  assert.throws(() => shortestUpdatePath(graph, { from: '4.1.0', to: '4.2.1' }), {
    code: 'UPDATE_PATH_UNKNOWN',
    message:
      'no updates lead from 4.1.0 to 4.2.1: 4.1.0 leads to 4 releases from 4.1.1 to 4.1.4, and 4.2.1 is reached from 4.2.0',
    details: { from: '4.1.0', to: '4.2.1', reached: '4.1.0 4.1.1 4.1.2 4.1.3 4.1.4', leading: '4.2.0 4.2.1' },
  })
})

test('a release that is not there is named together with what is nearest to it; an architecture may be left out', () => {
  const graph = sketchedGraph({ '4.1.0': ['4.1.3'], '4.2.0+amd64': [] })
  assert.equal(versionsOf(shortestUpdatePath(graph, { from: '4.2.0', to: '4.2.0' })), '4.2.0+amd64')
  assert.throws(() => shortestUpdatePath(graph, { from: '4.1.2', to: '4.2.0' }), {
    code: 'RELEASE_UNKNOWN',
    message: 'the update graph has no release 4.1.2 (nearest here: 4.1.0 and 4.1.3)',
  })
  assert.throws(() => shortestUpdatePath(graph, { from: '4.1', to: '4.2.0' }), /"4\.1" is no version of a release/)
})

const sizeOf = 9
const randomGraph = fc
  .array(fc.tuple(fc.nat(sizeOf - 1), fc.nat(sizeOf - 1), fc.integer({ min: 0, max: 2 })), { maxLength: 30 })
  .map((edges): UpdateGraph => {
    const releases = Array.from({ length: sizeOf }, (_, index) => ({
      version: `4.1.${index}`,
      payload: 'p',
      metadata: {},
    }))
    const distinct = new Map(edges.filter(([from, to]) => from !== to).map((edge) => [`${edge[0]} ${edge[1]}`, edge]))
    const leaving = releases.map((_, place) =>
      [...distinct.values()].flatMap(([from, to, count]) =>
        from === place ? [{ to, risks: ['A', 'B'].slice(0, count).map(risk) }] : [],
      ),
    )
    return { releases, edges: leaving }
  })

/** Every way without a circle, the plain way. */
function allPaths(
  graph: UpdateGraph,
  from: number,
  to: number,
  seen: readonly number[] = [],
): readonly (readonly number[])[] {
  if (from === to) return [[to]]
  return (graph.edges[from] ?? []).flatMap((edge) =>
    seen.includes(edge.to) ? [] : allPaths(graph, edge.to, to, [...seen, from]).map((rest) => [from, ...rest]),
  )
}

/** Risky hops, hops, risks, and versions in descending order: smaller is better. */
function rank(graph: UpdateGraph, path: readonly number[]): number[] {
  const counts = path.slice(1).map((to, index) => {
    return graph.edges[path[index] ?? 0]?.find((edge) => edge.to === to)?.risks.length ?? 0
  })
  const risks = counts.reduce((sum, count) => sum + count, 0)
  return [counts.filter((count) => count > 0).length, path.length - 1, risks, ...path.map((place) => -place)]
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}

test('in any graph the path is the best of all that there are, and as many as it are counted', () => {
  fc.assert(
    fc.property(randomGraph, fc.nat(sizeOf - 1), fc.nat(sizeOf - 1), (graph, from, to) => {
      const paths = allPaths(graph, from, to).toSorted((a, b) => compareRanks(rank(graph, a), rank(graph, b)))
      const ends = { from: `4.1.${from}`, to: `4.1.${to}` }
      const [best] = paths
      if (!best) {
        assert.throws(() => shortestUpdatePath(graph, ends), { code: 'UPDATE_PATH_UNKNOWN' })
        return
      }
      const path = shortestUpdatePath(graph, ends)
      assert.equal(versionsOf(path), best.map((place) => `4.1.${place}`).join(' '))
      const cost = rank(graph, best).slice(0, 3)
      const equal = paths.filter((one) => compareRanks(rank(graph, one).slice(0, 3), cost) === 0)
      assert.equal(path.alternatives, equal.length - 1)
      assert.equal(path.fewestHops, Math.min(...paths.map((one) => one.length - 1)))
    }),
    { numRuns: 300 },
  )
})

/** Breadth first over the JSON itself; only over edges that no condition names. */
function plainDistance(bytes: Buffer, from: string, to: string): number | undefined {
  const { nodes, edges, conditionalEdges = [] } = JSON.parse(bytes.toString())
  const risky = new Set<string>()
  for (const one of conditionalEdges) for (const edge of one.edges) risky.add(`${edge.from} ${edge.to}`)
  const next = new Map<string, string[]>()
  for (const [a, b] of edges) {
    const [first, second] = [nodes[a].version, nodes[b].version]
    if (nodes[a].payload && nodes[b].payload && !risky.has(`${first} ${second}`))
      next.set(first, [...(next.get(first) ?? []), second])
  }
  const distances = new Map([[from, 0]])
  for (const [version, distance] of distances) {
    for (const one of next.get(version) ?? []) if (!distances.has(one)) distances.set(one, distance + 1)
  }
  return distances.get(to)
}

test('from 4.12.1 to the head of stable-4.13 the real graph has a path without a risk, as long as a plain search says', {
  skip: noGraphs,
}, () => {
  const graph = parseUpdateGraph(stable413(), 'stable-4.13')
  const path = shortestUpdatePath(graph, { from: '4.12.1', to: '4.13.43' })
  assert.equal(path.riskyHops, 0)
  assert.equal(path.hops.length, plainDistance(stable413(), '4.12.1', '4.13.43'))
  assert.equal(versionsOf(path), '4.12.1 4.12.58 4.13.43')
})

test('on every published graph each path is one that can be walked, and no plain search finds a shorter one without a risk', {
  skip: noGraphs,
}, () => {
  let count = 0
  for (const { name, bytes } of realAnswers()) {
    if (/cincinnatti|stable-4\.15/.test(name)) continue
    const graph = parseUpdateGraph(bytes, name)
    const sorted = graph.releases.map(({ version }) => version).toSorted(semver.compareBuild)
    const some = sorted.filter((_, index) => index % Math.ceil(sorted.length / 8) === 0)
    for (const from of some) {
      for (const to of some) {
        const distance = plainDistance(bytes, from, to)
        const path = pathIfAny(graph, from, to)
        assert.equal(path?.riskyHops === 0 ? path.hops.length : undefined, distance, `${name}: ${from} to ${to}`)
        if (path) assertWalkable(graph, path)
        count += 1
      }
    }
  }
  assert.ok(count > 200, `${count} pairs`)
})

function pathIfAny(graph: UpdateGraph, from: string, to: string): UpdatePath | undefined {
  try {
    return shortestUpdatePath(graph, { from, to })
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'UPDATE_PATH_UNKNOWN')
    return undefined
  }
}

function assertWalkable(graph: UpdateGraph, { releases, hops }: UpdatePath): void {
  assert.equal(hops.length, releases.length - 1)
  for (const [index, { from, to, risks }] of hops.entries()) {
    assert.deepEqual([from, to], [releases[index], releases[index + 1]])
    const edge = graph.edges[graph.releases.indexOf(from)]?.find((one) => graph.releases[one.to] === to)
    assert.deepEqual(edge?.risks, risks)
  }
}
