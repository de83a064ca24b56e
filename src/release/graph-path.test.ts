import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { releaseNodes, type ServedGraph, startGraphServer } from '../../testkit/graph-server.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { chooseReleases } from '../openshift/graph/choose-releases.ts'
import { readRequestedGraph } from './graph-channels.ts'
import { GraphClient } from './graph-client.ts'
import { listMinors } from './graph-listing.ts'
import { findUpdatePath, type PathQuestion } from './graph-path.ts'

const graph: ServedGraph = {
  nodes: [
    ...releaseNodes(['4.16.3'], ['stable-4.16', 'candidate-4.16', 'stable-4.17', 'candidate-4.17']),
    ...releaseNodes(['4.17.10'], ['stable-4.17', 'candidate-4.17', 'stable-4.18', 'candidate-4.18']),
    ...releaseNodes(['4.18.1'], ['stable-4.18', 'candidate-4.18']),
    ...releaseNodes(['4.18.2'], ['candidate-4.18', 'fast-4.18']),
    ...releaseNodes(['4.20.1'], ['stable-4.20']),
  ],
  edges: [
    [0, 1],
    [1, 2],
    [1, 3],
    [2, 3],
  ],
}

async function scene(t: TestContext) {
  const server = await startGraphServer(t, { graphs: { amd64: graph } })
  const graphs = new GraphClient({ web: testWebClient(t).client, override: server.graphUrl })
  const asked = { graphs, architecture: 'amd64', signal: t.signal }
  const find = (question: Omit<PathQuestion, 'type'>) =>
    findUpdatePath({ type: 'ocp', ...question }, (request) => readRequestedGraph(request, asked))
  return { server, asked, find }
}

test('a path across minors is found in the stable channels between, and is the one that a mirror takes', async (t) => {
  const { asked, find } = await scene(t)
  const { channel, path, passedOver } = await find({ from: '4.16.3', to: '4.18.1' })
  const versions = path.releases.map(({ version }) => version)
  assert.deepEqual(
    { channel, versions, passedOver },
    { channel: 'stable-4.18', versions: ['4.16.3', '4.17.10', '4.18.1'], passedOver: [] },
  )
  const request = {
    type: 'ocp',
    name: channel,
    minVersion: '4.16.3',
    maxVersion: '4.18.1',
    shortestPath: true,
  } as const
  const { releases } = chooseReleases(await readRequestedGraph(request, asked), request)
  assert.deepEqual(
    releases.map(({ version }) => version),
    versions,
  )
})

test('a release that is not stable yet is looked for further on, and why is told', async (t) => {
  const { find } = await scene(t)
  const { channel, path, passedOver } = await find({ from: '4.17.10', to: '4.18.2' })
  assert.deepEqual([channel, path.hops.length], ['candidate-4.18', 1])
  assert.deepEqual(
    passedOver.map((one) => one.channel),
    ['stable-4.18', 'eus-4.18', 'fast-4.18'],
  )
  assert.match(passedOver[0]?.why ?? '', /4\.18\.2/)
  assert.match(passedOver[1]?.why ?? '', /knows no channel eus-4\.18/)
})

test('a channel that is named is the only one; without a way anywhere every channel says why', async (t) => {
  const { find } = await scene(t)
  await assert.rejects(find({ from: '4.17.10', to: '4.18.2', channel: 'stable-4.18' }), { code: 'RELEASE_UNKNOWN' })
  await assert.rejects(find({ from: '4.18.1', to: '4.20.1' }), {
    code: 'UPDATE_PATH_UNKNOWN',
    hint: /eus-4\.20: .*fast-4\.20: .*candidate-4\.20: /,
  })
  await assert.rejects(find({ from: '4.18.1', to: '4.17.10' }), { code: 'USAGE', message: /updates lead upwards only/ })
  await assert.rejects(find({ from: '4.18.1', to: 'latest' }), { code: 'USAGE', message: /"latest" is no version/ })
})

test('a channel beside the named one may be missing; the named one may not', async (t) => {
  const { asked } = await scene(t)
  const request = { type: 'ocp', name: 'stable-4.20', minVersion: '4.18.1' } as const
  const { releases } = await readRequestedGraph(request, asked)
  assert.deepEqual(
    releases.map(({ version }) => version),
    ['4.17.10', '4.18.1', '4.20.1'],
  )
  await assert.rejects(readRequestedGraph({ ...request, name: 'stable-4.19' }, asked), {
    code: 'GRAPH_CHANNEL_UNKNOWN',
  })
})

test('minor versions are found wherever a service begins, across a gap and into the next major', async (t) => {
  const nodes = ['4.20.0', '4.22.1', '5.0.0'].flatMap((version) =>
    releaseNodes([version], [`stable-${version.replace(/\.\d+$/, '')}`]),
  )
  const server = await startGraphServer(t, { graphs: { amd64: { nodes, edges: [] } } })
  const graphs = new GraphClient({ web: testWebClient(t).client, override: server.graphUrl })
  const minors = await listMinors({ graphs, architecture: 'amd64', signal: t.signal })
  assert.deepEqual(
    minors.map(({ version, last }) => [version, last]),
    [
      ['4.20', '4.20.0'],
      ['4.22', '4.22.1'],
      ['5.0', '5.0.0'],
    ],
  )
})

test('a service that gives one answer to every question is not asked for ever', async (t) => {
  const { server, asked } = await scene(t)
  server.routes.set('/api/upgrades_info/v1/graph', () => ({ body: JSON.stringify(graph) }))
  const minors = await listMinors(asked)
  assert.deepEqual(
    minors.map(({ version }) => version),
    ['4.16', '4.17', '4.18', '4.20'],
  )
})
