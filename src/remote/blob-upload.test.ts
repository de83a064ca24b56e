import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { describeBytes, type ScriptedRegistryOptions, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { OpenBlob, UploadSession } from '../oci/content.ts'

const limits = { monolithicBytes: 100_000, chunkBytes: 200_000 }

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], options: ScriptedRegistryOptions = {}) {
  const registry = await startScriptedRegistry(t, options)
  const { client, clock } = testClient(t, { limits })
  const at = { registry: registry.address, repository: 'ocp/release' }
  const methods = () => registry.requests.filter(({ path }) => path !== '/v2/').map(({ method }) => method)
  return { registry, client, clock, at, methods }
}

/** Bytes in pieces of odd sizes, from any offset. */
function opener(bytes: Uint8Array, opened: number[] = []): OpenBlob {
  return async function* (offset) {
    opened.push(offset)
    for (let position = offset; position < bytes.byteLength; position += 70_001) {
      yield bytes.subarray(position, position + 70_001)
    }
  }
}

test('a small blob goes as one request, a large one in chunks', async (t) => {
  for (const size of [0, 1, 100_000, 100_001, 200_000, 1_000_000]) {
    const { registry, client, at, methods } = await setUp(t, { absoluteLocations: size % 2 === 0 })
    const bytes = randomBytes(size)
    const blob = describeBytes(bytes)
    const arrived: number[] = []
    await client.pushBlob(at, blob, opener(bytes), { onBytes: (count) => arrived.push(count) })
    assert.deepEqual(Buffer.from(registry.content.blobs.get(blob.digest) ?? 'none'), bytes)
    const chunks = size > limits.monolithicBytes ? Math.ceil(size / limits.chunkBytes) : 0
    assert.deepEqual(methods(), ['POST', ...Array<string>(chunks).fill('PATCH'), 'PUT'])
    assert.equal(
      arrived.reduce((sum, count) => sum + count, 0),
      size,
    )
  }
})

test('a registry that wants larger chunks gets larger chunks', async (t) => {
  const { client, at, methods } = await setUp(t, { minChunkBytes: 600_000 })
  const bytes = randomBytes(1_000_000)
  await client.pushBlob(at, describeBytes(bytes), opener(bytes))
  assert.deepEqual(methods(), ['POST', 'PATCH', 'PATCH', 'PUT'])
})

test('an upload that is cut goes on at the offset where the registry stands', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(1_000_000)
  const blob = describeBytes(bytes)
  const opened: number[] = []
  let arrived = 0
  registry.fault({ method: 'PATCH', times: 2, cutUploadAfter: 150_000 })
  await client.pushBlob(at, blob, opener(bytes, opened), {
    onBytes: (count) => {
      arrived += count
    },
  })
  assert.deepEqual(Buffer.from(registry.content.blobs.get(blob.digest) ?? 'none'), bytes)
  assert.equal(arrived, 1_000_000)
  const sent = registry.requests.reduce((sum, { bytesIn }) => sum + bytesIn, 0)
  assert.ok(sent < 1_000_000 + 2 * limits.chunkBytes, `${sent} bytes were sent for 1000000`)
})

test('a registry without chunks gets the blob in one request, and is not asked again', async (t) => {
  const { registry, client, at, methods } = await setUp(t, { acceptsChunks: false })
  const first = randomBytes(300_000)
  const second = randomBytes(300_000)
  await client.pushBlob(at, describeBytes(first), opener(first))
  await client.pushBlob(at, describeBytes(second), opener(second))
  assert.equal(registry.content.blobs.size, 2)
  assert.equal(methods().filter((method) => method === 'PATCH').length, 1)
})

test('a proxy that refuses large chunks gets smaller ones', async (t) => {
  const { registry, at } = await setUp(t)
  const { client: large } = testClient(t, { limits: { monolithicBytes: 1, chunkBytes: 8_000_000 } })
  const bytes = randomBytes(5_000_000)
  registry.fault({ method: 'PATCH', times: 1, status: 413 })
  await large.pushBlob(at, describeBytes(bytes), opener(bytes))
  assert.equal(registry.content.blobs.size, 1)
})

test('wrong bytes are never completed at the target', async (t) => {
  for (const size of [50_000, 500_000]) {
    const { registry, client, at, methods } = await setUp(t)
    const bytes = randomBytes(size)
    const altered = Uint8Array.from(bytes)
    altered[size - 1] = (altered[size - 1] ?? 0) ^ 1
    await assert.rejects(client.pushBlob(at, describeBytes(bytes), opener(altered)), { code: 'BLOB_DIGEST_MISMATCH' })
    await assert.rejects(client.pushBlob(at, describeBytes(bytes), opener(bytes.subarray(1))), {
      code: 'BLOB_SIZE_MISMATCH',
    })
    assert.equal(registry.content.blobs.size, 0)
    assert.ok(methods().includes('DELETE'), 'the session is given up')
    assert.ok(!registry.requests.some(({ method, status }) => method === 'PUT' && status !== 0))
  }
})

