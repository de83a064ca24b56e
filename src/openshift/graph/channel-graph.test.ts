import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as semver from 'semver'
import { noGraphs, realGraphData, stable413 } from '../../../testkit/real-graphs.ts'
import { type DescribedRelease, graphOfChannel } from './channel-graph.ts'
import { parseGraphData } from './graph-data.ts'
import { channelsOf, parseUpdateGraph, type UpdateGraph } from './update-graph.ts'

const prefix = 'io.openshift.upgrades.graph'

function release(version: string, rest: Partial<DescribedRelease> = {}): DescribedRelease {
  return { version, payload: `quay.io/a/b@sha256:${version}`, previous: [], next: [], metadata: {}, ...rest }
}

function edgesOf({ releases, edges }: UpdateGraph): string[] {
  const texts = edges.flatMap((leaving, from) =>
    leaving.map(({ to, risks }) => {
      const names = risks
        .map(({ name }) => name)
        .toSorted()
        .join()
      return `${releases[from]?.version} > ${releases[to]?.version}${names && `: ${names}`}`
    }),
  )
  return texts.toSorted()
}

function riskFile(to: string, from: string, name: string): string {
  return `{to: ${to}, from: '${from}', url: u, name: ${name}, message: m, matchingRules: [{type: Always}]}`
}

function dataOf(files: Readonly<Record<string, string>>, versions: readonly string[]) {
  const channel = `{name: stable-4.1, versions: [${versions.join(', ')}]}`
  return parseGraphData(new Map(Object.entries({ version: '1.0.0', 'channels/a.yaml': channel, ...files })))
}

function graph(files: Readonly<Record<string, string>>, releases: readonly DescribedRelease[], architecture = 'amd64') {
  const data = dataOf(
    files,
    releases.map(({ version }) => version),
  )
  return graphOfChannel(data, { channel: 'stable-4.1', architecture, releases })
}

const three = [
  release('4.1.2', { previous: ['4.1.0', '4.1.1', '4.0.9'] }),
  release('4.1.0'),
  release('4.1.1', { previous: ['4.1.0'], next: ['4.1.2'] }),
]

test('edges come from what releases say of the one before and the one after; releases from the lowest', () => {
  const answer = graph({}, three)
  assert.deepEqual(
    answer.releases.map(({ version }) => version),
    ['4.1.0', '4.1.1', '4.1.2'],
  )
  assert.deepEqual(edgesOf(answer), ['4.1.0 > 4.1.1', '4.1.0 > 4.1.2', '4.1.1 > 4.1.2'])
})

test('blocked edges are gone, edges with a risk are conditional, and a risk outweighs a block', () => {
  const files = {
    'blocked-edges/1.yaml': "{to: 4.1.1, from: '.*'}",
    'blocked-edges/2.yaml': riskFile('4.1.2', '4[.]1[.]1[+].*', 'A'),
    'blocked-edges/3.yaml': riskFile('4.1.2', '.*', 'B'),
    'blocked-edges/4.yaml': "{to: 4.1.2, from: '4.1.0'}",
  }
  assert.deepEqual(edgesOf(graph(files, three)), ['4.1.0 > 4.1.2: B', '4.1.1 > 4.1.2: A,B'])
})

test('a name with an architecture is for the image of that architecture alone', () => {
  const files = {
    'blocked-edges/1.yaml': "{to: 4.1.1+s390x, from: '.*'}",
    'blocked-edges/2.yaml': "{to: 4.1.2, from: '[+]s390x'}",
  }
  assert.equal(edgesOf(graph(files, three)).length, 3)
  assert.deepEqual(edgesOf(graph(files, three, 's390x')), [])
  const data = dataOf({}, ['4.1.0+amd64', '4.1.1'])
  const versions = (architecture: string) =>
    graphOfChannel(data, { channel: 'stable-4.1', architecture, releases: three }).releases.map(
      ({ version }) => version,
    )
  assert.deepEqual([versions('amd64'), versions('arm64')], [['4.1.0', '4.1.1'], ['4.1.1']])
})

