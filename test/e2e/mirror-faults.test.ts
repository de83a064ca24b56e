import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarFile, writeTar } from '../../src/archive/tar/ustar.ts'
import { systemClock } from '../../src/host/clock.ts'
import { acquireLock } from '../../src/host/lock.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { mediaTypes } from '../../src/oci/media-type.ts'
import { type SampleImage, sampleImage } from '../../src/quickstart/sample-image.ts'
import { blobOf } from '../../src/quickstart/sample-layer.ts'
import { releaseSources } from '../../src/quickstart/sample-release.ts'
import { makeImage } from '../../testkit/image.ts'
import { type MirrorRun, runMirror } from '../../testkit/mirror-run.ts'
import type { Fault } from '../../testkit/scripted-fault.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { hostileEntries, makeLayer } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream, writeRegistriesConf } from '../../testkit/upstream.ts'

/** Two images, `extra/good:1` and `extra/bad:1`; faults are for the second. */
async function twoImages(t: TestContext) {
  const good = makeImage({ seed: 'good', tag: '1' })
  const bad = makeImage({ seed: 'bad', layers: 1, layerBytes: 200_000, tag: '1' })
  const source = await startScriptedRegistry(t, { hasReferrersApi: true })
  await pushAll(testClient(t).client, source.address, [
    { repository: 'extra/good', images: [good] },
    { repository: 'extra/bad', images: [bad] },
  ])
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const run = {
    config: imageSetText({ additional: [{ name: 'quay.io/extra/good:1' }, { name: 'quay.io/extra/bad:1' }] }),
    target: `docker://${target.address}/ocp`,
    registriesConf: await writeRegistriesConf(t, source.address),
    workspace: await tempDir(t),
  }
  const layer = bad.blobs[0]?.descriptor.digest ?? ''
  return { good, bad, layer, source, target, run, mirror: () => runMirror(t, run) }
}

type Scene = Awaited<ReturnType<typeof twoImages>>

/** What a failure must say so that a person who sees only it can act. */
function assertTells({ failures: [failure] }: MirrorRun, code: string, words: readonly (string | RegExp)[]): void {
  assert.ok(failure)
  const { error } = failure
  assert.equal(error.code, code, error.message)
  assert.ok(error.hint.length > 20)
  for (const word of words) {
    const isThere = typeof word === 'string' ? error.message.includes(word) : word.test(error.message)
    assert.ok(isThere, `"${error.message}" does not tell ${word}`)
  }
}

interface Lie {
  readonly what: string
  readonly fault: Fault
  readonly code: string
  /** What the message names besides the image. */
  readonly tells: (scene: Scene) => readonly (string | RegExp)[]
}

/** Without a path: the layer of the bad image. */
const atBlob = { method: 'GET' } as const
const namesBlob = ({ layer, source }: Scene) => [layer, source.address]

