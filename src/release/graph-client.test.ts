import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { channelsKey, releaseNodes, type ServedGraph, startGraphServer } from '../../testkit/graph-server.ts'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { KnownError } from '../errors/known-error.ts'
import { parseUpdateGraph } from '../openshift/graph/update-graph.ts'
import { GraphClient } from './graph-client.ts'

const graph: ServedGraph = {
  nodes: [
    ...releaseNodes(['4.18.0', '4.18.9'], ['candidate-4.18', 'fast-4.18', 'stable-4.18']),
    ...releaseNodes(['4.18.10'], ['candidate-4.18', 'eus-4.18', 'candidate-4.19']),
  ],
  edges: [
    [0, 1],
    [1, 2],
  ],
}

async function setUp(t: TestContext) {
  const server = await startGraphServer(t, { graphs: { amd64: graph } })
  const { client: web } = testWebClient(t)
  const client = new GraphClient({ web, override: server.graphUrl })
  const read = (channel = 'stable-4.18', architecture = 'amd64') =>
    client.readAnswer({ type: 'ocp', channel, architecture }, t.signal)
  return { server, web, read }
}

test('a channel is asked for as the service wants it, and once however often it is needed', async (t) => {
  const { server, read } = await setUp(t)
  const answers = await Promise.all([read(), read()])
  await read()
  const versions = parseUpdateGraph(answers[0], 'answer').releases.map(({ version }) => version)
  assert.deepEqual(versions, ['4.18.0', '4.18.9'])
  assert.equal(server.requests.length, 1)
  const { searchParams } = new URL(server.requests[0]?.path ?? '', server.url)
  assert.deepEqual([...searchParams.keys()], ['arch', 'channel', 'id'])
  assert.match(searchParams.get('id') ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(server.requests[0]?.headers.accept, 'application/json')
})

test('an unknown channel is an error that names the channels of that version', async (t) => {
  const { read } = await setUp(t)
  const error = await read('stabel-4.18').catch((caught: unknown) => caught)
  assert.ok(error instanceof KnownError)
  assert.equal(error.code, 'GRAPH_CHANNEL_UNKNOWN')
  assert.equal(error.message, 'the update service knows no channel stabel-4.18 for amd64')
  assert.equal(error.hint, 'Name one that there is: candidate-4.18, eus-4.18, fast-4.18, stable-4.18.')
  await assert.rejects(read('stable-4.99'), { code: 'GRAPH_CHANNEL_UNKNOWN', message: /no channel stable-4\.99/ })
  await assert.rejects(read('stable-4.18', 's390x'), { code: 'GRAPH_CHANNEL_UNKNOWN', message: /for s390x$/ })
})

test('a 503 that passes goes unnoticed; one that stays is told', async (t) => {
  const { server, read } = await setUp(t)
  server.fault({ times: 1, status: 503 })
  await read()
  server.fault({ status: 503, body: 'no graph yet' })
  await assert.rejects(read('fast-4.18'), {
    code: 'GRAPH_UNAVAILABLE',
    message: /^update graph of fast-4\.18 \(amd64\): GET .* answered 503: no graph yet \(attempt 6\)$/,
  })
})

test('a failure is not remembered: the next question is asked anew', async (t) => {
  const { server, read } = await setUp(t)
  server.fault({ times: 1, status: 403, body: 'forbidden' })
  await assert.rejects(read(), { code: 'GRAPH_UNAVAILABLE', message: /answered 403: forbidden/ })
  await read()
})

test('what the service says about a bad question is in the message', async (t) => {
  const { read } = await setUp(t)
  await assert.rejects(read('no_such channel'), {
    code: 'GRAPH_UNAVAILABLE',
    message: /answered 400: invalid_params: invalid channel name: no_such channel/,
  })
})

test('an address without an update service, and one without anything, each say so', async (t) => {
  const { server, web } = await setUp(t)
  const query = { type: 'ocp', channel: 'stable-4.18', architecture: 'amd64' } as const
  const elsewhere = new GraphClient({ web, override: `${server.url}/elsewhere` })
  await assert.rejects(elsewhere.readAnswer(query, t.signal), {
    code: 'GRAPH_UNAVAILABLE',
    message: /there is no update service at http:.*\/elsewhere$/,
  })
  await server.close()
  const gone = new GraphClient({ web, override: server.graphUrl })
  await assert.rejects(gone.readAnswer(query, t.signal), {
    code: 'GRAPH_UNAVAILABLE',
    message: /connection refused/,
    hint: /https_proxy.*UPDATE_URL_OVERRIDE/,
  })
  assert.throws(() => new GraphClient({ web, override: 'osus.example' }), { code: 'USAGE' })
})

test('a page that is no JSON, an answer cut short in the service and an edge to nowhere are told apart', async (t) => {
  const { server, read } = await setUp(t)
  server.fault({ times: 1, change: () => Buffer.from('<html>Please log in</html>') })
  await assert.rejects(read(), { code: 'GRAPH_INVALID', message: /from http:.*is not JSON, but begins with "<html>/ })
  server.fault({ times: 1, change: (body) => body.subarray(0, 200) })
  await assert.rejects(read('fast-4.18'), { code: 'GRAPH_INVALID', message: /cut short after 200 bytes/ })
  const outside = Buffer.from(JSON.stringify({ ...graph, edges: [[0, 7]] }))
  server.fault({ times: 1, change: () => outside })
  await assert.rejects(read('candidate-4.18'), {
    code: 'GRAPH_INVALID',
    message: /names node 7, but there are 3 nodes/,
  })
})

test('an answer that is cut on the way is asked for again', async (t) => {
  const { server, read } = await setUp(t)
  server.fault({ times: 2, cutAfter: 100 })
  assert.equal(parseUpdateGraph(await read(), 'answer').releases.length, 2)
  assert.equal(server.requests.length, 3)
})

test('an answer on disk stands for the service', async (t) => {
  const { web } = await setUp(t)
  const url = pathToFileURL(join(await tempDir(t), 'answer.json'))
  await writeFile(url, JSON.stringify({ nodes: graph.nodes, edges: graph.edges }))
  const client = new GraphClient({ web, override: url.href })
  const answer = await client.readAnswer({ type: 'okd', channel: 'stable-4', architecture: 'amd64' }, t.signal)
  assert.equal(
    parseUpdateGraph(answer, 'answer').releases[2]?.metadata[channelsKey],
    'candidate-4.18,eus-4.18,candidate-4.19',
  )
})

test('without an override the public services are asked, each for its own releases', async (t) => {
  // A proxy that lets nobody through: nothing leaves this machine.
  const proxy = await startScriptedProxy(t, 'user:fence')
  const { client: web } = testWebClient(t, { proxies: { https: new URL(proxy.url), noProxy: '' } })
  const client = new GraphClient({ web })
  for (const type of ['ocp', 'okd'] as const) {
    const answer = client.readAnswer({ type, channel: 'stable-4.18', architecture: 'amd64' }, t.signal)
    await assert.rejects(answer, { code: 'GRAPH_UNAVAILABLE', message: /answered 407 to CONNECT/ })
  }
  assert.deepEqual(
    [...new Set(proxy.requests)],
    ['CONNECT api.openshift.com:443', 'CONNECT origin-release.ci.openshift.org:443'],
  )
})
