/** Uploads that outgrow the thread of the server: what is promised of small ones holds for them. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { test } from 'node:test'
import { digestOf } from '../../src/oci/digest.ts'
import { storePaths } from '../../src/store/paths.ts'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { serveProcess } from '../../testkit/serve-process.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { wire } from '../../testkit/wire.ts'

const mebibyte = 1024 * 1024
const large = randomBytes('large', 12 * mebibyte + 17)

async function openSession(url: string): Promise<string> {
  const { headers } = await wire(`${url}/v2/large/blobs/uploads/`, { method: 'POST' })
  return `${url}${headers.location}`
}

async function offsetOf(session: string): Promise<number> {
  const { status, headers } = await wire(session)
  assert.equal(status, 204)
  return Number(/^0-([0-9]+)$/.exec(String(headers.range))?.[1]) + 1
}

function finish(session: string, offset: number, digest = digestOf(large)) {
  const headers = { 'Content-Range': `${offset}-${large.length - 1}` }
  return wire(`${session}?digest=${digest}`, { method: 'PUT', body: large.subarray(offset), headers })
}

/** Begins to send everything, and returns when the server has taken more than a small upload has. */
async function sendPart(session: string): Promise<{ readonly cutOff: Promise<unknown> }> {
  const outgoing = request(session, { method: 'PATCH', headers: { 'Content-Length': large.length } })
  outgoing.on('error', () => undefined)
  const cutOff = new Promise((resolve) => outgoing.once('close', resolve))
  await new Promise((resolve) => outgoing.write(large.subarray(0, 8 * mebibyte), resolve))
  while ((await offsetOf(session)) < 6 * mebibyte);
  return { cutOff }
}

test('a large blob comes back as it was sent, in one request or in chunks, proven with either algorithm', async (t) => {
  const { url } = await testRegistry(t)
  const inOne = digestOf(large, 'sha512')
  const whole = await wire(`${url}/v2/large/blobs/uploads/?digest=${inOne}`, { method: 'POST', body: large })
  assert.equal(whole.status, 201)
  assert.deepEqual((await wire(`${url}/v2/large/blobs/${inOne}`)).body, large)

  const session = await openSession(url)
  for (let start = 0; start < 9 * mebibyte; start += 3 * mebibyte)
    await wire(session, { method: 'PATCH', body: large.subarray(start, start + 3 * mebibyte) })
  assert.equal(await offsetOf(session), 9 * mebibyte)
  assert.equal((await finish(session, 9 * mebibyte)).status, 201)
  assert.deepEqual((await wire(`${url}/v2/large/blobs/${digestOf(large)}`)).body, large)
})

test('a large blob of another digest is refused, and nothing of it stays', async (t) => {
  const root = await tempDir(t)
  const { url } = await testRegistry(t, { root })
  const wrong = digestOf('something else')
  const refused = await wire(`${url}/v2/large/blobs/uploads/?digest=${wrong}`, { method: 'POST', body: large })
  assert.equal(refused.status, 400)
  assert.equal(refused.errorCode(), 'DIGEST_INVALID')
  assert.equal((await finish(await openSession(url), 0, wrong)).status, 400)
  assert.equal((await wire(`${url}/v2/large/blobs/${wrong}`, { method: 'HEAD' })).status, 404)
  assert.deepEqual(await readdir(storePaths(root).staging), [])
  assert.deepEqual(await readdir(storePaths(root).uploads), [])
})

test('a large chunk that is not as long as it said is taken back, and the upload goes on before it', async (t) => {
  const { url } = await testRegistry(t)
  const session = await openSession(url)
  assert.equal((await wire(session, { method: 'PATCH', body: large.subarray(0, 5 * mebibyte) })).status, 202)
  const headers = { 'Content-Range': `${5 * mebibyte}-${11 * mebibyte}` }
  const lie = Buffer.alloc(5 * mebibyte, 'lie')
  assert.equal((await wire(session, { method: 'PATCH', body: lie, headers })).errorCode(), 'SIZE_INVALID')
  assert.equal(await offsetOf(session), 5 * mebibyte)
  assert.equal((await finish(session, 5 * mebibyte)).status, 201)
  assert.deepEqual((await wire(`${url}/v2/large/blobs/${digestOf(large)}`)).body, large)
})

test('a large upload goes on where it stood when the registry was killed in the middle of it', async (t) => {
  const root = await tempDir(t)
  const first = await serveProcess(t, root)
  const session = await openSession(first.url)
  await sendPart(session)
  await first.stop('SIGKILL')
  const second = await serveProcess(t, root)
  const again = session.replace(first.url, second.url)
  const offset = await offsetOf(again)
  assert.ok(offset > 0 && offset <= 8 * mebibyte, `offset ${offset}`)
  assert.equal((await finish(again, offset)).status, 201)
  assert.deepEqual((await wire(`${second.url}/v2/large/blobs/${digestOf(large)}`)).body, large)
  // The thread that hashed does not keep the server.
  assert.equal(await second.stop('SIGINT'), 0)
})

test('a second client takes a large upload over from the first one, at the byte where that one was cut off', async (t) => {
  const { url } = await testRegistry(t)
  const session = await openSession(url)
  const { cutOff } = await sendPart(session)
  // A chunk at the wrong place cuts off nobody's bytes, and says where the right place is.
  const misplaced = await wire(session, { method: 'PATCH', body: 'x', headers: { 'Content-Range': '1-1' } })
  assert.equal(misplaced.status, 416)
  await cutOff
  assert.equal((await finish(session, await offsetOf(session))).status, 201)
  assert.deepEqual((await wire(`${url}/v2/large/blobs/${digestOf(large)}`)).body, large)
})

test('a large upload that is cancelled in the middle is gone at once', async (t) => {
  const root = await tempDir(t)
  const { url } = await testRegistry(t, { root })
  const session = await openSession(url)
  const { cutOff } = await sendPart(session)
  assert.equal((await wire(session, { method: 'DELETE' })).status, 204)
  await cutOff
  assert.equal((await wire(session)).status, 404)
  assert.deepEqual(await readdir(storePaths(root).uploads), [])
  assert.equal((await finish(await openSession(url), 0)).status, 201)
})

test('a large upload that fills the disk is refused with the reason, and its space is free again', async (t) => {
  const disk = await smallDisk(t, 10 * mebibyte)
  if (disk === undefined) return
  const { url } = await testRegistry(t, { root: disk.path })
  const query = `?digest=${digestOf(large)}`
  const whole = await wire(`${url}/v2/large/blobs/uploads/${query}`, { method: 'POST', body: large })
  assert.equal(whole.status, 507)
  assert.equal(whole.errorCode(), 'DISK_FULL')
  assert.equal((await wire(await openSession(url), { method: 'PATCH', body: large })).errorCode(), 'DISK_FULL')
  const fits = large.subarray(0, 9 * mebibyte)
  const taken = await wire(`${url}/v2/large/blobs/uploads/?digest=${digestOf(fits)}`, { method: 'POST', body: fits })
  assert.equal(taken.status, 201)
})
