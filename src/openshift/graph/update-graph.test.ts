import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { noGraphs, realAnswers, stable413 } from '../../../testkit/real-graphs.ts'
import { answerOf, risk, sketchedGraph } from '../../../testkit/update-graphs.ts'
import { channelsOf, mergeGraphs, parseUpdateGraph, type UpdateGraph } from './update-graph.ts'

const payload = 'quay.io/a/b@sha256:0'
const node = (version: string) => ({ version, payload })
const nodes = [node('4.1.0'), node('4.1.1'), node('4.1.2')]
const risks = [{ url: 'https://a', name: 'A', message: 'It can happen.', matchingRules: [{ type: 'Always' }] }]

function parsed(document: unknown): UpdateGraph {
  return parseUpdateGraph(typeof document === 'string' ? document : JSON.stringify(document), 'https://graph.lab/')
}

/** `4.1.0 > 4.1.1: A,B` */
function edgesOf(graph: UpdateGraph): string[] {
  return graph.edges.flatMap((edges, from) =>
    edges.map(({ to, risks }) => {
      const names = risks.map(({ name }) => name).join()
      return `${graph.releases[from]?.version} > ${graph.releases[to]?.version}${names && `: ${names}`}`
    }),
  )
}

test('an answer of the service becomes releases, edges and risks', () => {
  const conditional = { edges: [{ from: '4.1.0', to: '4.1.2' }], risks }
  const graph = parsed({ version: 1, nodes, edges: [[0, 1]], conditionalEdges: [conditional] })
  assert.deepEqual(graph.releases[0], { version: '4.1.0', payload, metadata: {} })
  assert.deepEqual(edgesOf(graph), ['4.1.0 > 4.1.1', '4.1.0 > 4.1.2: A'])
  assert.deepEqual(graph.edges[0]?.[1]?.risks, [
    { name: 'A', message: 'It can happen.', url: 'https://a', everyCluster: true },
  ])
})

test('an update that is said with and without a risk has the risk, in any order and however often', () => {
  const conditional = (name: string) => ({ edges: [{ from: '4.1.0', to: '4.1.1' }], risks: [{ ...risks[0], name }] })
  const conditionalEdges = [conditional('A'), conditional('B'), conditional('A')]
  assert.deepEqual(
    edgesOf(
      parsed({
        nodes,
        edges: [
          [0, 1],
          [0, 1],
        ],
        conditionalEdges,
      }),
    ),
    ['4.1.0 > 4.1.1: A,B'],
  )
  const [plain, risky] = [parsed({ nodes, edges: [[0, 1]] }), parsed({ nodes, edges: [], conditionalEdges })]
  assert.deepEqual(edgesOf(mergeGraphs([plain, risky])), ['4.1.0 > 4.1.1: A,B'])
  assert.deepEqual(edgesOf(mergeGraphs([risky, plain])), ['4.1.0 > 4.1.1: A,B'])
})

test('circles are taken as they are', () => {
  const graph = parsed({
    nodes,
    edges: [
      [0, 1],
      [1, 2],
      [2, 0],
    ],
  })
  assert.deepEqual(edgesOf(graph), ['4.1.0 > 4.1.1', '4.1.1 > 4.1.2', '4.1.2 > 4.1.0'])
})

test('releases without an image, and edges that lead nowhere in this channel, are left out', () => {
  const some = [node('4.1.0'), { version: '4.0.9' }, node('4.1.1')]
  const edges = [
    { from: '4.1.0', to: '4.1.1' },
    { from: '4.0.8', to: '4.1.1' },
    { from: '', to: '4.1.1' },
  ]
  const graph = parsed({
    nodes: some,
    edges: [
      [1, 0],
      [1, 2],
    ],
    conditionalEdges: [{ edges, risks }],
  })
  assert.deepEqual(
    graph.releases.map(({ version }) => version),
    ['4.1.0', '4.1.1'],
  )
  assert.deepEqual(edgesOf(graph), ['4.1.0 > 4.1.1: A'])
})

