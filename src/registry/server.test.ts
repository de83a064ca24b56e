import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { wire } from '../../testkit/wire.ts'
import { systemClock } from '../host/clock.ts'
import { silentLog } from '../host/log.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { htpasswdLine } from './htpasswd.ts'
import { startRegistry } from './server.ts'

const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` })

test('without the password nothing is answered but where to give it', async (t) => {
  const htpasswd = join(await tempDir(t), 'users')
  await writeFile(htpasswd, await htpasswdLine('admin', 'pass:word'), { mode: 0o600 })
  const { url } = await testRegistry(t, { htpasswd })
  for (const headers of [
    {},
    basic('admin:wrong'),
    basic('nobody:x'),
    basic('no colon'),
    { Authorization: 'Bearer x' },
  ]) {
    const answer = await wire(`${url}/v2/`, { headers })
    assert.equal(answer.status, 401)
    assert.match(String(answer.headers['www-authenticate']), /^Basic realm="[^"]+"/)
    assert.equal(answer.errorCode(), 'UNAUTHORIZED')
  }
  assert.equal((await wire(`${url}/v2/`, { headers: basic('admin:pass:word') })).status, 200)
})

test('a read-only registry serves and refuses every change', async (t) => {
  const root = await tempDir(t)
  const bytes = randomBytes(100)
  const writable = await startRegistry({ root, log: silentLog, clock: systemClock })
  await wire(`${writable.url}/v2/a/blobs/uploads/?digest=${digestOf(bytes)}`, { method: 'POST', body: bytes })
  await writable.close()
  const { url } = await testRegistry(t, { root, readOnly: true })
  assert.deepEqual((await wire(`${url}/v2/a/blobs/${digestOf(bytes)}`)).body, bytes)
  const changes = [
    ['POST', 'blobs/uploads/'],
    ['PUT', 'manifests/v1'],
    ['DELETE', `blobs/${digestOf(bytes)}`],
    ['DELETE', 'manifests/v1'],
  ] as const
  for (const [method, path] of changes) {
    const answer = await wire(`${url}/v2/a/${path}`, { method })
    assert.deepEqual([answer.status, answer.errorCode()], [405, 'UNSUPPORTED'])
  }
})

test('an index over manifests that are not here is taken or refused, as the option says', async (t) => {
  const absent = { mediaType: mediaTypes.ociManifest, digest: digestOf('absent'), size: 6 }
  const body = JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [absent] })
  const put = async (sparseIndex: 'allow' | 'refuse') => {
    const { url } = await testRegistry(t, { sparseIndex })
    return wire(`${url}/v2/a/manifests/v1`, { method: 'PUT', body, headers: { 'Content-Type': mediaTypes.ociIndex } })
  }
  assert.equal((await put('allow')).status, 201)
  const refused = await put('refuse')
  assert.equal(refused.errorCode(), 'MANIFEST_BLOB_UNKNOWN')
  assert.match(refused.body.toString(), new RegExp(absent.digest))
})

test('plain HTTP on another address than loopback needs to be asked for', async (t) => {
  const options = { root: await tempDir(t), listen: { host: '0.0.0.0', port: 0 }, log: silentLog, clock: systemClock }
  await assert.rejects(startRegistry(options), { code: 'USAGE' })
  const { url } = await testRegistry(t, { ...options, insecureHttp: true })
  assert.match(url, /^http:/)
})

test('a port that is in use is named', async (t) => {
  const first = await testRegistry(t)
  const listen = { host: '127.0.0.1', port: Number(new URL(first.url).port) }
  const second = startRegistry({ root: await tempDir(t), listen, log: silentLog, clock: systemClock })
  await assert.rejects(second, { code: 'LISTEN_FAILED', message: new RegExp(first.address) })
})

test('a client that comes back takes its upload over from the connection it lost', async (t) => {
  const { url } = await testRegistry(t)
  const bytes = randomBytes(300_000)
  const started = await wire(`${url}/v2/a/blobs/uploads/`, { method: 'POST' })
  const path = `${url}${started.headers.location}`
  const lost = request(path, { method: 'PATCH', headers: { 'Content-Length': bytes.length } })
  const cutOff = new Promise((resolve) => lost.once('error', resolve))
  await new Promise((resolve) => lost.write(bytes.subarray(0, 100_000), resolve))
  // Until the first request has begun to write there is nothing to take over.
  for (let range = '0-0'; range === '0-0'; range = String((await wire(path)).headers.range));
  const refused = await wire(path, { method: 'PATCH', body: bytes, headers: { 'Content-Range': '299999-599998' } })
  assert.equal(refused.status, 416)
  await cutOff
  const offset = Number(String((await wire(path)).headers.range).slice(2)) + 1
  const rest = { method: 'PUT', body: bytes.subarray(offset) }
  assert.equal((await wire(`${path}?digest=${digestOf(bytes)}`, rest)).status, 201)
})

test('two repositories are listed in pages, and one with nothing in it is not', async (t) => {
  const { url } = await testRegistry(t)
  const body = JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [] })
  for (const name of ['b/c', 'a', 'b-d'])
    await wire(`${url}/v2/${name}/manifests/v1`, {
      method: 'PUT',
      body,
      headers: { 'Content-Type': mediaTypes.ociIndex },
    })
  await wire(`${url}/v2/empty/blobs/uploads/`, { method: 'POST' })
  const first = await wire(`${url}/v2/_catalog?n=2`)
  assert.deepEqual(first.json(), { repositories: ['a', 'b-d'] })
  const next = /<([^>]+)>/.exec(String(first.headers['link']))?.[1]
  assert.deepEqual((await wire(url + next)).json(), { repositories: ['b/c'] })
})
