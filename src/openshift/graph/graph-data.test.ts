import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import * as semver from 'semver'
import { extract } from 'tar-stream'
import { parse } from 'yaml'
import { graphDataArchives, noGraphs, realGraphData } from '../../../testkit/real-graphs.ts'
import { type GraphData, parseGraphData } from './graph-data.ts'

const riskText = `to: 4.13.4
from: 4[.]12[.].*
url: https://issues.example.com/A
name: A
message: |-
  It can
  happen.
matchingRules:
- type: Always
`

function read(files: Readonly<Record<string, string>>): GraphData {
  return parseGraphData(new Map(Object.entries({ version: '1.1.0\n', ...files })))
}

test('channels, blocked edges, risks and further metadata are read; other files are passed over', () => {
  const data = read({
    'channels/stable-4.13.yaml':
      'name: stable-4.13\nfeeder: {name: fast-4.13, delay: PT48H}\nversions:\n- 4.13.4\n- 4.13.4+amd64\n',
    'channels/OWNERS': 'approvers: []',
    'blocked-edges/4.9.9.yaml': 'to: 4.9.9\nfrom: 4\\.8\\..*\n# a comment\n',
    './blocked-edges/4.13.4-A.yaml': riskText,
    'raw/metadata.json': '{"4.1.0": {"io.openshift.upgrades.graph.previous.add": "4.1.0-rc.4"}}',
    'build-suggestions/4.13.yaml': 'not: [read',
  })
  assert.equal(data.schemaVersion, '1.1.0')
  assert.deepEqual([...data.channels], [['stable-4.13', ['4.13.4', '4.13.4+amd64']]])
  assert.deepEqual(data.blockedEdges, [
    {
      file: 'blocked-edges/4.13.4-A.yaml',
      to: '4.13.4',
      from: /4[.]12[.].*/,
      risk: { name: 'A', message: 'It can\nhappen.', url: 'https://issues.example.com/A', everyCluster: true },
    },
    { file: 'blocked-edges/4.9.9.yaml', to: '4.9.9', from: /4\.8\..*/ },
  ])
  assert.deepEqual(data.rawMetadata.get('4.1.0'), { 'io.openshift.upgrades.graph.previous.add': '4.1.0-rc.4' })
})

const edges = 'blocked-edges/x.yaml'
const channel = 'channels/x.yaml'
const faults: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  ['no schema version', { version: '' }, /^version: schema "" is not understood, 1\.x is$/],
  ['a later schema', { version: '2.0.0' }, /^version: schema "2\.0\.0" is not understood/],
  ['YAML that does not end', { [edges]: 'to: 4.1.1\nfrom: "4' }, /^blocked-edges\/x\.yaml:2: Missing closing "quote/],
  [
    'a field twice',
    { [edges]: 'to: 4.1.1\nfrom: a\nto: 4.1.2\n' },
    /^blocked-edges\/x\.yaml:3: Map keys must be unique$/,
  ],
  ['no target', { [edges]: 'from: .*\n' }, /^blocked-edges\/x\.yaml:1: to: Invalid input: expected string/],
  [
    'a target that is no version',
    { [edges]: 'from: .*\nto: 4.9\n' },
    /^blocked-edges\/x\.yaml:2: to: Invalid input: expected string, received number$/,
  ],
  [
    'a regular expression that is none',
    { [edges]: 'to: 4.1.1\nfrom: 4[\n' },
    /^blocked-edges\/x\.yaml:2: from: "4\[": /,
  ],
  [
    'a risk without a message',
    { [edges]: 'to: 4.1.1\nfrom: a\nname: A\nurl: b\nmatchingRules: []\n' },
    /x\.yaml:1: message: Invalid input/,
  ],
  [
    'a rule without a type',
    { [edges]: `${riskText}- promql: {}\n` },
    /^blocked-edges\/x\.yaml:10: matchingRules\.1\.type: /,
  ],
  [
    'a version in a channel that is none',
    { [channel]: 'name: x\nversions:\n- 4.1.1\n- v4\n' },
    /^channels\/x\.yaml:4: versions\.1: is no semantic version$/,
  ],
  [
    'a channel twice',
    { [channel]: 'name: y\n', 'channels/y.yaml': 'name: y\n' },
    /^channels\/y\.yaml: the channel y is in another file already$/,
  ],
  [
    'an alias that unfolds',
    { [channel]: 'a: &a [1]\nname: x\nversions: [*a, *a]\n' },
    /^channels\/x\.yaml:1: aliases are not allowed$/,
  ],
  ['metadata that is not JSON', { 'raw/metadata.json': '{' }, /^raw\/metadata\.json: it is not JSON$/],
  [
    'metadata of another form',
    { 'raw/metadata.json': '{"4.1.0": 3}' },
    /^raw\/metadata\.json: 4\.1\.0: Invalid input: expected record/,
  ],
]

