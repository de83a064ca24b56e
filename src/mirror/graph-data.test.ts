import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { hostileEntries } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { type TarEntry, tarFile, writeTar } from '../archive/tar/ustar.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { bringGraphData, graphDataEntries, graphDataUrl } from './graph-data.ts'
import { workspaceAt } from './workspace.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const archive = (entries: readonly TarEntry[]) => gzipSync(Buffer.concat([...writeTar(entries)]))
const entriesOf = (bytes: Uint8Array) => graphDataEntries({ bytes, origin: 'graph.tar.gz' }, 'var/lib/g')
const names = async (bytes: Uint8Array) => (await entriesOf(bytes)).map(({ name }) => name)
const some = [tarFile('version', '1.1.0\n'), tarFile('channels/stable-4.18.yaml', 'name: stable-4.18\n')]
const placed = ['var/lib/g/', 'var/lib/g/channels/', 'var/lib/g/channels/stable-4.18.yaml', 'var/lib/g/version']

test('entries are sorted, readable by everybody, and below the directory, however they were packed', async () => {
  assert.deepEqual(await names(archive(some)), placed)
  assert.deepEqual(await names(Buffer.concat([...writeTar(some.toReversed())])), placed)
  const wrapped = [
    { name: 'graph-data-1234/', type: 'directory' as const, mode: 0o700 },
    ...some.map((entry) => ({ ...entry, name: `graph-data-1234/${entry.name}`, mode: 0o600 })),
  ]
  const unwrapped = await entriesOf(archive(wrapped))
  assert.deepEqual(
    unwrapped.map(({ name }) => name),
    placed,
  )
  // The modes of the layer are those of the writer: 0755 and 0644.
  assert.ok(unwrapped.every(({ mode }) => mode === undefined))
  const absolute = some.map((entry) => ({ ...entry, name: `/var/lib/cincinnati-graph-data/${entry.name}` }))
  assert.deepEqual(await names(archive(absolute)), placed)
})

const real = [
  ['release/graph-data/cincinnati-graph-data-2021-03-01-bdb544fe.tar.gz', 86],
  ['release/graph-data/cincinnati-graph-data-2025-01-01-8975e668.tar.gz', 1262],
  ['release/graph-data/cincinnati-graph-data-HEAD-731d0424.tar.gz', 1825],
  ['mirror/oc-mirror/graph/graph-data.tar.gz', 635],
  ['mirror/oc-mirror/graph/cincinnati-graph-data.tar', 635],
] as const
for (const [path, files] of real) {
  test(`every file of the real ${path} is there`, async (t) => {
    if (!existsSync(join(data, path))) return t.skip('the shared data is not here')
    const entries = await entriesOf(readFileSync(join(data, path)))
    assert.ok(entries.some(({ name }) => name === 'var/lib/g/version'))
    assert.equal(entries.filter(({ type }) => type !== 'directory').length, files)
  })
}

test('the two forms in which oc-mirror has the same graph data give the same entries', async (t) => {
  const path = join(data, 'mirror/oc-mirror/graph')
  if (!existsSync(path)) return t.skip('the shared data is not here')
  const layer = async (name: string) => Buffer.concat([...writeTar(await entriesOf(readFileSync(join(path, name))))])
  assert.ok((await layer('graph-data.tar.gz')).equals(await layer('cincinnati-graph-data.tar')))
})

for (const [what, entries] of Object.entries(hostileEntries)) {
  test(`an archive with ${what} is refused, or stays inside`, async () => {
    const result = await entriesOf(archive([...some, ...entries])).catch((error: { code?: string }) => error)
    if (!Array.isArray(result)) return assert.equal(result.code, 'GRAPH_DATA_INVALID')
    assert.ok(result.every(({ name }) => name.startsWith('var/lib/g/') && !name.includes('..')))
  })
}

test('what is no graph data is refused with what is wrong with it', async () => {
  const refuses = (bytes: Uint8Array, message: RegExp) =>
    assert.rejects(entriesOf(bytes), { code: 'GRAPH_DATA_INVALID', message })
  await refuses(Buffer.from('<html>Please log in</html>'), /graph\.tar\.gz is no graph data/)
  await refuses(archive(some).subarray(0, 60), /graph\.tar\.gz is no graph data/)
  await refuses(archive([tarFile('version', '1')]), /no channels/)
  await refuses(archive(some.slice(1)), /no file version/)
  await refuses(
    archive([...some.map((one) => ({ ...one, name: `a/${one.name}` })), tarFile('b', '')]),
    /has b beside a\//,
  )
  await refuses(archive([...some, { name: 'raw', type: 'symlink', linkName: 'channels' }]), /raw is neither a file/)
  const huge = {
    name: 'huge',
    size: 65 * 2 ** 20,
    content: () => Array.from({ length: 65 }, () => Buffer.alloc(2 ** 20)),
  }
  await refuses(archive([...some, huge]), /unpacked it has more than/)
})

test('graph data is asked for beside the graph that an override names', () => {
  const from = (override?: string) => graphDataUrl(override)?.href
  assert.equal(from(), 'https://api.openshift.com/api/upgrades_info/graph-data')
  assert.equal(from(''), from())
  assert.equal(from('https://osus.lab/api/upgrades_info/v1/graph'), 'https://osus.lab/api/upgrades_info/graph-data')
  assert.equal(from('https://osus.lab:8443/graph?x=1'), 'https://osus.lab:8443/graph-data')
  assert.equal(from('https://osus.lab/updates'), undefined)
  assert.equal(from('file:///srv/graph.json'), undefined)
  assert.equal(from('nonsense'), undefined)
})

async function site(t: TestContext) {
  const web = await startScriptedWeb(t)
  const workspace = workspaceAt(await tempDir(t), '/')
  const findings: Finding[] = []
  const kept = join(workspace.root, 'graph-preparation', 'cincinnati-graph-data.tar.gz')
  const bring = (override = `${web.url}/api/upgrades_info/v1/graph`) =>
    bringGraphData({
      web: testWebClient(t).client,
      override,
      workspace,
      signal: new AbortController().signal,
      report: (finding) => void findings.push(finding),
    })
  return { web, bring, findings, kept }
}

test('graph data is kept where oc-mirror has it, and taken from there with a warning when there is no other', async (t) => {
  const { web, bring, findings, kept } = await site(t)
  const bytes = archive(some)
  web.files.set('/api/upgrades_info/graph-data', bytes)
  assert.deepEqual(Buffer.from((await bring()).bytes), bytes)
  assert.deepEqual(readFileSync(kept), bytes)
  assert.equal(findings.length, 0)

  web.files.clear()
  assert.deepEqual(Buffer.from((await bring()).bytes), bytes)
  assert.deepEqual(
    findings.map(({ id, severity }) => [id, severity]),
    [['release.graph-data-from-workspace', 'warning']],
  )
})

test('graph data may be carried into the workspace by hand; without any, the failure says where to', async (t) => {
  const { bring, kept, findings } = await site(t)
  const error = await bring().catch((error: unknown) => error)
  assert.ok(error instanceof KnownError)
  assert.equal(error.code, 'GRAPH_UNAVAILABLE')
  assert.ok(error.hint.includes(kept), error.hint)
  await mkdir(dirname(kept), { recursive: true })
  await writeFile(kept, archive(some))
  assert.equal((await bring('file:///srv/graph.json')).origin, kept)
  assert.equal(findings.length, 1)
})