test('what is empty may be null', () => {
  const answer = { version: 1, nodes: [{ ...node('4.1.0'), metadata: null }], edges: null, conditionalEdges: null }
  assert.deepEqual(parsed(answer), { releases: [{ ...node('4.1.0'), metadata: {} }], edges: [[]] })
})

const faults: Readonly<Record<string, readonly [unknown, string]>> = {
  'an empty answer': ['', 'it is empty'],
  'a page of a proxy': ['<html>Log in</html>', 'it is not JSON, but begins with "<html>Log in</html>"'],
  'JSON with something behind it': ['{"nodes": []} x', 'it is not JSON, but begins with "{\\"nodes\\": []} x"'],
  'a cut answer': ['{"nodes": [{"version": "4.1', 'it is cut short after 27 bytes'],
  'a refusal of the service': [
    { kind: 'missing_params', value: 'mandatory client parameters missing: channel' },
    'the service refuses: missing_params: mandatory client parameters missing: channel',
  ],
  'other JSON': [{}, 'nodes: Invalid input: expected array, received undefined'],
  'no object': ['[]', 'the answer: Invalid input: expected object, received array'],
  'an edge out of range': [
    {
      nodes,
      edges: [
        [0, 1],
        [1, 3],
      ],
    },
    'edge 1 names node 3, but there are 3 nodes',
  ],
  'an edge below zero': [{ nodes, edges: [[-1, 0]] }, 'edges.0.0: Too small: expected number to be >=0'],
  'an edge of one': [{ nodes, edges: [[1]] }, 'edges.0: Too small: expected array to have >=2 items'],
  'an edge to itself': [{ nodes, edges: [[1, 1]] }, 'edge 0 leads from 4.1.1 to itself'],
  'a conditional edge to itself': [
    { nodes, edges: [], conditionalEdges: [{ edges: [{ from: '4.1.1', to: '4.1.1' }], risks }] },
    'conditional edges 0 lead from 4.1.1 to itself',
  ],
  'a condition without a risk': [
    { nodes, edges: [], conditionalEdges: [{ edges: [], risks: [] }] },
    'conditionalEdges.0.risks: Too small: expected array to have >=1 items',
  ],
  'one version twice': [{ nodes: [...nodes, node('4.1.1')], edges: [] }, 'nodes 1 and 3 both have the version 4.1.1'],
  'a version that is none': [
    { nodes: [node('4.18')], edges: [] },
    'node 0 has the version "4.18", which is no semantic version',
  ],
}

for (const [name, [document, why]] of Object.entries(faults)) {
  test(`${name} has a message of its own`, () => {
    assert.throws(() => parsed(document), {
      code: 'GRAPH_INVALID',
      message: `https://graph.lab/ is no update graph: ${why}`,
    })
  })
}

test('bytes that are no text are refused', () => {
  assert.throws(() => parseUpdateGraph(Uint8Array.of(0x7b, 0xff, 0x7d), 'x'), /it is not UTF-8/)
})

test('an answer that is cut anywhere is said to be cut', () => {
  const text = answerOf(sketchedGraph({ '4.1.0': ['4.1.1', ['4.1.2', 'A "quoted" {name}']], '4.1.1': ['4.1.2'] }))
  assert.equal(parsed(text).releases.length, 3)
  for (let length = 1; length < text.length; length += 1) {
    assert.throws(() => parsed(text.slice(0, length)), /is cut short after \d+ bytes$/, text.slice(0, length))
  }
})

test('whatever is answered is read or refused by name', () => {
  const value = fc.letrec((tie) => ({
    part: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(0, -1, 1.5, '4.1.0', '__proto__', null, 'nodes'),
      fc.array(tie('part'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom('nodes', 'edges', 'conditionalEdges', 'version', 'payload', 'risks', '__proto__'),
        tie('part'),
      ),
    ),
  })).part
  fc.assert(
    fc.property(value, (document) => {
      try {
        parsed(JSON.stringify(document) ?? '')
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'GRAPH_INVALID', String(error))
      }
    }),
  )
})