for (const [name, files, message] of faults) {
  test(`graph data with ${name} is refused, with the file and the line`, () => {
    assert.throws(() => read(files), { code: 'GRAPH_INVALID', message })
  })
}

test('the whole published graph data is read: 76 channels, and 1717 files that block or warn', {
  skip: noGraphs,
}, () => {
  const files = realGraphData()
  const data = parseGraphData(files)
  assert.deepEqual([data.channels.size, data.blockedEdges.length, data.rawMetadata.size], [76, 1717, 4])
  assert.equal(data.schemaVersion, '1.1.0')
  for (const [name, versions] of data.channels) {
    const { versions: listed } = parse(files.get(`channels/${name}.yaml`) ?? '')
    assert.deepEqual(versions, listed, name)
    assert.ok(versions.length > 0 && versions.every((version) => semver.valid(version) !== null), name)
    assert.equal(new Set(versions).size, versions.length, `${name} lists each release once`)
  }
})

test('each published channel holds releases of its own minor, and none of a later one', { skip: noGraphs }, () => {
  for (const [name, versions] of parseGraphData(realGraphData()).channels) {
    const own = semver.parse(`${name.split('-')[1]}.0`)
    const minors = versions.map((version) => semver.parse(version.replace(/-.*/, '')))
    assert.ok(
      minors.every((one) => own && one && (one.major < own.major || one.minor <= own.minor)),
      name,
    )
    assert.ok(
      minors.some((one) => one?.major === own?.major && one?.minor === own?.minor),
      name,
    )
  }
})

test('each published expression matches a version that its file warns of, and names a risk or none', {
  skip: noGraphs,
}, () => {
  const data = parseGraphData(realGraphData())
  const versions = [...new Set([...data.channels.values()].flat())].flatMap((version) =>
    version.includes('+') ? [version] : ['amd64', 's390x'].map((architecture) => `${version}+${architecture}`),
  )
  const idle = data.blockedEdges.filter(({ from }) => !versions.some((version) => from.test(version)))
  assert.deepEqual(
    idle.map(({ file }) => file),
    [],
  )
  assert.equal(data.blockedEdges.filter(({ risk }) => risk).length, 1717 - 116)
  assert.equal(data.blockedEdges.filter(({ risk }) => risk?.everyCluster).length, 578)
})

async function untarred(bytes: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const unpack = extract()
  unpack.end(gunzipSync(bytes))
  for await (const entry of unpack) {
    const chunks: Uint8Array[] = []
    for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk)
    if (entry.header.type === 'file') files.set(entry.header.name, Buffer.concat(chunks).toString())
  }
  return files
}

test('graph data of 2021, 2022, 2025 and 2026 is read out of its tar.gz, every channel and every file', {
  skip: noGraphs,
}, async () => {
  const archives = graphDataArchives()
  assert.equal(archives.length, 4)
  for (const { name, bytes } of archives) {
    const files = await untarred(bytes)
    const count = (folder: string) =>
      [...files.keys()].filter((path) => path.startsWith(folder) && path.endsWith('.yaml')).length
    const data = parseGraphData(files)
    assert.deepEqual(
      [data.channels.size, data.blockedEdges.length],
      [count('channels/'), count('blocked-edges/')],
      name,
    )
    assert.ok(data.channels.size > 20, name)
  }
})
