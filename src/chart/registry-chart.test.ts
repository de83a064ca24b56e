import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeChart, serveCharts } from '../../testkit/chart.ts'
import { makeImage } from '../../testkit/image.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { KnownError } from '../errors/known-error.ts'
import { systemClock } from '../host/clock.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import type { RegistryClient } from '../remote/client.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { readChart } from './chart-archive.ts'
import { chartArtifact } from './chart-artifact.ts'
import { chartReference, chooseTag, fetchFromRegistry } from './registry-chart.ts'
import { selectCharts } from './select-charts.ts'

interface Site {
  readonly address: string
  readonly registry: Awaited<ReturnType<typeof startScriptedRegistry>>
  readonly client: RegistryClient
  readonly sources: Parameters<typeof fetchFromRegistry>[1]
}

async function site(t: TestContext): Promise<Site> {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  const directory = join(await tempDir(t), 'kept')
  const sources = { web: testWebClient(t).client, registry: client, directory, signal: new AbortController().signal }
  return { address: registry.address, registry, client, sources }
}

/** Pushes a chart, and gives the digest of its manifest and of the packed chart. */
async function pushChart(
  { client, address }: Site,
  name: string,
  version: string,
): Promise<{ root: Digest; content: Digest }> {
  const bytes = makeChart({ name, version })
  const content = digestOf(bytes)
  const open = async function* ({ offset = 0 }: { readonly offset?: number }) {
    yield bytes.subarray(offset)
  }
  const chart = await readChart(bytes, name)
  const { manifests, blobs } = chartArtifact({ chart, digest: content, size: bytes.byteLength, open })
  const to = { registry: address, repository: `charts/${name}`, tag: version.replace('+', '_') }
  for (const [digest, read] of blobs) {
    const chunks: Uint8Array[] = []
    for await (const chunk of read({})) chunks.push(chunk)
    const size = Buffer.concat(chunks).byteLength
    await client.pushBlob(to, { mediaType: '', digest, size }, (offset, signal) => read({ offset, signal }))
  }
  for (const manifest of manifests) await client.pushManifest(to, manifest)
  return { root: manifests[0]?.descriptor.digest ?? content, content }
}

function known(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof KnownError && error.code === code && message.test(error.message)
}

test('the version is a tag: with _ for +, the newest of a range, and no signature', async (t) => {
  const here = await site(t)
  for (const version of ['1.0.0', '1.2.0+b.1', '1.10.0', '2.0.0-rc.1']) await pushChart(here, 'app', version)
  const { client, address, sources } = here
  const image = makeImage({ seed: 'signature', tag: `sha256-${'a'.repeat(64)}.sig` })
  await pushAll(client, address, [{ repository: 'charts/app', images: [image] }])
  const reference = chartReference(`oci://${address}/charts/`, 'app')
  const cases: [string | undefined, string][] = [
    [undefined, '1.10.0'],
    ['~1.2', '1.2.0_b.1'],
    ['1.2.0+b.1', '1.2.0_b.1'],
    ['9.9.9', '9.9.9'],
  ]
  for (const [version, tag] of cases) assert.equal((await chooseTag(reference, version, sources)).tag, tag)
  await assert.rejects(chooseTag(reference, '^3', sources), known('CHART_UNKNOWN', /no version \^3 of the chart app/))
  await assert.rejects(
    fetchFromRegistry({ ...reference, tag: '9.9.9' }, sources),
    known('CHART_UNKNOWN', /no such chart/),
  )
  const mute = {
    registry: { fetchManifest: client.fetchManifest, fetchBlob: client.fetchBlob },
    signal: sources.signal,
  }
  await assert.rejects(chooseTag(reference, undefined, mute), known('CHART_UNKNOWN', /does not tell which versions/))
})

test('charts are read through registries.conf, as images are', async (t) => {
  const here = await site(t)
  for (const version of ['1.0.0', '1.1.0']) await pushChart(here, 'app', version)
  const conf = `[[registry]]\nprefix = "quay.lab"\nlocation = "${here.address}"\ninsecure = true\n`
  const { client } = testClient(t, { isInsecure: () => false })
  const registry = withRegistriesConf(client, parseRegistriesConf(conf, 'registries.conf'))
  const sources = { ...here.sources, registry }
  const tagged = await chooseTag(chartReference('oci://quay.lab/charts', 'app'), undefined, sources)
  assert.deepEqual((await fetchFromRegistry(tagged, sources)).chart.version, '1.1.0')
})

test('an image that is no chart is told to be another kind of image', async (t) => {
  const { client, address, sources } = await site(t)
  await pushAll(client, address, [{ repository: 'charts/app', images: [makeImage({ seed: 'image', tag: '1.0.0' })] }])
  const reference = { ...chartReference(`oci://${address}/charts`, 'app'), tag: '1.0.0' }
  await assert.rejects(fetchFromRegistry(reference, sources), known('CHART_INVALID', /another kind of image/))
})

test('a registry that sends other bytes than it promised is caught', async (t) => {
  const here = await site(t)
  const { content } = await pushChart(here, 'app', '1.0.0')
  const change = (body: Uint8Array) => Buffer.from(body).fill(0, 100, 110)
  here.registry.fault({ path: new RegExp(content), method: 'GET', change })
  const reference = { ...chartReference(`oci://${here.address}/charts`, 'app'), tag: '1.0.0' }
  await assert.rejects(fetchFromRegistry(reference, here.sources), known('BLOB_DIGEST_MISMATCH', /chart oci:/))
})

test('a repository with an index may keep its charts in a registry', async (t) => {
  const here = await site(t)
  const { root } = await pushChart(here, 'app', '1.0.0')
  const web = await startScriptedWeb(t)
  const urls = [`oci://${here.address}/charts/app:1.0.0`]
  const url = serveCharts(web, [{ name: 'app', version: '1.0.0', urls }])
  const helm = { path: '/nowhere/helm', env: {}, clock: systemClock }
  const content = { repositories: [{ name: 'lab', url, charts: [{ name: 'app' }] }] }
  const { charts, unreadable } = await selectCharts(content, { ...here.sources, cwd: '/', helm })
  assert.deepEqual(unreadable, [])
  assert.deepEqual(
    charts.map(({ tag, digest }) => [tag, digest]),
    [['1.0.0', root]],
  )
})