test('answers of several channels become one graph, with the channels of all', () => {
  const first = sketchedGraph({ '4.1.0': ['4.1.1'] }, { channels: { '4.1.1': ['a-4.1'] } })
  const second = sketchedGraph({ '4.1.1': [['4.2.0', 'A']] }, { channels: { '4.1.1': ['a-4.2'] } })
  const graph = mergeGraphs([first, second])
  assert.deepEqual(edgesOf(graph), ['4.1.0 > 4.1.1', '4.1.1 > 4.2.0: A'])
  assert.deepEqual(graph.releases.map(channelsOf), [undefined, ['a-4.1', 'a-4.2'], undefined])
  assert.deepEqual(graph.edges[1]?.[0]?.risks, [risk('A')])
})

test('answers that name different images for one version are not merged', () => {
  const other = parsed({ nodes: [{ version: '4.1.0', payload: 'quay.io/a/b@sha256:1' }], edges: [] })
  assert.throws(() => mergeGraphs([parsed({ nodes, edges: [] }), other]), {
    code: 'GRAPH_INVALID',
    message: /disagree: 4\.1\.0 is quay\.io\/a\/b@sha256:0 in one, quay\.io\/a\/b@sha256:1 in the other/,
  })
})

test('every published answer is read with all its releases and updates, or refused for what is wrong with it', {
  skip: noGraphs,
}, () => {
  const refusals: Readonly<Record<string, RegExp>> = {
    'openshift-oc-mirror__v2-internal-e2e-templates-release_templates-cincinnati_stable-4.15.json':
      /is not JSON, but begins with "\{\{ range/,
    'openshift-oc-mirror__test-e2e-graph-cincinnatti.json': /conditionalEdges\.0\.risks/,
    'cincinnatti.json': /conditionalEdges\.0\.risks/,
  }
  for (const { name, bytes } of realAnswers()) {
    const refusal = refusals[name]
    if (refusal) {
      assert.throws(() => parseUpdateGraph(bytes, name), refusal)
      continue
    }
    const graph = parseUpdateGraph(bytes, name)
    const document = JSON.parse(bytes.toString()) as RawAnswer
    const images = document.nodes.filter(({ payload }) => payload)
    assert.equal(graph.releases.length, images.length, name)
    assert.deepEqual(new Set(edgesOf(graph).map((edge) => edge.replace(/:.*/, ''))), pairsOf(document), name)
  }
})

interface RawAnswer {
  readonly nodes: readonly { readonly version: string; readonly payload?: string }[]
  readonly edges: readonly (readonly [number, number])[]
  readonly conditionalEdges?: readonly { readonly edges: readonly { readonly from: string; readonly to: string }[] }[]
}

function pairsOf({ nodes, edges, conditionalEdges = [] }: RawAnswer): Set<string> {
  const known = new Set(nodes.flatMap(({ version, payload }) => (payload ? [version] : [])))
  const plain = edges.map(([from, to]) => [nodes[from]?.version ?? '', nodes[to]?.version ?? ''] as const)
  const risky = conditionalEdges.flatMap((one) => one.edges.map(({ from, to }) => [from, to] as const))
  const pairs = [...plain, ...risky].filter(([from, to]) => known.has(from) && known.has(to))
  return new Set(pairs.map(([from, to]) => `${from} > ${to}`))
}

test('of the real answer for stable-4.13, updates that are said both with and without a risk are taken with it', {
  skip: noGraphs,
}, () => {
  const graph = parseUpdateGraph(stable413(), 'stable-4.13')
  const edges = graph.edges.flat()
  assert.deepEqual([graph.releases.length, edges.length], [98, 1171 + 2394 - 136])
  assert.equal(edges.filter(({ risks }) => risks.length > 0).length, 2394)
})
