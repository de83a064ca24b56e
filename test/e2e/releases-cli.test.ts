/** `list releases` and `release path`, as processes, against an update service on loopback. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testCertificate } from '../../testkit/certificates.ts'
import { releaseNodes, type ServedGraph, startGraphServer } from '../../testkit/graph-server.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { blobsOfContent, writeRegistriesConf } from '../../testkit/upstream.ts'

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

test('release path draws the updates, takes no risk where there is a way around, and says how to mirror them', async (t) => {
  const { run, server } = await scene(t)
  const { status, stdout, stderr } = await run(['release', 'path', '--from', '4.16.3', '--to', '4.18.10'])
  assert.equal(status, 0, stderr)
  assert.equal(
    stdout,
    `channel stable-4.18, amd64

● 4.16.3
│  minor update 4.16 to 4.17, in stable-4.17; eus-4.18; candidate-4.17
▼
● 4.17.10
│  minor update 4.17 to 4.18, in stable-4.18
▼
● 4.18.9
│  in stable-4.18
▼
● 4.18.10

3 updates, no known risk.

To mirror this path:

kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v2alpha1
mirror:
  platform:
    channels:
      - name: stable-4.18
        minVersion: 4.16.3
        maxVersion: 4.18.10
        shortestPath: true
`,
  )
  const file = join(await tempDir(t), 'isc.yaml')
  await writeFile(file, stdout.slice(stdout.indexOf('kind:')))
  const checked = await run(['config', 'check', file])
  assert.equal(checked.status, 0, checked.stdout + checked.stderr)
  const asked = server.requests.map(({ path }) => new URL(path, server.url).searchParams.get('channel'))
  assert.deepEqual(asked.toSorted(), ['stable-4.16', 'stable-4.17', 'stable-4.18'])
})

test('release path tells the risk that cannot be avoided, and --json tells it with its place', async (t) => {
  const { run } = await scene(t)
  const question = ['release', 'path', '--from', '4.17.10', '--to', '4.18.1', '--channel', 'eus-4.18']
  const { stdout } = await run(question)
  assert.match(stdout, /⚠ SlowBoot \(every cluster\)\n│ +Nodes boot slowly\.\n│ +https:\/\/issues\.invalid\/1/)
  assert.match(stdout, /1 known risk taken/)
  const { hops, channel, riskyHops } = JSON.parse((await run([...question, '--json'])).stdout)
  assert.deepEqual([channel, riskyHops, hops.length], ['eus-4.18', 1, 1])
  assert.equal(hops[0].risks[0].name, 'SlowBoot')
})

test('release path works without a network: from a file, from a directory, from a workspace', async (t) => {
  const { run } = await scene(t)
  const root = await tempDir(t)
  const kept = join(root, 'working-dir', 'hold-release', 'cincinnati-graph-data')
  await mkdir(kept, { recursive: true })
  const file = join(kept, 'amd64-stable-4.18.json')
  await writeFile(file, JSON.stringify(graph))
  const nowhere = { UPDATE_URL_OVERRIDE: 'http://127.0.0.1:9/' }
  for (const place of [
    ['--graph', file],
    ['--graph-data', kept],
    ['--workspace', root],
  ]) {
    const found = await run(['release', 'path', '--from', '4.17.10', '--to', '4.18.9', ...place], nowhere)
    assert.equal(found.status, 0, found.stderr)
    assert.match(found.stdout, /● 4\.17\.10\n[\s\S]*● 4\.18\.9\n\n1 update, no known risk/)
  }
  const absent = await run(
    ['release', 'path', '--from', '4.18.9', '--to', '4.19.0-rc.1', '--graph-data', kept],
    nowhere,
  )
  assert.equal(absent.status, 1)
  assert.match(absent.stderr, /update graph of stable-4\.19 \(amd64\): there is no .*amd64-stable-4\.19\.json/)
  const both = await run([
    'release',
    'path',
    '--from',
    '4.17.10',
    '--to',
    '4.18.9',
    '--graph',
    file,
    '--workspace',
    root,
  ])
  assert.equal(both.status, 64)
})

test('release path says what is missing: the service, a flag, the way', async (t) => {
  const { run, server } = await scene(t)
  const wrongWay = await run(['release', 'path', '--from', '4.18.9', '--to', '4.16.3'])
  assert.equal(wrongWay.status, 64)
  assert.match(wrongWay.stderr, /updates lead upwards only/)
  assert.equal((await run(['release', 'path', '--from', '4.18.9'])).status, 64)
  await server.close()
  const away = await run(['release', 'path', '--from', '4.16.3', '--to', '4.18.9', '--retry-times', '0'])
  assert.equal(away.status, 1)
  assert.match(away.stderr, /connection refused[\s\S]*next: .*https_proxy.*UPDATE_URL_OVERRIDE/)
})

test('release path goes through a proxy with a password and believes a given CA', async (t) => {
  const { tls, ca } = await testCertificate(t, ['updates.invalid', '127.0.0.1'])
  const server = await startGraphServer(t, { graphs: { amd64: graph }, tls })
  const file = join(await tempDir(t), 'ca.pem')
  await writeFile(file, ca)
  const question = ['release', 'path', '--from', '4.17.10', '--to', '4.18.9']
  const env = { UPDATE_URL_OVERRIDE: server.graphUrl }
  const unknown = await runCli(question, { env })
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /certificate is not trusted[\s\S]*--ca FILE or SSL_CERT_FILE/)
  assert.equal((await runCli(question, { env: { ...env, SSL_CERT_FILE: file } })).status, 0)
  assert.equal((await runCli([...question, '--ca', file], { env })).status, 0)
  assert.equal((await runCli([...question, '--src-tls-verify=false'], { env })).status, 0)
  const proxy = await startScriptedProxy(t, 'user:fence')
  const through = {
    UPDATE_URL_OVERRIDE: 'http://updates.invalid/graph',
    http_proxy: proxy.url.replace('//', '//user:fence@'),
  }
  const refused = await runCli(question, { env: { ...through, http_proxy: proxy.url } })
  assert.match(refused.stderr, /answered 407[\s\S]*The proxy wants a name and a password/)
  await runCli([...question, '--retry-times', '0'], { env: through })
  assert.match(proxy.requests.at(-1) ?? '', /^GET http:\/\/updates\.invalid\/graph\?arch=amd64&channel=/)
})

test('release path --size tells what each release adds to the mirror', async (t) => {
  const made = [makeRelease({ seed: 'one', version: '4.18.1' }), makeRelease({ seed: 'two', version: '4.18.9' })]
  const content = made.flatMap(releaseContent)
  const registry = await startScriptedRegistry(t)
  await pushAll(testClient(t).client, registry.address, content)
  const nodes = made.map(({ version, image }) => ({
    ...releaseNodes([version], ['stable-4.18'])[0],
    version,
    payload: `quay.io/openshift-release-dev/ocp-release@${image.digest}`,
    metadata: {},
  }))
  const file = join(await tempDir(t), 'graph.json')
  await writeFile(file, JSON.stringify({ nodes, edges: [[0, 1]] }))
  const conf = await writeRegistriesConf(t, registry.address)
  const question = ['release', 'path', '--from', '4.18.1', '--to', '4.18.9', '--graph', file, '--size']
  const { status, stdout, stderr } = await runCli([...question, '--registries-conf', conf])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /● 4\.18\.1 {3}12 components, [\d.]+ KiB\n/)
  assert.match(stdout, /● 4\.18\.9 {3}12 components, [\d.]+ KiB; new: 13 images, [\d.]+ KiB\n/)
  assert.match(stdout, /It carries [\d.]+ KiB, every blob once \([\d.]+ KiB release by release\)/)
  const { bytes } = JSON.parse((await runCli([...question, '--registries-conf', conf, '--json'])).stdout)
  assert.equal(
    bytes,
    [...blobsOfContent(content).values()].reduce((sum, size) => sum + size, 0),
  )
  registry.fault({ path: new RegExp(`art-dev/manifests/${made[1]?.components[3]?.image.digest}`), status: 404 })
  const partly = await runCli([...question, '--registries-conf', conf])
  assert.equal(partly.status, 1)
  assert.match(partly.stdout, /● 4\.18\.9 {3}12 components, 1 of unknown size/)
  assert.match(partly.stderr, /^4\.18\.9: .*sha256:[0-9a-f]{64}/)
})

test('the real answer of stable-4.13 is listed whole, and its paths are drawn', async (t) => {
  const file = new URL('../../../shared/data/mirror/oc-mirror/graph/amd64-stable-4.13.json', import.meta.url)
  if (!existsSync(file)) return t.skip('the answer of stable-4.13 is not there')
  const real: ServedGraph = JSON.parse(await readFile(file, 'utf8'))
  const server = await startGraphServer(t, { graphs: { amd64: real } })
  const env = { UPDATE_URL_OVERRIDE: server.graphUrl }
  const listed = await runCli(['list', 'releases', '--channel', 'stable-4.13'], { env })
  const [, , first, ...others] = listed.stdout.trimEnd().split('\n')
  assert.deepEqual([first, others.length + 1], ['4.12.0', real.nodes.length])
  const { stdout, stderr } = await runCli(['release', 'path', '--from', '4.12.20', '--to', '4.13.36'], { env })
  assert.match(stdout, /^channel stable-4\.13, amd64\n\n● 4\.12\.20\n[\s\S]*● 4\.13\.36\n\n\d updates?, /, stderr)
})
