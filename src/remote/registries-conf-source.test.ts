import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Reference } from '../oci/reference.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { withRegistriesConf } from './registries-conf-source.ts'

const config = { mediaType: mediaTypes.ociConfig, digest: digestOf('{}'), size: 2 }
const document = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [] }
const release = { registry: 'quay.invalid', repository: 'ocp/release' }

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], extra = '') {
  const first = await startScriptedRegistry(t)
  const second = await startScriptedRegistry(t)
  const text = `
[[registry]]
prefix = "quay.invalid/ocp"
location = "quay.invalid/ocp"
${extra}
[[registry.mirror]]
location = "${first.address}/one"
insecure = true
[[registry.mirror]]
location = "${second.address}/two"
insecure = true
`
  const conf = parseRegistriesConf(text, 'registries.conf')
  const { client } = testClient(t, { isInsecure: () => false })
  return { first, second, source: withRegistriesConf(client, conf) }
}

const manifestPaths = (registry: { requests: { method: string; path: string }[] }) =>
  registry.requests.filter(({ path }) => path !== '/v2/').map(({ method, path }) => `${method} ${path}`)

test('the first mirror that has the image serves it, and its blobs come from there', async (t) => {
  const { first, second, source } = await setUp(t)
  const manifest = second.addManifest('two/release', document)
  const bytes = randomBytes(1000)
  const blob = second.addBlob('two/release', bytes)
  const reference: Reference = { ...release, digest: manifest.digest }
  assert.deepEqual((await source.fetchManifest(reference))?.descriptor, manifest)
  assert.equal(manifestPaths(first).length, 1)
  const chunks: Uint8Array[] = []
  for await (const chunk of source.fetchBlob(release, blob)) chunks.push(chunk)
  assert.deepEqual(Buffer.concat(chunks), bytes)
  assert.equal(manifestPaths(first).length, 1, 'the mirror without the image is not asked for its blobs')
})

test('a mirror that fails is passed over', async (t) => {
  const { first, second, source } = await setUp(t)
  first.fault({ status: 401 })
  const manifest = second.addManifest('two/release', document, '4.18')
  assert.deepEqual(await source.resolve({ ...release, tag: '4.18' }), manifest)
})

test('a blob whose mirror breaks in the middle is read to its end from the next', async (t) => {
  const { first, second, source } = await setUp(t)
  const bytes = randomBytes(300_000)
  const manifest = first.addManifest('one/release', document)
  const blob = first.addBlob('one/release', bytes)
  second.addBlob('two/release', bytes)
  await source.fetchManifest({ ...release, digest: manifest.digest })
  first.fault({ path: /blobs/, times: 1, cutAfter: 100_000 })
  first.fault({ path: /blobs/, status: 500 })
  const chunks: Uint8Array[] = []
  for await (const chunk of source.fetchBlob(release, blob)) chunks.push(chunk)
  assert.deepEqual(Buffer.concat(chunks), bytes)
  assert.equal(second.requests.find(({ path }) => path.includes('blobs'))?.headers.range, 'bytes=100000-')
})

test('when all fail, one error has the reason of every endpoint in its order', async (t) => {
  const { first, second, source } = await setUp(t, 'blocked = true')
  first.fault({ status: 403, body: '{"errors":[{"code":"DENIED","message":"not yours"}]}' })
  await assert.rejects(source.fetchManifest({ ...release, tag: 'x' }), (error: unknown) => {
    assert.ok(error instanceof KnownError)
    assert.equal(error.code, 'REGISTRY_DENIED')
    assert.equal(error.details['image'], 'quay.invalid/ocp/release:x')
    assert.deepEqual(
      [1, 2, 3].map((index) => [error.details[`endpoint${index}`], error.details[`code${index}`]]),
      [
        [`${first.address}/one/release:x`, 'REGISTRY_DENIED'],
        [`${second.address}/two/release:x`, 'MANIFEST_UNKNOWN'],
        ['quay.invalid/ocp/release:x', 'REGISTRY_BLOCKED'],
      ],
    )
    const causes: string[] = []
    for (let cause = error.cause; cause instanceof KnownError; cause = cause.cause) causes.push(cause.message)
    assert.equal(causes.length, 3)
    assert.match(causes[0] ?? '', /^\(1\) mirror: .*not yours/)
    assert.match(causes[2] ?? '', /^\(3\) source: .*blocked/)
    return true
  })
})

test('an image that no endpoint has is absent, and no error', async (t) => {
  const { first, client } = { ...(await setUp(t)), ...testClient(t) }
  const conf = parseRegistriesConf(`[[registry]]\nlocation = "${first.address}"\ninsecure = true\n`, 'registries.conf')
  const source = withRegistriesConf(client, conf)
  assert.equal(await source.resolve({ registry: first.address, repository: 'x', tag: 'none' }), undefined)
})

test('an image that only a blocked source could have is an error of its own', async (t) => {
  const { client } = testClient(t)
  const conf = parseRegistriesConf('[[registry]]\nlocation = "quay.invalid"\nblocked = true\n', 'registries.conf')
  const source = withRegistriesConf(client, conf)
  await assert.rejects(source.resolve({ ...release, tag: 'x' }), { code: 'REGISTRY_BLOCKED' })
})

test('an error of the reader is not taken for one of the mirror', async (t) => {
  const { first, second, source } = await setUp(t)
  const bytes = randomBytes(1000)
  const blob = first.addBlob('one/release', bytes)
  second.addBlob('two/release', bytes)
  const full = new KnownError('DISK_FULL', 'no space')
  const stream = source.fetchBlob(release, blob)
  assert.ok('forEachChunk' in stream && typeof stream.forEachChunk === 'function')
  await assert.rejects(
    stream.forEachChunk(() => {
      throw full
    }),
    full,
  )
  assert.equal(second.requests.length, 0)
})

test('tags are those of the first place that has the repository', async (t) => {
  const { first, second, source } = await setUp(t)
  assert.equal(await source.tags?.(release).catch(() => 'the origin cannot be asked'), 'the origin cannot be asked')
  second.addManifest('two/release', document, '4.18')
  second.addManifest('two/release', document, '4.19')
  assert.deepEqual([...((await source.tags?.(release)) ?? [])].sort(), ['4.18', '4.19'])
  assert.ok(manifestPaths(first).some((path) => path.includes('/tags/list')))
})