const lies: readonly Lie[] = [
  {
    what: 'wrong bytes of the right length',
    fault: { ...atBlob, change: (body) => Buffer.from(body).reverse() },
    code: 'BLOB_DIGEST_MISMATCH',
    tells: ({ layer }) => [/^quay\.io\/extra\/bad:/, layer],
  },
  {
    what: 'a blob that is too short',
    fault: { ...atBlob, change: (body) => body.subarray(0, 9) },
    code: 'BLOB_SIZE_MISMATCH',
    tells: namesBlob,
  },
  {
    what: 'a blob that is too long',
    fault: { ...atBlob, change: (body) => Buffer.concat([body, body]) },
    code: 'BLOB_SIZE_MISMATCH',
    tells: namesBlob,
  },
  {
    what: 'a manifest that is not the one of its digest',
    fault: { path: /extra\/bad\/manifests\//, change: (body) => Buffer.concat([body, Buffer.from(' ')]) },
    code: 'BLOB_DIGEST_MISMATCH',
    tells: ({ bad }) => [/extra\/bad/, bad.digest],
  },
  {
    what: 'an answer that is no manifest',
    fault: {
      path: /extra\/bad\/manifests\/1$/,
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<html>Please log in</html>',
    },
    code: 'MANIFEST_INVALID',
    tells: () => [/extra\/bad/, /JSON/],
  },
  {
    what: 'silence in the middle of a blob',
    fault: { ...atBlob, stallAfter: 0 },
    code: 'REGISTRY_STALLED',
    tells: namesBlob,
  },
  {
    what: 'a blob whose connection is always cut',
    fault: { ...atBlob, cutAfter: 0 },
    code: 'REGISTRY_UNREACHABLE',
    tells: namesBlob,
  },
  ...[
    { status: 401, code: 'REGISTRY_UNAUTHORIZED' },
    { status: 403, code: 'REGISTRY_DENIED' },
    { status: 404, code: 'BLOB_UNKNOWN' },
    { status: 429, code: 'REGISTRY_RATE_LIMITED', headers: { 'retry-after': '7' } },
    { status: 500, code: 'REGISTRY_FAILED' },
    { status: 503, code: 'REGISTRY_FAILED' },
  ].map(
    ({ status, code, headers = {} }): Lie => ({
      what: `status ${status} for a blob`,
      fault: { ...atBlob, status, headers },
      code,
      tells: (scene) => [...namesBlob(scene), String(status)],
    }),
  ),
]

for (const { what, fault, code, tells } of lies) {
  test(`${what} fails this image and no other, and the message says all that there is to say`, async (t) => {
    const scene = await twoImages(t)
    scene.source.fault({ path: new RegExp(`/blobs/${scene.layer}$`), ...fault })
    const limits = { idleTimeoutMs: 100, retries: { attempts: 2, firstDelayMs: 1 } }
    const clock = fault.stallAfter === undefined ? {} : { clock: systemClock }
    const result = await runMirror(t, { ...scene.run, client: { limits, ...clock } })
    assert.equal(result.exitStatus, 8)
    assertTells(result, code, [/extra\/bad/, ...tells(scene)])
    assertOnlyGoodArrived(scene)
  })
}

function assertOnlyGoodArrived({ target, good }: Scene): void {
  assert.deepEqual(Object.fromEntries(target.content.tags), { 'ocp/extra/good:1': good.digest })
}

test('once the registry tells the truth again, the same command mirrors what is missing and nothing else', async (t) => {
  const scene = await twoImages(t)
  scene.source.fault({ path: new RegExp(`/blobs/${scene.layer}$`), status: 404, times: 1 })
  assert.equal((await scene.mirror()).exitStatus, 8)
  scene.target.requests.length = 0
  const again = await scene.mirror()
  assert.deepEqual([again.exitStatus, again.proven, again.report?.pushedBlobs], [0, 1, 1])
  assert.equal(scene.target.content.tags.get('ocp/extra/bad:1'), scene.bad.digest)
})

test('a registry that is busy, broken or cut off for a moment is asked again, and the blob goes on where it was', async (t) => {
  const scene = await twoImages(t)
  for (const fault of [
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503 },
    { cutAfter: 50_000 },
    { cutAfter: 50_000 },
  ])
    scene.source.fault({ ...atBlob, path: new RegExp(`/blobs/${scene.layer}$`), times: 1, ...fault })
  const result = await scene.mirror()
  assert.deepEqual([result.exitStatus, result.failures], [0, []])
  const reads = scene.source.requests.filter(({ path, method }) => method === 'GET' && path.endsWith(scene.layer))
  assert.equal(reads.length, 5)
  const size = scene.bad.blobs[0]?.descriptor.size ?? 0
  assert.equal(
    reads.reduce((total, { bytesOut }) => total + bytesOut, 0),
    size,
    'no byte came twice',
  )
})

