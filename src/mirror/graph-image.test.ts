import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { makeAttestation, makeImage, makeIndex, makeMultiArch } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { tarFile, writeTar } from '../archive/tar/ustar.ts'
import { childrenOf, parseManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { resolveImage } from './closure.ts'
import { type GraphData, graphDataEntries } from './graph-data.ts'
import { graphImageSelected, makeGraphImage, readGraphImage } from './graph-image.ts'
import { type MadeImage, rootOf, withMadeContent } from './made-content.ts'
import { planMirror } from './plan.ts'
import { transfer } from './transfer.ts'
import { verifyMirror } from './verify-mirror.ts'
import { workspaceAt } from './workspace.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const { signal } = new AbortController()
const graphData: GraphData = {
  origin: 'graph-data.tar.gz',
  bytes: gzipSync(
    Buffer.concat([...writeTar([tarFile('version', '1.1.0\n'), tarFile('channels/stable-4.18.yaml', 'name: x\n')])]),
  ),
}

/** A registry with a base image, and a workspace. */
async function site(t: TestContext, image: SampleImage) {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await pushAll(client, registry.address, [{ repository: 'ubi9/ubi', images: [image] }])
  const workspace = workspaceAt(await tempDir(t), '/')
  const base = { source: client, reference: parseReference(`${registry.address}/ubi9/ubi:latest`) }
  const make = (architectures: readonly string[], given = graphData, at = workspace) =>
    makeGraphImage({ graphData: given, base, architectures, workspace: at, signal })
  return { registry, client, workspace, base, make }
}

const architectures = ['amd64', 'arm64', 's390x']
const multi = (family: 'oci' | 'docker' = 'docker') =>
  makeMultiArch({ seed: 'ubi', architectures, mediaTypes: family, tag: 'latest' })

async function configOf(made: MadeImage, index = 0) {
  const manifest = made.manifests[index]
  assert.ok(manifest)
  const parsed = parseManifest(manifest.bytes, manifest.descriptor.mediaType, 'graph image')
  assert.equal(parsed.kind, 'image')
  const open = made.blobs.get(parsed.config.digest)
  assert.ok(open)
  const text = Buffer.concat(await Array.fromAsync(open({}))).toString('utf8')
  return { parsed, config: JSON.parse(text) }
}

test('the image is the base, one layer more, and the command that the operator relies on', async (t) => {
  const image = makeImage({ seed: 'ubi', mediaTypes: 'docker', labels: { vendor: 'Red Hat' }, tag: 'latest' })
  const { make, base } = await site(t, image)
  const made = await make(['amd64'])
  const { parsed, config } = await configOf(made)
  assert.equal(parsed.mediaType, mediaTypes.dockerManifest)
  assert.deepEqual(
    parsed.layers.map(({ mediaType }) => mediaType),
    [mediaTypes.dockerLayerGzip, mediaTypes.dockerLayerGzip, mediaTypes.dockerLayerGzip],
  )
  assert.equal(config.rootfs.diff_ids.length, 3)
  assert.equal(config.history.length, 3)
  assert.deepEqual(config.config.Cmd, [
    '/bin/bash',
    '-c',
    'exec cp -rp /var/lib/cincinnati-graph-data/* /var/lib/cincinnati/graph-data',
  ])
  assert.equal(config.config.Entrypoint, undefined)
  assert.equal(config.config.Labels.vendor, 'Red Hat')
  assert.equal(config.config.Labels['org.opencontainers.image.base.digest'], image.digest)
  assert.equal(config.config.Labels['org.opencontainers.image.base.name'], formatReference(base.reference))
  assert.equal(config.created, '2024-01-01T00:00:00Z')
})

for (const family of ['oci', 'docker'] as const) {
  test(`of a base for several architectures (${family}) only the wanted ones are taken`, async (t) => {
    const { make } = await site(t, multi(family))
    const two = await make(['amd64', 's390x'])
    const root = rootOf(two)
    const index = parseManifest(root.bytes, undefined, 'graph image')
    assert.equal(index.mediaType, family === 'oci' ? mediaTypes.ociIndex : mediaTypes.dockerList)
    assert.deepEqual(
      childrenOf(index).map(({ platform }) => platform),
      ['amd64', 's390x'].map((architecture) => ({ os: 'linux', architecture })),
    )
    assert.equal(two.manifests.length, 3)
    assert.equal((await make(['arm64'])).manifests.length, 1)
    assert.equal((await make(['multi'])).manifests.length, 4)
    assert.equal((await configOf(two, 1)).config.architecture, 's390x')
  })
}

test('an attestation in the index of the base is no platform', async (t) => {
  const child = makeImage({ seed: 'attested' })
  const { make } = await site(t, makeIndex({ children: [child, makeAttestation(child)], tag: 'latest' }))
  assert.equal((await make(['multi'])).manifests.length, 1)
})

test('an architecture that the base lacks is told, with the base', async (t) => {
  const { make } = await site(t, multi())
  await assert.rejects(make(['amd64', 'ppc64le']), {
    code: 'MANIFEST_UNKNOWN',
    message: /ubi9\/ubi:latest.* for ppc64le/,
  })
  const single = await site(t, makeImage({ seed: 'one', tag: 'latest' }))
  await assert.rejects(single.make(['arm64']), { code: 'MANIFEST_UNKNOWN', message: /for arm64/ })
})

test('the same graph data and base give the same image: in another workspace, packed another way', async (t) => {
  const { make } = await site(t, multi())
  const first = rootOf(await make(['amd64', 'arm64'])).descriptor.digest
  const bytes = Buffer.concat([
    ...writeTar([
      tarFile('x-1/channels/stable-4.18.yaml', 'name: x\n'),
      { name: 'x-1/', type: 'directory', mode: 0o700 },
      { ...tarFile('x-1/version', '1.1.0\n'), mode: 0o600 },
    ]),
  ])
  const other = workspaceAt(await tempDir(t), '/')
  const second = rootOf(await make(['amd64', 'arm64'], { origin: 'x.tar', bytes }, other)).descriptor.digest
  assert.equal(second, first)
})

test('another process, whose clock and zlib level differ, makes the same image', async (t) => {
  const { make, base, registry } = await site(t, makeImage({ seed: 'ubi', tag: 'latest' }))
  const script = `
    const { makeGraphImage } = await import(${JSON.stringify(new URL('./graph-image.ts', import.meta.url).href)})
    const { parseReference } = await import(${JSON.stringify(new URL('../oci/reference.ts', import.meta.url).href)})
    const { workspaceAt } = await import(${JSON.stringify(new URL('./workspace.ts', import.meta.url).href)})
    const { testClient } = await import(${JSON.stringify(new URL('../../testkit/test-client.ts', import.meta.url).href)})
    const { client } = testClient({ after: () => undefined })
    const reference = parseReference(${JSON.stringify(formatReference(base.reference))})
    const made = await makeGraphImage({
      graphData: { origin: 'x', bytes: Buffer.from(${JSON.stringify(Buffer.from(graphData.bytes).toString('base64'))}, 'base64') },
      base: { source: client, reference },
      architectures: ['amd64'],
      workspace: workspaceAt(${JSON.stringify(await tempDir(t))}, '/'),
      signal: new AbortController().signal,
    })
    client.close()
    process.stdout.write(made.manifests.at(-1).descriptor.digest)
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TZ: 'Asia/Tokyo', LANG: 'C' },
  })
  assert.equal(stdout, rootOf(await make(['amd64'])).descriptor.digest)
  assert.ok(registry.requests.length > 0)
})

test('the image that was made last is there again without a question to anybody', async (t) => {
  const { make, workspace, registry } = await site(t, multi())
  assert.equal(await readGraphImage(workspace), undefined)
  const older = await make(['amd64'])
  const made = await make(['amd64', 'arm64'], { ...graphData, bytes: gunzipSync(graphData.bytes) })
  registry.requests.length = 0
  const again = await readGraphImage(workspace)
  assert.ok(again)
  assert.deepEqual(
    again.manifests.map(({ descriptor }) => descriptor),
    made.manifests.map(({ descriptor }) => descriptor),
  )
  assert.deepEqual([...again.blobs.keys()], [...made.blobs.keys()])
  for (const [digest, open] of again.blobs) {
    const size = Buffer.concat(await Array.fromAsync(open({}))).byteLength
    const resumed = verified(join2(open({ offset: 3 }), open({})), { mediaType: '', digest, size }, 'blob')
    assert.ok((await Array.fromAsync(resumed)).length > 0)
  }
  assert.equal(registry.requests.length, 0)
  assert.equal(older.blobs.size, 2)

  const [digest = ''] = made.blobs.keys()
  await rm(join(workspace.state, 'made', 'graph-image', 'blobs', digest.replace('sha256:', '')))
  assert.equal(await readGraphImage(workspace), undefined)
})

test('a kept blob that the disk has spoiled is written anew with the image', async (t) => {
  const { make, workspace } = await site(t, makeImage({ seed: 'ubi', tag: 'latest' }))
  const made = await make(['amd64'])
  const [digest = ''] = made.blobs.keys()
  const path = join(workspace.state, 'made', 'graph-image', 'blobs', digest.replace('sha256:', ''))
  const bytes = await readFile(path)
  await writeFile(path, Buffer.alloc(bytes.byteLength))
  await make(['amd64'])
  assert.ok((await readFile(path)).equals(bytes))
})

/** The first three bytes of a stream, then another one that begins after them. */
async function* join2(tail: AsyncIterable<Uint8Array>, whole: AsyncIterable<Uint8Array>) {
  yield Buffer.concat(await Array.fromAsync(whole)).subarray(0, 3)
  yield* tail
}

/** Makes the image, mirrors it to an empty registry, and gives its name there. */
async function mirrored(t: TestContext, image: SampleImage, given: GraphData, wanted: readonly string[]) {
  const { make, client } = await site(t, image)
  const made = await make(wanted, given)
  const registry = await testRegistry(t)
  const selected = graphImageSelected({ registry: registry.address, path: 'ocp' })
  const source = withMadeContent(client, [made])
  const resolved = await resolveImage(selected, { source, signal })
  const plan = planMirror(`${registry.address}/ocp`, resolved, () => false)
  const report = await transfer(plan, { source, target: client, signal, onEvent: () => undefined })
  assert.deepEqual([...report.failures], [])
  return { client, made, selected, registry }
}

test('made, mirrored and read back: the layer at the target holds the graph data, and everything is whole', async (t) => {
  const path = join(data, 'release/graph-data/cincinnati-graph-data-HEAD-731d0424.tar.gz')
  const given = existsSync(path) ? { origin: path, bytes: readFileSync(path) } : graphData
  const { client, made, selected, registry } = await mirrored(t, multi(), given, ['amd64', 'arm64'])
  assert.equal(formatReference(selected.destination), `${registry.address}/ocp/openshift/graph-image:latest`)
  const at = selected.destination
  assert.equal((await client.resolve(at))?.digest, rootOf(made).descriptor.digest)

  const { parsed } = await configOf(made)
  const layer = parsed.layers.at(-1)
  assert.ok(layer)
  const there = Buffer.concat(await Array.fromAsync(verified(client.fetchBlob(at, layer), layer, 'layer')))
  const expected = Buffer.concat([...writeTar(await graphDataEntries(given, 'var/lib/cincinnati-graph-data'))])
  assert.ok(gunzipSync(there).equals(expected))

  const { digest } = rootOf(made).descriptor
  const done = { source: formatReference(selected.source), destination: formatReference(at), digest, attached: [] }
  const image = { ...done, class: 'release' as const, why: selected.why }
  const report = await verifyMirror([image], { registry: client, signal, deep: true })
  assert.deepEqual([report.findings, report.images], [[], 1])
})

test('skopeo reads the graph image and takes it as its own', async (t) => {
  const skopeo = peer(t, 'skopeo')
  if (skopeo === undefined) return
  const { selected, made } = await mirrored(t, multi(), graphData, ['amd64', 'arm64'])
  const run = async (...args: readonly string[]) => (await promisify(execFile)(skopeo, args)).stdout
  const name = `docker://${formatReference(selected.destination)}`
  const inspected = JSON.parse(await run('inspect', '--tls-verify=false', '--override-arch=arm64', name))
  assert.deepEqual([inspected.Architecture, inspected.Os, inspected.Layers.length], ['arm64', 'linux', 3])
  const directory = join(await tempDir(t), 'copy')
  await run('copy', '--all', '--src-tls-verify=false', '--insecure-policy', name, `dir:${directory}`)
  assert.deepEqual(readFileSync(join(directory, 'manifest.json')), Buffer.from(rootOf(made).bytes))
})
