import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'

async function setUp(t: TestContext) {
  const web = await startScriptedWeb(t)
  const bytes = randomBytes(400_000)
  web.files.set('/boot.iso', bytes)
  const { client, clock } = testWebClient(t)
  const read = async (options: { offset?: number; size?: number } = {}) => {
    const chunks: Uint8Array[] = []
    const request = { what: 'boot image', signal: t.signal, ...options }
    for await (const chunk of client.open(new URL(`${web.url}/boot.iso`), request)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  return { web, bytes, read, client, clock }
}

test('a file arrives whole, and from any offset', async (t) => {
  const { bytes, read } = await setUp(t)
  assert.deepEqual(await read(), bytes)
  assert.deepEqual(await read({ offset: 399_999, size: 400_000 }), bytes.subarray(399_999))
  assert.deepEqual(await read({ offset: 400_000 }), Buffer.alloc(0))
})

test('a download that is cut goes on where it stopped, and only if the file is the same', async (t) => {
  const { web, bytes, read } = await setUp(t)
  web.fault({ times: 2, cutAfter: 100_000 })
  assert.deepEqual(await read(), bytes)
  assert.deepEqual(
    web.requests.map(({ headers }) => headers.range),
    [undefined, 'bytes=100000-', 'bytes=200000-'],
  )
  assert.match(String(web.requests[1]?.headers['if-range']), /^"[0-9a-f]+"$/)
})

test('a server that knows no Range sends everything again, and what came before is passed over', async (t) => {
  const { web, bytes, read } = await setUp(t)
  web.fault({ times: 1, cutAfter: 100_000 })
  web.fault({ times: 1, ignoreRange: true })
  assert.deepEqual(await read(), bytes)
})

test('a file that is changed while it is read is refused: two halves are not one file', async (t) => {
  const { web, read } = await setUp(t)
  web.fault({ times: 1, cutAfter: 100_000, headers: { etag: '"an older one"' } })
  await assert.rejects(read(), { code: 'WEB_INVALID', message: /it was changed there while it was read/ })
})

test('a file of another size than the one expected is refused before its bytes are used', async (t) => {
  const { read } = await setUp(t)
  await assert.rejects(read({ size: 400_001 }), {
    code: 'WEB_INVALID',
    message: /it has 400000 bytes instead of 400001/,
  })
})

test('a file that is not there is an error', async (t) => {
  const { web, read } = await setUp(t)
  web.files.clear()
  await assert.rejects(read(), { code: 'WEB_REFUSED', message: /boot image: GET .*\/boot\.iso answered 404/ })
})

test('a link that is cut at the same byte every time is given up', async (t) => {
  const { web, read } = await setUp(t)
  web.fault({ cutAfter: 0 })
  await assert.rejects(read(), { code: 'WEB_UNREACHABLE', message: /the connection was cut/ })
  assert.equal(web.requests.length, 6)
})

test('a file that is changed before its first byte arrived is read as it is now', async (t) => {
  const { web, bytes, read } = await setUp(t)
  web.fault({ times: 1, cutAfter: 0, headers: { etag: '"an older one"' } })
  assert.deepEqual(await read(), bytes)
})

test('a server that falls silent is left after the idle time, and the download goes on', async (t) => {
  const { web, bytes, client, clock } = await setUp(t)
  web.fault({ times: 1, stallAfter: 100_000 })
  const chunks: Uint8Array[] = []
  let received = 0
  await client.open(new URL(`${web.url}/boot.iso`), { what: 'boot image', signal: t.signal }).forEachChunk((chunk) => {
    chunks.push(chunk)
    received += chunk.byteLength
    if (received === 100_000) setImmediate(() => clock.advance(60_000))
    return undefined
  })
  assert.deepEqual(Buffer.concat(chunks), bytes)
})

test('a server that stays silent is told as that, directly and through a proxy', async (t) => {
  const { web } = await setUp(t)
  const proxy = await startScriptedProxy(t)
  web.fault({ stallAfter: 1000 })
  const request = { what: 'boot image', signal: t.signal }
  for (const proxies of [{ noProxy: '' }, { http: new URL(proxy.url), noProxy: '', proxyLoopback: true }]) {
    const { client, clock } = testWebClient(t, { proxies, limits: { retries: { attempts: 1 } } })
    const reading = client.open(new URL(`${web.url}/boot.iso`), request).forEachChunk(() => {
      setImmediate(() => clock.advance(60_000))
      return undefined
    })
    await assert.rejects(reading, { code: 'WEB_UNREACHABLE', message: /boot image: GET .*: no byte for 60 s/ })
  }
  assert.equal(proxy.requests.length, 1)
})

test('an aborted download throws the reason it was aborted with', async (t) => {
  const { web, client } = await setUp(t)
  web.fault({ stallAfter: 1000 })
  const abort = new AbortController()
  const request = { what: 'boot image', signal: abort.signal }
  const reading = client.open(new URL(`${web.url}/boot.iso`), request).forEachChunk(() => {
    abort.abort(new Error('enough'))
    return undefined
  })
  await assert.rejects(reading, /enough/)
})
