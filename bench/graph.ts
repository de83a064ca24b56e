/**
 * How long the search for an update path takes in a graph of 1,200 releases and 15,000 updates, a third of them with known
 * risks, and how long it takes to read such an answer.
 *
 * `node bench/graph.ts [SEED]`. The graph is made of the seed; circles are in it.
 */
import { chooseReleases } from '../src/openshift/graph/choose-releases.ts'
import { parseUpdateGraph, type UpdateGraph } from '../src/openshift/graph/update-graph.ts'
import { shortestUpdatePath } from '../src/openshift/graph/update-path.ts'
import { answerOf, risk } from '../testkit/update-graphs.ts'

const minors = 24
const patches = 50
const updates = 15_000
const searches = 200
const limitMs = 50

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Updates within a minor, to the next one, and now and then back. */
function madeGraph(random: () => number): UpdateGraph {
  const count = minors * patches
  const releases = Array.from({ length: count }, (_, index) => {
    const version = `4.${Math.floor(index / patches)}.${index % patches}`
    return { version, payload: `quay.io/openshift-release-dev/ocp-release@sha256:${index}`, metadata: {} }
  })
  const leaving = releases.map(() => new Map<number, number>())
  for (let made = 0; made < updates; ) {
    const from = Math.floor(random() * count)
    const reach = random() < 0.02 ? -20 : 2 * patches
    const to = from + Math.ceil(random() * reach)
    if (to === from || to < 0 || to >= count || leaving[from]?.has(to)) continue
    leaving[from]?.set(to, random() < 0.33 ? 1 + Math.floor(random() * 3) : 0)
    made += 1
  }
  const names = ['A', 'B', 'C'].map(risk)
  return {
    releases,
    edges: leaving.map((edges) => [...edges].map(([to, risks]) => ({ to, risks: names.slice(0, risks) }))),
  }
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)
  return `median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`
}

function timed(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

const seed = Number(process.argv[2] ?? 4)
const random = randomFrom(seed)
const graph = madeGraph(random)
const text = answerOf(graph)
const first = timed(() => shortestUpdatePath(graph, { from: '4.0.0', to: '4.23.49' }))
const paths = Array.from({ length: searches }, () => {
  const from = graph.releases[Math.floor((random() * graph.releases.length) / 4)]?.version ?? ''
  return timed(() => shortestUpdatePath(graph, { from, to: '4.23.49' }))
})
const reads = Array.from({ length: 20 }, () => timed(() => parseUpdateGraph(text, 'made graph')))
const request = { type: 'ocp', name: 'all', minVersion: '4.0.0', maxVersion: '4.23.49' } as const
const ranges = Array.from({ length: 20 }, () => timed(() => chooseReleases(graph, request)))
const { hops, riskyHops } = shortestUpdatePath(graph, { from: '4.0.0', to: '4.23.49' })
process.stdout.write(
  [
    `seed ${seed}: ${graph.releases.length} releases, ${graph.edges.flat().length} updates; 4.0.0 to 4.23.49: ${hops.length} updates, ${riskyHops} with risks`,
    `the first search of the process: ${first.toFixed(1)} ms`,
    `${searches} searches: ${spread(paths)} (limit ${limitMs} ms)`,
    `a range of all, with its risks: ${spread(ranges)}`,
    `an answer of ${(text.length / 2 ** 20).toFixed(1)} MiB is read: ${spread(reads)}`,
    '',
  ].join('\n'),
)