test('an error of the source is thrown as it is, and no request is repeated for it', async (t) => {
  const { registry, client, at } = await setUp(t)
  const broken = new Error('source is gone')
  const blob = describeBytes(randomBytes(500_000))
  const open: OpenBlob = async function* () {
    yield new Uint8Array(10_000)
    throw broken
  }
  await assert.rejects(client.pushBlob(at, blob, open), broken)
  assert.ok(registry.requests.filter(({ method }) => method === 'PATCH').length <= 1)
})

test('an upload that an earlier process left is gone on with, and the result is checked', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(1_000_000)
  const blob = describeBytes(bytes)
  const sessions: UploadSession[] = []
  const stop = new AbortController()
  const interrupted = client.pushBlob(at, blob, opener(bytes), {
    signal: stop.signal,
    onSession: (session) => {
      sessions.push(session)
      if (sessions.length === 4) stop.abort(new Error('killed'))
    },
  })
  await assert.rejects(interrupted, /killed/)
  const session = sessions.at(-1)
  assert.ok(session !== undefined)
  const { client: next } = testClient(t, { limits })
  const opened: number[] = []
  await next.pushBlob(at, blob, opener(bytes, opened), { session })
  assert.deepEqual(opened, [600_000])
  assert.deepEqual(Buffer.from(registry.content.blobs.get(blob.digest) ?? 'none'), bytes)
})

test('a session that is gone, or nonsense, is begun again', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(300_000)
  for (const location of [`${registry.url}/v2/ocp/release/blobs/uploads/gone`, 'nonsense']) {
    await client.pushBlob(at, describeBytes(bytes), opener(bytes), { session: { location } })
    assert.equal(registry.content.blobs.size, 1)
    registry.content.blobs.clear()
  }
})

test('a session whose bytes are wrong does not become a blob: everything is sent again', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(300_000)
  const blob = describeBytes(bytes)
  const id = registry.content.beginUpload('ocp/release')
  const upload = registry.content.uploads.get(id)
  assert.ok(upload !== undefined)
  upload.bytes = randomBytes(100_000)
  const session = { location: `${registry.url}/v2/ocp/release/blobs/uploads/${id}` }
  await client.pushBlob(at, blob, opener(bytes), { session })
  assert.deepEqual([...registry.content.blobs.keys()], [blob.digest])
})

test('a PUT whose answer was lost counts as done when the blob is there', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(300_000)
  const blob = describeBytes(bytes)
  registry.fault({ method: 'PUT', times: 1, status: 404 })
  registry.addBlob(at.repository, bytes)
  await client.pushBlob(at, blob, opener(bytes))
})

test('a busy registry is waited for, by its Retry-After', async (t) => {
  const { registry, client, clock, at } = await setUp(t)
  const bytes = randomBytes(300_000)
  registry.fault({ method: 'PATCH', times: 1, status: 429, headers: { 'retry-after': '7' } })
  registry.fault({ method: 'POST', times: 1, status: 503 })
  await client.pushBlob(at, describeBytes(bytes), opener(bytes))
  assert.ok(clock.sleeps.includes(7_000), String(clock.sleeps))
  assert.equal(registry.content.blobs.size, 1)
})

test('a full target says so with image, host, status and its own words', async (t) => {
  const { registry, client, at } = await setUp(t)
  const bytes = randomBytes(50_000)
  const body = '{"errors":[{"code":"UNKNOWN","message":"no space left on device"}]}'
  registry.fault({ method: 'PUT', status: 500, body, headers: { 'content-type': 'application/json' } })
  await assert.rejects(client.pushBlob(at, describeBytes(bytes), opener(bytes)), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'REGISTRY_FAILED')
    assert.equal(registry.requests.filter(({ method }) => method === 'PUT').length, 6, 'attempts do not multiply')
    assert.match(error.message, /ocp\/release@sha256:.* PUT http.* answered 500: UNKNOWN: no space left on device/)
    return true
  })
})

test('a blob is mounted from another repository without moving bytes, or it is said that it was not', async (t) => {
  const { registry, client, at } = await setUp(t)
  const blob = registry.addBlob('base', randomBytes(1000))
  const from = { registry: at.registry, repository: 'base' }
  assert.equal(await client.hasBlob(at, blob), false)
  assert.equal(await client.mountBlob(at, blob, { ...from, repository: 'other' }), false)
  assert.equal(registry.content.uploads.size, 0)
  assert.equal(await client.mountBlob(at, blob, from), true)
  assert.equal(await client.hasBlob(at, blob), true)
  assert.equal(await client.hasBlob(at, { ...blob, size: 999 }), false)
})

test('a target that is not there is given up after the attempts of one policy', async (t) => {
  const { registry, client, clock, at } = await setUp(t)
  await client.ping(at.registry)
  await registry.close()
  const bytes = randomBytes(300_000)
  await assert.rejects(client.pushBlob(at, describeBytes(bytes), opener(bytes)), { code: 'REGISTRY_UNREACHABLE' })
  assert.equal(clock.sleeps.length, 2)
})