test('a blob that is served from elsewhere is fetched there, and proven like any other', async (t) => {
  const scene = await twoImages(t)
  const elsewhere = await startScriptedRegistry(t)
  elsewhere.addBlob('cdn', scene.source.content.blobs.get(scene.layer) ?? new Uint8Array())
  const location = `${elsewhere.url}/v2/cdn/blobs/${scene.layer}`
  scene.source.fault({ path: new RegExp(`/blobs/${scene.layer}$`), status: 307, headers: { location } })
  assert.equal((await scene.mirror()).exitStatus, 0)
  assert.equal(elsewhere.requests.length, 1)
  assert.equal(scene.target.content.tags.get('ocp/extra/bad:1'), scene.bad.digest)
})

test('a target that refuses one image takes the others, and the exit status says which class failed', async (t) => {
  const upstream = await startUpstream(t, { release: { components: 3 } })
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf, release, additional } = upstream
  const tag = `${release.tag}-${release.components[0]?.name}`
  const refusal = { method: 'PUT', status: 400, body: '{"errors":[{"code":"MANIFEST_INVALID"}]}' }
  target.fault({ ...refusal, path: new RegExp(`/openshift/release/manifests/${tag}$`), status: 403 })
  target.fault({ ...refusal, path: /\/extra\/list\/manifests\/2$/ })
  const run = { target: `docker://${target.address}`, registriesConf, workspace: await tempDir(t) }
  const result = await runMirror(t, { ...run, config: imageSetText({ release: releaseName(release), additional }) })
  assert.deepEqual(
    result.failures.map(({ image }) => image.destination.tag ?? ''),
    [tag, '2'],
  )
  assert.equal(result.exitStatus, 2 + 8)
  const refused = result.failures.find(({ image }) => image.class === 'additional')
  assert.match(refused?.error.message ?? '', new RegExp(`${target.address}/extra/list:2.*answered 400`))
  assert.ok(target.content.tags.has('extra/single:1'))
})

test('one question that the target or the source does not answer does not stop the other images of a second run', async (t) => {
  const scene = await twoImages(t)
  assert.equal((await scene.mirror()).exitStatus, 0)
  scene.source.fault({ method: 'HEAD', path: /extra\/bad\/manifests/, status: 403 })
  scene.source.fault({ method: 'GET', path: /extra\/bad\/manifests/, status: 403 })
  const again = await scene.mirror()
  assert.equal(again.exitStatus, 8)
  assert.equal(again.proven, 1)
  assertTells(again, 'REGISTRY_DENIED', [/extra\/bad:1/, '403', scene.source.address])
})