test('metadata of releases adds and removes edges, and releases; graph data adds to it', () => {
  const raw = `{"4.1.2": {"${prefix}.previous.add": "4.1.1"}, "4.1.1": {"${prefix}.previous.add": "4.0.1"}}`
  const releases = [
    release('4.1.0', { metadata: { [`${prefix}.next.add`]: '4.1.1, 4.1.3', [`${prefix}.next.remove`]: '4.1.3' } }),
    release('4.1.1', { metadata: { [`${prefix}.previous.add`]: '4.0.2' } }),
    release('4.0.1'),
    release('4.0.2'),
    release('4.1.2', { previous: ['4.1.0'], metadata: { [`${prefix}.previous.remove_regex`]: '4[.]1[.]0[+]amd64' } }),
    release('4.1.3', { previous: ['4.1.1', '4.1.2'], metadata: { [`${prefix}.previous.remove`]: '4.1.2' } }),
    release('4.1.4', { previous: ['4.1.3'], metadata: { [`${prefix}.previous.remove`]: '*' } }),
    release('4.1.5', { previous: ['4.1.4'], metadata: { [`${prefix}.release.remove`]: 'true' } }),
  ]
  const answer = graph({ 'raw/metadata.json': raw }, releases)
  assert.deepEqual(edgesOf(answer), [
    '4.0.1 > 4.1.1',
    '4.0.2 > 4.1.1',
    '4.1.0 > 4.1.1',
    '4.1.1 > 4.1.2',
    '4.1.1 > 4.1.3',
  ])
  assert.equal(
    answer.releases.some(({ version }) => version === '4.1.5'),
    false,
  )
})

test('channels are listed as the service sorts them', () => {
  const names = ['stable-4.2', 'candidate-4.2', 'stable-4.1', 'eus-4.10', 'fast-4.1']
  const files = Object.fromEntries(names.map((name) => [`channels/${name}.yaml`, `{name: ${name}, versions: [4.1.0]}`]))
  const data = parseGraphData(new Map(Object.entries({ version: '1.0.0', ...files })))
  const answer = graphOfChannel(data, { channel: 'fast-4.1', architecture: 'amd64', releases: [release('4.1.0')] })
  assert.deepEqual(channelsOf(answer.releases[0] ?? release('4.1.0')), [
    'fast-4.1',
    'stable-4.1',
    'eus-4.10',
    'candidate-4.2',
    'stable-4.2',
  ])
})

/** A risk that was declared after the real answer was given (it was given in spring 2024). */
const declaredLater = 'ARODNSWrongBootSequence'

test('for stable-4.13 the service answered what is computed from the graph data, but for a risk declared later', {
  skip: noGraphs,
}, () => {
  const real = parseUpdateGraph(stable413(), 'stable-4.13')
  const releases = real.releases.map(({ version, payload }, index) => {
    return release(version, {
      payload,
      next: (real.edges[index] ?? []).map(({ to }) => real.releases[to]?.version ?? ''),
    })
  })
  const data = parseGraphData(realGraphData())
  const then = { ...data, blockedEdges: data.blockedEdges.filter(({ risk }) => risk?.name !== declaredLater) }
  const computed = graphOfChannel(then, { channel: 'stable-4.13', architecture: 'amd64', releases })
  assert.deepEqual(edgesOf(computed), edgesOf(real))
  for (const { version, metadata } of real.releases) {
    const own = computed.releases.find((one) => one.version === version)
    const [listed, now] = [channelsOf({ version, payload: '', metadata }) ?? [], own ? (channelsOf(own) ?? []) : []]
    assert.deepEqual(
      now.filter((name) => listed.includes(name)),
      listed,
      version,
    )
  }
})

test('every published channel gives a graph: its releases from the lowest, edges between them alone', {
  skip: noGraphs,
}, () => {
  const data = parseGraphData(realGraphData())
  const versions = [...new Set([...data.channels.values()].flat().map((version) => version.replace(/[+].*/, '')))]
  const releases = versions.map((version) => {
    const [major = '', minor = '', patch = ''] = version.split('.')
    const before = versions.filter(
      (one) => one.startsWith(`${major}.${minor}.`) && Number(one.split('.')[2]) < Number(patch),
    )
    return release(version, { previous: before })
  })
  for (const [channel, listed] of data.channels) {
    const answer = graphOfChannel(data, { channel, architecture: 'amd64', releases })
    const expected = new Set(listed.flatMap((name) => (/[+](?!amd64)/.test(name) ? [] : [name.replace(/[+].*/, '')])))
    assert.deepEqual(new Set(answer.releases.map(({ version }) => version)), expected, channel)
    const names = answer.releases.map(({ version }) => version)
    assert.deepEqual(names, names.toSorted(semver.compareBuild), channel)
    for (const edges of answer.edges) for (const { to } of edges) assert.ok(answer.releases[to], channel)
  }
})
