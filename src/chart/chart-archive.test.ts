import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { makeChart, packEntries } from '../../testkit/chart.ts'
import { hostileEntries } from '../../testkit/tar.ts'
import { type TarEntry, tarFile } from '../archive/tar/ustar.ts'
import { KnownError } from '../errors/known-error.ts'
import { readChart } from './chart-archive.ts'

const chartYaml = tarFile('app/Chart.yaml', 'apiVersion: v2\nname: app\nversion: 1.0.0\n')

function invalid(why: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof KnownError && error.code === 'CHART_INVALID' && why.test(error.message)
}

test('metadata, aliases, and the charts within, packed or not, are read', async () => {
  const packed = makeChart({ name: 'packed', version: '2.0.0', files: { 'templates/pod.yaml': '' } })
  const bytes = makeChart({
    name: 'app',
    version: '1.2.3',
    metadata: {
      appVersion: '9',
      kubeVersion: '>=1.25.0-0',
      annotations: { images: '[]', odd: 1 },
      dependencies: [{ name: 'plain', version: '1.x', alias: 'front' }, { name: 'packed' }],
    },
    files: {
      'charts/plain/Chart.yaml': 'apiVersion: v2\nname: plain\nversion: 0.1.0\ntype: library\n',
      'charts/packed-2.0.0.tgz': packed,
      'charts/_later/Chart.yaml': 'none',
      'charts/README.md': 'none',
    },
  })
  const { metadata, subcharts, ...chart } = await readChart(bytes, 'chart app')
  assert.deepEqual(chart, {
    name: 'app',
    version: '1.2.3',
    appVersion: '9',
    kubeVersion: '>=1.25.0-0',
    isLibrary: false,
    annotations: { images: '[]' },
    dependencies: [{ name: 'plain', alias: 'front', version: '1.x' }, { name: 'packed' }],
    hasTemplates: true,
  })
  assert.equal(metadata['apiVersion'], 'v2')
  assert.deepEqual(
    subcharts.map(({ name, isLibrary, hasTemplates }) => [name, isLibrary, hasTemplates]),
    [
      ['plain', true, false],
      ['packed', false, true],
    ],
  )
})

test('the dependencies of a chart of the first version stand in requirements.yaml', async () => {
  const files = { 'requirements.yaml': 'dependencies: [{ name: redis, version: 1.0.0 }]' }
  const bytes = makeChart({ name: 'old', version: '1.0.0', metadata: { apiVersion: 'v1' }, files })
  assert.deepEqual((await readChart(bytes, 'chart old')).dependencies, [{ name: 'redis', version: '1.0.0' }])
})

test('an archive with links, or with names that lead out of it, is refused', async () => {
  for (const [what, entries] of Object.entries(hostileEntries))
    await assert.rejects(readChart(packEntries([chartYaml, ...entries]), 'chart app'), invalid(/link|leads out/), what)
})

test('what is no chart is refused with the reason', async () => {
  const cases: [string, Uint8Array, RegExp][] = [
    ['text', Buffer.from('<html>'), /not compressed with gzip/],
    ['no tar', gzipSync(Buffer.alloc(2000, 1)), /archive is broken|no Chart\.yaml/],
    ['no Chart.yaml', packEntries([tarFile('app/values.yaml', '')]), /no Chart\.yaml/],
    ['no name', packEntries([tarFile('app/Chart.yaml', 'version: 1.0.0')]), /in Chart\.yaml name/],
    ['no YAML', packEntries([tarFile('app/Chart.yaml', 'name: [')]), /no YAML/],
    ['empty', packEntries([]), /no Chart\.yaml/],
  ]
  for (const [what, bytes, why] of cases) await assert.rejects(readChart(bytes, 'chart app'), invalid(why), what)
})

test('a small archive that unpacks to very much is refused before it has', async () => {
  const zeros: TarEntry = {
    name: 'app/zeros',
    size: 101 * 1024 * 1024,
    content: () => Array.from({ length: 101 }, () => new Uint8Array(1024 * 1024)),
  }
  await assert.rejects(readChart(packEntries([chartYaml, zeros]), 'chart app'), invalid(/more than \d+ bytes/))
})

test('charts within charts without end are refused', async () => {
  let bytes = makeChart({ name: 'deep', version: '1.0.0' })
  for (let depth = 0; depth < 12; depth += 1)
    bytes = makeChart({ name: 'deep', version: '1.0.0', files: { 'charts/deep-1.0.0.tgz': bytes } })
  await assert.rejects(readChart(bytes, 'chart deep'), invalid(/more than 10 deep/))
})

test('whatever becomes of the bytes of a chart, it is read or refused', async () => {
  const files = {
    'templates/pod.yaml': 'kind: Pod',
    'charts/in-1.0.0.tgz': makeChart({ name: 'in', version: '1.0.0' }),
  }
  const tar = gunzipSync(makeChart({ name: 'app', version: '1.0.0', files }))
  const change = fc.record({
    at: fc.nat(tar.byteLength - 1),
    byte: fc.nat(255),
    cut: fc.option(fc.nat(tar.byteLength)),
  })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte, cut }) => {
      const changed = Buffer.from(tar).fill(byte, at, at + 1)
      const bytes = gzipSync(changed.subarray(0, cut ?? undefined))
      try {
        await readChart(bytes, 'chart app')
      } catch (error) {
        assert.ok(error instanceof KnownError && error.code === 'CHART_INVALID', String(error))
      }
    }),
    { numRuns: 300 },
  )
})