test('a target that does not show one repository does not stop the others', async (t) => {
  const scene = await twoImages(t)
  scene.target.fault({ path: /^\/v2\/ocp\/extra\/bad\//, status: 403 })
  const result = await scene.mirror()
  assert.equal(result.exitStatus, 8)
  assertTells(result, 'REGISTRY_DENIED', [/extra\/bad/, '403', scene.target.address])
  assertOnlyGoodArrived(scene)
})

function releaseWith(layers: Parameters<typeof sampleImage>[0]['layers']): SampleImage {
  return sampleImage({ layers, tag: 'bad' })
}

async function mirrorRelease(t: TestContext, image: SampleImage) {
  const source = await startScriptedRegistry(t, { hasReferrersApi: true })
  await pushAll(testClient(t).client, source.address, [{ repository: releaseSources.images, images: [image] }])
  const target = await startScriptedRegistry(t)
  const run = runMirror(t, {
    config: imageSetText({ release: `${releaseSources.registry}/${releaseSources.images}:bad` }),
    target: `docker://${target.address}`,
    registriesConf: await writeRegistriesConf(t, source.address),
    workspace: await tempDir(t),
  })
  return { run, target }
}

for (const name of ['a parent path', 'a parent path inside a path', 'a parent path after a dot'] as const) {
  test(`a release layer with ${name} is refused before anything is mirrored`, async (t) => {
    const entries: readonly TarEntry[] = hostileEntries[name] ?? []
    const { run, target } = await mirrorRelease(t, releaseWith([makeLayer(entries)]))
    await assertReleaseFails(run, 'LAYER_UNSAFE', /ocp-release.*sha256:.*outside its root/)
    assert.deepEqual(
      target.requests.filter(({ method }) => method !== 'GET' && method !== 'HEAD'),
      [],
    )
  })
}

async function assertReleaseFails(run: Promise<MirrorRun>, code: string, message: RegExp): Promise<void> {
  const { failures, exitStatus } = await run
  assert.deepEqual(
    failures.map(({ error }) => error.code),
    [code],
  )
  assert.match(failures[0]?.error.message ?? '', message)
  assert.equal(exitStatus, 2)
}

test('an image that is no release is refused by name', async (t) => {
  const { run } = await mirrorRelease(t, releaseWith([makeLayer([tarFile('etc/motd', 'hello')])]))
  await assertReleaseFails(run, 'PAYLOAD_INVALID', /ocp-release.*no release-manifests\/image-references/)
})

test('a release layer that unpacks to gigabytes is refused with little memory', async (t) => {
  // Members of gzip may follow one another: a header, and 64 times 64 MiB of zeros in the place of its file.
  const [header = Buffer.alloc(0)] = writeTar([{ name: 'release-manifests/image-references', size: 4 * 1024 ** 3 }])
  const zeros = gzipSync(Buffer.alloc(64 * 1024 ** 2))
  const bytes = Buffer.concat([gzipSync(header), ...Array.from({ length: 64 }, () => zeros)])
  const layer = { ...blobOf(bytes, mediaTypes.ociLayerGzip), diffId: digestOf(bytes) }
  const before = process.memoryUsage.rss()
  const { run } = await mirrorRelease(t, releaseWith([layer]))
  await assertReleaseFails(run, 'LAYER_UNSAFE', /image-references is larger than/)
  assert.ok(process.memoryUsage.rss() - before < 400 * 1024 ** 2)
})

test('a full disk is told as such, and when there is room the same command goes on', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const disk = await smallDisk(t, 16 * 1024)
  if (!disk) return
  const { registriesConf, release, additional } = upstream
  const config = imageSetText({ release: releaseName(release), additional })
  const run = { config, registriesConf, target: `docker://${target.address}`, workspace: disk.path }
  await assert.rejects(runMirror(t, run), {
    code: 'DISK_FULL',
    message: new RegExp(`No space left to write ${disk.path}/working-dir/`),
    hint: /Free space/,
  })
  assert.equal(target.content.tags.size, 0)
  await disk.free()
  const again = await runMirror(t, run)
  assert.deepEqual([again.exitStatus, again.failures], [0, []])
})

test('a second process on the same workspace is told who is at work there', async (t) => {
  const scene = await twoImages(t)
  const release = await acquireLock(join(scene.run.workspace, 'working-dir', 'sallyport', 'v1', 'lock'))
  await assert.rejects(scene.mirror(), { code: 'STORE_LOCKED', message: new RegExp(`Process ${process.pid} `) })
  await release()
  assert.equal((await scene.mirror()).exitStatus, 0)
})

test('a run that is interrupted ends at once, leaves no lock, and the next one completes it', async (t) => {
  const scene = await twoImages(t)
  scene.target.fault({ method: 'PUT', path: /extra\/bad\/blobs/, silent: true, times: 1 })
  const interrupt = new AbortController()
  const run = runMirror(t, { ...scene.run, request: { signal: interrupt.signal } })
  while (!scene.target.requests.some(({ method, path }) => method === 'PUT' && path.includes('/bad/blobs')))
    await nextTurn()
  interrupt.abort(new Error('stopped'))
  await assert.rejects(run, /stopped/)
  const state = await readdir(join(scene.run.workspace, 'working-dir', 'sallyport', 'v1'))
  assert.ok(!state.includes('lock'), state.join())
  assert.equal((await scene.mirror()).exitStatus, 0)
  assert.equal(scene.target.content.tags.size, 2)
})

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
