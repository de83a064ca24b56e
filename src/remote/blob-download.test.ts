import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { digestOf } from '../oci/digest.ts'

const repository = 'openshift/release'

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], size = 400_000) {
  const registry = await startScriptedRegistry(t)
  const bytes = randomBytes(size)
  const blob = registry.addBlob(repository, bytes)
  const { client, clock } = testClient(t)
  const at = { registry: registry.address, repository }
  const read = async (offset = 0) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of client.fetchBlob(at, blob, { offset })) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  const blobRequests = () => registry.requests.filter(({ path }) => path.includes('/blobs/'))
  return { registry, bytes, blob, client, clock, at, read, blobRequests }
}

test('a blob arrives whole, and from any offset', async (t) => {
  const { bytes, read } = await setUp(t)
  assert.deepEqual(await read(), bytes)
  assert.deepEqual(await read(399_999), bytes.subarray(399_999))
  assert.deepEqual(await read(400_000), Buffer.alloc(0))
})

test('a consumer that keeps no chunk gets every byte, however often it makes the download wait', async (t) => {
  const { registry, bytes, blob, client, at } = await setUp(t, 3_000_000)
  registry.fault({ method: 'GET', path: /blobs/, times: 1, cutAfter: 1_000_000 })
  const copy = Buffer.alloc(bytes.byteLength)
  const places = new Set<ArrayBufferLike>()
  let position = 0
  const consume = (chunk: Uint8Array) => {
    copy.set(chunk, position)
    position += chunk.byteLength
    places.add(chunk.buffer)
    return position % 3 === 0 ? new Promise<void>((resolve) => setImmediate(resolve)) : undefined
  }
  await client.fetchBlob(at, blob).forEachChunk(consume, { isTransient: true })
  assert.ok(copy.equals(bytes))
  assert.ok(places.size < 12, `${places.size} buffers for 3 MB`)
})

test('a download that is cut goes on where it stopped, and moves no byte twice', async (t) => {
  const { registry, bytes, read, blobRequests } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, times: 3, cutAfter: 100_000 })
  assert.deepEqual(await read(), bytes)
  assert.equal(
    blobRequests().reduce((sum, { bytesOut }) => sum + bytesOut, 0),
    400_000,
  )
  assert.deepEqual(
    blobRequests().map(({ headers }) => headers.range),
    [undefined, 'bytes=100000-', 'bytes=200000-', 'bytes=300000-'],
  )
})

test('a server that does not know Range sends everything again, and the reader sees each byte once', async (t) => {
  const { registry, bytes, read } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, times: 1, cutAfter: 150_000 })
  registry.fault({ method: 'GET', path: /blobs/, ignoreRange: true })
  assert.deepEqual(await read(), bytes)
})

test('a download gives up after as many attempts without progress as the policy says', async (t) => {
  const { registry, read, blobRequests } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, cutAfter: 0 })
  await assert.rejects(read(), { code: 'REGISTRY_UNREACHABLE' })
  assert.equal(blobRequests().length, 6)
})

test('an answer to another range than asked for is refused', async (t) => {
  const { registry, read } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, headers: { 'content-range': 'bytes 0-399999/400000' } })
  await assert.rejects(read(200_000), { code: 'REGISTRY_PROTOCOL' })
})

test('a registry that announces another size is not read', async (t) => {
  const { client, at, blob } = await setUp(t)
  const wrong = { ...blob, size: blob.size + 1 }
  await assert.rejects(
    client.fetchBlob(at, wrong).forEachChunk(() => undefined),
    { code: 'BLOB_SIZE_MISMATCH' },
  )
})

test('a body that ends before its Content-Length is completed, not taken for the whole', async (t) => {
  const { registry, bytes, read } = await setUp(t)
  registry.fault({
    method: 'GET',
    path: /blobs/,
    times: 1,
    change: (body) => body.subarray(0, 399_000),
    headers: { 'content-length': 400_000, connection: 'close' },
  })
  assert.deepEqual(await read(), bytes)
})

test('a registry whose blob is shorter or longer than its descriptor is not read', async (t) => {
  const { registry, read } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, times: 1, change: (body) => body.subarray(0, 399_000) })
  await assert.rejects(read(), { code: 'BLOB_SIZE_MISMATCH' })
  const longer = (body: Uint8Array) => Buffer.concat([body, body])
  registry.fault({ method: 'GET', path: /blobs/, times: 1, change: longer })
  await assert.rejects(read(), { code: 'BLOB_SIZE_MISMATCH' })
})

test('a blob that is not there is told so, with the host and the repository', async (t) => {
  const { client, at, registry } = await setUp(t)
  const absent = { mediaType: 'x', digest: digestOf('absent'), size: 6 }
  await assert.rejects(
    client.fetchBlob(at, absent).forEachChunk(() => undefined),
    (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'BLOB_UNKNOWN')
      assert.ok(error.message.includes(`${registry.address}/${repository}@${absent.digest}`), error.message)
      assert.ok(error.message.includes('404'), error.message)
      return true
    },
  )
})

test('an error of the reader ends the download at once and is thrown as it is', async (t) => {
  const { client, at, blob, blobRequests } = await setUp(t)
  const full = new Error('disk full')
  const reading = client.fetchBlob(at, blob).forEachChunk(() => {
    throw full
  })
  await assert.rejects(reading, full)
  const later = client.fetchBlob(at, blob).forEachChunk(() => Promise.reject(full))
  await assert.rejects(later, full)
  assert.equal(blobRequests().length, 2)
})

test('a registry that falls silent is left after the idle time, and the download goes on', async (t) => {
  const { registry, bytes, blob, at } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, times: 1, stallAfter: 100_000 })
  const clock = new FakeClock({ isImpatient: true })
  const { client } = testClient(t, { clock })
  let received = 0
  const chunks: Uint8Array[] = []
  await client.fetchBlob(at, blob).forEachChunk((chunk) => {
    chunks.push(chunk)
    received += chunk.byteLength
    if (received === 100_000) setImmediate(() => clock.advance(60_000))
    return undefined
  })
  assert.deepEqual(Buffer.concat(chunks), bytes)
})

test('who stops reading frees the connection', async (t) => {
  const { registry, client, at, blob } = await setUp(t, 8_000_000)
  const closed = new Promise<void>((resolve) => {
    const poll = () =>
      registry.requests.some(({ path, status }) => path.includes(blob.digest) && status !== 0)
        ? resolve()
        : setImmediate(poll)
    poll()
  })
  for await (const chunk of client.fetchBlob(at, blob)) {
    assert.ok(chunk.byteLength > 0)
    break
  }
  await closed
})

test('an aborted download throws the reason it was aborted with', async (t) => {
  const { registry, client, at, blob } = await setUp(t)
  registry.fault({ method: 'GET', path: /blobs/, stallAfter: 1000 })
  const abort = new AbortController()
  const reading = client.fetchBlob(at, blob, { signal: abort.signal }).forEachChunk(() => {
    abort.abort(new Error('enough'))
    return undefined
  })
  await assert.rejects(reading, /enough/)
})
