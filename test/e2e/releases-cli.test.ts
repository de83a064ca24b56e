/** `list releases` and `release path`, as processes, against an update service on loopback. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { releaseNodes, type ServedGraph, startGraphServer } from '../../testkit/graph-server.ts'
import { runCli } from '../../testkit/run-cli.ts'

function inMinor(minor: string, patches: readonly string[], more: readonly string[] = []): ServedGraph['nodes'] {
  const own = ['candidate', 'fast', 'stable'].map((prefix) => `${prefix}-${minor}`)
  return releaseNodes(
    patches.map((patch) => `${minor}.${patch}`),
    [...own, ...more],
  )
}

/** 4.16 to 4.18, and a 4.19 that has candidates only. */
const graph: ServedGraph = {
  nodes: [
    ...inMinor('4.16', ['3', '9'], ['eus-4.16', 'candidate-4.17', 'stable-4.17', 'eus-4.18']),
    ...inMinor('4.17', ['2', '10'], ['candidate-4.18', 'stable-4.18', 'eus-4.18']),
    ...inMinor('4.18', ['9', '1', '10'], ['eus-4.18']),
    ...releaseNodes(['4.19.0-rc.1'], ['candidate-4.19']),
  ],
  edges: [
    [0, 1],
    [0, 3],
    [1, 3],
    [2, 3],
    [3, 4],
    [5, 4],
    [4, 6],
  ],
  conditionalEdges: [
    {
      edges: [{ from: '4.17.10', to: '4.18.1' }],
      risks: [
        {
          name: 'SlowBoot',
          message: 'Nodes boot slowly.',
          url: 'https://issues.invalid/1',
          matchingRules: [{ type: 'Always' }],
        },
      ],
    },
  ],
}

const arm: ServedGraph = { nodes: inMinor('4.18', ['1']), edges: [] }

async function scene(t: TestContext) {
  const server = await startGraphServer(t, { graphs: { amd64: graph, arm64: arm } })
  const env = { UPDATE_URL_OVERRIDE: server.graphUrl }
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runCli(args, { env: { ...env, ...more } })
  const list = (...args: readonly string[]) => run(['list', 'releases', ...args])
  return { server, env, run, list }
}

test('list releases names the minor versions, also one that has candidates only, and knows none by heart', async (t) => {
  const { list } = await scene(t)
  const { status, stdout, stderr } = await list()
  assert.equal(status, 0, stderr)
  assert.equal(
    stdout,
    'Available OpenShift Container Platform release versions:\n  4.16\n  4.17\n  4.18\n  4.19  (candidate-4.19 only, up to 4.19.0-rc.1)\n',
  )
  assert.match(stderr, /next: sallyport list releases --version 4\.18 --channels/)
  const { versions } = JSON.parse((await list('--json')).stdout)
  assert.deepEqual(versions[1], { version: '4.17', channel: 'stable-4.17', last: '4.17.10' })
})

test('list releases --channels names the channels that releases of a version are in', async (t) => {
  const { list } = await scene(t)
  const { status, stdout } = await list('--version', '4.17', '--channels')
  assert.equal(status, 0)
  assert.equal(
    stdout,
    [
      'Listing channels for version 4.17:',
      '',
      'candidate-4.17  2 releases of 4.17: 4.17.2 to 4.17.10',
      'candidate-4.18  2 releases of 4.17: 4.17.2 to 4.17.10',
      'eus-4.18        2 releases of 4.17: 4.17.2 to 4.17.10',
      'fast-4.17       2 releases of 4.17: 4.17.2 to 4.17.10',
      'stable-4.17     2 releases of 4.17: 4.17.2 to 4.17.10',
      'stable-4.18     2 releases of 4.17: 4.17.2 to 4.17.10',
      '',
    ].join('\n'),
  )
})

test('list releases --channel lists by version, for every architecture asked for, and says which has none', async (t) => {
  const { list } = await scene(t)
  const { status, stdout, stderr } = await list('--channel', 'fast-4.18', '--filter-by-archs', 'amd64,arm64,s390x')
  assert.equal(status, 1)
  assert.equal(
    stdout,
    'Channel: fast-4.18\nArchitecture: amd64\n4.18.1\n4.18.9\n4.18.10\n\nChannel: fast-4.18\nArchitecture: arm64\n4.18.1\n',
  )
  assert.match(stderr, /knows no channel fast-4\.18 for s390x/)
})

test('list releases --version alone means its stable channel; --json tells the images too; VERSION_FILTER is heard', async (t) => {
  const { run } = await scene(t)
  const { stdout, status } = await run(['list', 'releases', '--version=4.18', '--json'], { VERSION_FILTER: '^4\\.18' })
  assert.equal(status, 0)
  const { channel, architectures } = JSON.parse(stdout)
  assert.equal(channel, 'stable-4.18')
  assert.deepEqual(
    architectures[0].releases.map(({ version }: { version: string }) => version),
    ['4.18.1', '4.18.9', '4.18.10'],
  )
  assert.match(architectures[0].releases[0].payload, /ocp-release@sha256:/)
})

test('list releases refuses what makes no sense, and names the channels that there are', async (t) => {
  const { list } = await scene(t)
  const lonely = await list('--channels')
  assert.equal(lonely.status, 64)
  assert.match(lonely.stderr, /--channels needs a --version/)
  const unknown = await list('--channel', 'stabel-4.18')
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /no channel stabel-4\.18[\s\S]*candidate-4\.18, eus-4\.18, fast-4\.18, stable-4\.18/)
  const badArchitecture = await list('--channel', 'stable-4.18', '--filter-by-archs', 'sparc')
  assert.equal(badArchitecture.status, 64)
})
