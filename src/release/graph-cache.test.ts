import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { releaseNodes } from '../../testkit/graph-server.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { parseUpdateGraph } from '../openshift/graph/update-graph.ts'
import { graphCacheDirectory, keptGraphs, withGraphCache } from './graph-cache.ts'
import { canonicalAnswer, documentName, graphsFromDocuments, recordingGraphs } from './graph-document.ts'
import type { GraphQuery, GraphSource } from './graph-source.ts'

const query: GraphQuery = { type: 'ocp', channel: 'stable-4.18', architecture: 'amd64' }
const nodes = releaseNodes(['4.18.0', '4.18.9', '4.18.10'], ['stable-4.18'])
const conditionalEdges = [
  { edges: [{ from: '4.18.9', to: '4.18.10' }], risks: [{ name: 'Two', message: 'two', url: 'https://two.invalid' }] },
  { edges: [{ from: '4.18.0', to: '4.18.10' }], risks: [{ name: 'One', message: 'one', url: 'https://one.invalid' }] },
]
const answer = Buffer.from(JSON.stringify({ version: 1, nodes, edges: [[0, 1]], conditionalEdges }))

function answering(answers: readonly (Uint8Array | KnownError)[]): GraphSource {
  const left = [...answers]
  return {
    async readAnswer() {
      const next = left.shift()
      if (next instanceof Uint8Array) return next
      throw next
    },
  }
}

const away = new KnownError('GRAPH_UNAVAILABLE', 'connection refused')

async function setUp(t: TestContext, answers: readonly (Uint8Array | KnownError)[]) {
  const directory = graphCacheDirectory(await tempDir(t))
  const clock = new FakeClock()
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  return { directory, clock, findings, source: withGraphCache(answering(answers), { directory, clock, report }) }
}

test('answers are kept where oc-mirror keeps them, and stand in while the service is out of reach, with their age', async (t) => {
  const { directory, clock, findings, source } = await setUp(t, [answer, away])
  const first = await source.readAnswer(query, t.signal)
  assert.deepEqual(await readdir(directory), ['amd64-stable-4.18.json'])
  assert.match(directory, /hold-release\/cincinnati-graph-data$/)
  const path = join(directory, 'amd64-stable-4.18.json')
  const threeDaysAgo = new Date(clock.now() - 3 * 86_400_000)
  await utimes(path, threeDaysAgo, threeDaysAgo)
  assert.deepEqual(findings, [])
  assert.deepEqual(await source.readAnswer(query, t.signal), first)
  assert.deepEqual(
    findings.map(({ id, severity, summary, evidence }) => ({ id, severity, summary, evidence })),
    [
      {
        id: 'release.graph-from-cache',
        severity: 'warning',
        summary:
          'the update graph of stable-4.18 (amd64) is the one kept 3 days ago, because the update service is out of reach',
        evidence: 'connection refused',
      },
    ],
  )
})

test('nothing stands in for an answer that was never kept, and nothing broken is kept', async (t) => {
  const { directory, source } = await setUp(t, [away, Buffer.from('{"nodes":[')])
  await assert.rejects(source.readAnswer(query, t.signal), away)
  await assert.rejects(source.readAnswer(query, t.signal), { code: 'GRAPH_INVALID' })
  assert.equal(existsSync(directory), false)
})

test('a kept answer does not hide that the channel is gone', async (t) => {
  const unknown = new KnownError('GRAPH_CHANNEL_UNKNOWN', 'no channel')
  const { source, findings } = await setUp(t, [answer, unknown])
  await source.readAnswer(query, t.signal)
  await assert.rejects(source.readAnswer(query, t.signal), unknown)
  assert.deepEqual(findings, [])
})

test('that a channel was unknown is known without the service too', async (t) => {
  const unknown = new KnownError('GRAPH_CHANNEL_UNKNOWN', 'no channel')
  const { directory, source } = await setUp(t, [unknown, away])
  await assert.rejects(source.readAnswer(query, t.signal), unknown)
  const known = { code: 'GRAPH_CHANNEL_UNKNOWN', message: /knew no channel stable-4\.18 for amd64/ }
  await assert.rejects(source.readAnswer(query, t.signal), known)
  await assert.rejects(keptGraphs(directory).readAnswer(query, t.signal), known)
})

test('kept answers serve without a network, whoever wrote them', async (t) => {
  const directory = join(await tempDir(t), 'cincinnati-graph-data')
  await assert.rejects(keptGraphs(directory).readAnswer(query, t.signal), {
    code: 'GRAPH_CHANNEL_UNKNOWN',
    message: /there is no .*amd64-stable-4\.18\.json/,
  })
  await mkdir(directory)
  await writeFile(join(directory, 'amd64-stable-4.18.json'), answer)
  assert.deepEqual(Buffer.from(await keptGraphs(directory).readAnswer(query, t.signal)), answer)
})

test('the same graph in another order is the same bytes', () => {
  const shuffled = {
    conditionalEdges: conditionalEdges.toReversed(),
    // 4.18.0 to 4.18.9, as in the other.
    edges: [[1, 0]],
    nodes: [nodes[1], nodes[0], nodes[2]].map((node) => ({
      metadata: node?.metadata,
      payload: node?.payload,
      version: node?.version,
    })),
    version: 1,
  }
  const canonical = canonicalAnswer(answer, 'answer')
  assert.deepEqual(canonicalAnswer(Buffer.from(JSON.stringify(shuffled)), 'answer'), canonical)
  assert.deepEqual(canonicalAnswer(canonical, 'answer'), canonical)
  const byVersion = (bytes: Uint8Array) => {
    const { releases, edges } = parseUpdateGraph(bytes, 'answer')
    const name = (index: number) => releases[index]?.version
    const said = edges.flatMap((list, from) =>
      list.map(({ to, risks }) => `${name(from)} ${name(to)} ${risks.map((risk) => risk.name)}`),
    )
    return { releases: releases.map(({ version }) => version).toSorted(), edges: said.toSorted() }
  }
  assert.deepEqual(byVersion(canonical), byVersion(answer))
})

test('a real answer keeps its meaning in the fixed order', async (t) => {
  const path = new URL('../../../shared/data/mirror/oc-mirror/graph/amd64-stable-4.13.json', import.meta.url)
  if (!existsSync(path)) return t.skip('the answer of stable-4.13 is not there')
  const real = await readFile(path)
  const edgesOf = (bytes: Uint8Array) => {
    const { releases, edges } = parseUpdateGraph(bytes, 'answer')
    return edges
      .flatMap((list, from) =>
        list.map(({ to, risks }) => [releases[from]?.version, releases[to]?.version, risks.length]),
      )
      .map(String)
      .toSorted()
  }
  assert.deepEqual(edgesOf(canonicalAnswer(real, 'answer')), edgesOf(real))
})

test('what was answered travels in an archive, and answers there', async (t) => {
  const recording = recordingGraphs(answering([answer]))
  const given = await recording.readAnswer(query, t.signal)
  const documents = recording.documents()
  assert.deepEqual([...documents.keys()], ['graph/ocp-stable-4.18-amd64.json'])
  assert.equal(documentName(query), 'graph/ocp-stable-4.18-amd64.json')
  const carried = graphsFromDocuments(documents)
  assert.deepEqual(await carried.readAnswer(query, t.signal), given)
  await assert.rejects(carried.readAnswer({ ...query, channel: 'eus-4.18' }, t.signal), {
    code: 'GRAPH_CHANNEL_UNKNOWN',
    message: 'the archive carries no update graph of eus-4.18 (amd64)',
  })
})
