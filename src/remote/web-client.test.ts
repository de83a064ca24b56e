import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { testCertificate } from '../../testkit/certificates.ts'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { KnownError } from '../errors/known-error.ts'
import type { WebClientOptions } from './web-client.ts'

const graph = Buffer.from('{"nodes":[]}')

async function setUp(t: TestContext, options: Partial<WebClientOptions> = {}) {
  const web = await startScriptedWeb(t)
  web.files.set('/graph', graph)
  const { client, clock, lines } = testWebClient(t, options)
  const read = (url: string | URL = `${web.url}/graph`, maxBytes = 1000) =>
    client.read(new URL(url), { what: 'update graph', signal: t.signal, maxBytes })
  return { web, client, clock, lines, read }
}

function refusal(error: unknown): KnownError {
  assert.ok(error instanceof KnownError, String(error))
  return error
}

test('a document arrives whole, and one that is not there is absent', async (t) => {
  const { web, read } = await setUp(t)
  assert.deepEqual(await read(), { bytes: graph, contentType: 'application/octet-stream' })
  assert.equal(await read(`${web.url}/other`), undefined)
})

test('a 503 that passes is waited for as long as it asks', async (t) => {
  const { web, clock, read } = await setUp(t)
  web.fault({ times: 1, status: 503, headers: { 'retry-after': '7' } })
  assert.deepEqual((await read())?.bytes, graph)
  assert.deepEqual(clock.sleeps, [7000])
})

test('a 503 that stays is told with the number of attempts and what the server said', async (t) => {
  const { web, read } = await setUp(t)
  web.fault({ status: 503, body: 'down for maintenance' })
  const error = refusal(await read().catch((caught: unknown) => caught))
  assert.equal(error.code, 'WEB_UNREACHABLE')
  assert.equal(error.message, `update graph: GET ${web.url}/graph answered 503: down for maintenance (attempt 6)`)
  assert.equal(web.requests.length, 6)
})

test('an answer that is cut is asked for again, and told when it is cut every time', async (t) => {
  const { web, read } = await setUp(t)
  web.fault({ times: 2, cutAfter: 5 })
  assert.deepEqual((await read())?.bytes, graph)
  web.fault({ cutAfter: 5 })
  await assert.rejects(read(), { code: 'WEB_UNREACHABLE', message: /\/graph: the connection was cut \(attempt 6\)$/ })
})

test('the reason that an update service gives is in the message', async (t) => {
  const { web, read } = await setUp(t)
  const body = JSON.stringify({ kind: 'missing_params', value: 'mandatory client parameters missing: channel' })
  web.fault({ status: 400, body, headers: { 'content-type': 'application/json' } })
  await assert.rejects(read(), {
    code: 'WEB_REFUSED',
    message: /answered 400: missing_params: mandatory client parameters missing: channel$/,
  })
  assert.equal(web.requests.length, 1)
})

test('more bytes than expected are refused before they are read', async (t) => {
  const { read } = await setUp(t)
  await assert.rejects(read(undefined, 5), { code: 'WEB_INVALID', message: /sends more than 5 bytes/ })
})

test('redirects are followed, five at most', async (t) => {
  const { web, read } = await setUp(t)
  web.routes.set('/once', () => ({ status: 302, headers: { location: '/graph' } }))
  web.routes.set('/loop', () => ({ status: 302, headers: { location: '/loop' } }))
  assert.deepEqual((await read(`${web.url}/once`))?.bytes, graph)
  await assert.rejects(read(`${web.url}/loop`), { code: 'WEB_REFUSED', message: /\/loop: more than 5 redirects/ })
})

test('a redirect from HTTPS to plain HTTP is refused', async (t) => {
  const { tls, ca } = await testCertificate(t)
  const secure = await startScriptedWeb(t, { tls })
  const file = join(await tempDir(t), 'ca.pem')
  await writeFile(file, ca)
  const { web, read } = await setUp(t, { tls: { certsDirs: [], caFile: file } })
  secure.routes.set('/graph', () => ({ status: 302, headers: { location: `${web.url}/graph` } }))
  await assert.rejects(read(`${secure.url}/graph`), { code: 'WEB_REFUSED', message: /redirects from HTTPS to http:/ })
  assert.equal(web.requests.length, 0)
})

test('name and password of a URL go to its host and to no other, and into no message', async (t) => {
  const { web, lines, read } = await setUp(t)
  const other = await startScriptedWeb(t)
  other.files.set('/graph', graph)
  web.routes.set('/away', () => ({ status: 302, headers: { location: `${other.url}/graph` } }))
  const withPassword = new URL(`${web.url}/away`)
  withPassword.username = 'reader'
  withPassword.password = 'hunter2%'
  assert.deepEqual((await read(withPassword))?.bytes, graph)
  assert.equal(web.requests[0]?.headers.authorization, `Basic ${Buffer.from('reader:hunter2%').toString('base64')}`)
  assert.equal(other.requests[0]?.headers.authorization, undefined)
  web.fault({ status: 500 })
  const error = refusal(await read(withPassword).catch((caught: unknown) => caught))
  assert.doesNotMatch(JSON.stringify([error.message, error.details, lines]), /hunter2/)
})

test('a proxy with a password is used, and one that refuses is named', async (t) => {
  const credentials = 'user:fence'
  const proxy = await startScriptedProxy(t, credentials)
  const through = (url: string) => ({ http: new URL(url), noProxy: '', proxyLoopback: true })
  const good = await setUp(t, { proxies: through(proxy.url.replace('//', `//${credentials}@`)) })
  assert.deepEqual((await good.read())?.bytes, graph)
  assert.equal(proxy.requests[0], `GET ${good.web.url}/graph`)
  const bad = await setUp(t, { proxies: through(proxy.url) })
  const error = refusal(await bad.read().catch((caught: unknown) => caught))
  assert.equal(error.code, 'WEB_UNREACHABLE')
  assert.match(error.message, /answered 407/)
  assert.match(error.hint, /http:\/\/NAME:PASSWORD@HOST:PORT|http:\/\/HOST:PORT/)
})

test('HTTPS through a proxy that wants a password says that it is the proxy', async (t) => {
  const { tls } = await testCertificate(t)
  const secure = await startScriptedWeb(t, { tls })
  const proxy = await startScriptedProxy(t, 'user:fence')
  const { read } = await setUp(t, { proxies: { https: new URL(proxy.url), noProxy: '', proxyLoopback: true } })
  const error = refusal(await read(`${secure.url}/graph`).catch((caught: unknown) => caught))
  assert.equal(error.code, 'WEB_UNREACHABLE')
  assert.match(
    error.message,
    new RegExp(`the proxy ${new URL(proxy.url).host} answered 407 to CONNECT ${secure.address}`),
  )
})

test('an authority nobody knows is refused, with where to name it; with its certificate it is believed', async (t) => {
  const { tls, ca } = await testCertificate(t)
  const secure = await startScriptedWeb(t, { tls })
  secure.files.set('/graph', graph)
  const { read } = await setUp(t)
  const error = refusal(await read(`${secure.url}/graph`).catch((caught: unknown) => caught))
  assert.equal(error.code, 'WEB_TLS')
  assert.match(error.message, /the certificate is not trusted/)
  assert.match(error.hint, /--ca FILE or SSL_CERT_FILE/)
  const file = join(await tempDir(t), 'ca.pem')
  await writeFile(file, ca)
  const believed = await setUp(t, { tls: { certsDirs: [], extraCaFiles: [file] } })
  assert.deepEqual((await believed.read(`${secure.url}/graph`))?.bytes, graph)
  const insecure = await setUp(t, { isInsecure: true })
  assert.deepEqual((await insecure.read(`${secure.url}/graph`))?.bytes, graph)
})

test('a port where nobody listens is given up soon', async (t) => {
  const { web, read, clock } = await setUp(t)
  await web.close()
  await assert.rejects(read(), { code: 'WEB_UNREACHABLE', message: /connection refused.*\(attempt 3\)/ })
  assert.equal(clock.sleeps.length, 2)
})

test('file URLs are read where the caller allows it, and nothing else is a URL of the web', async (t) => {
  const { client, read } = await setUp(t)
  const url = pathToFileURL(join(await tempDir(t), 'boot.iso'))
  const request = { what: 'boot image', signal: t.signal, isFileAllowed: true }
  assert.equal(await client.describe(url, request), undefined)
  const bytes = randomBytes(200_000)
  await writeFile(url, bytes)
  assert.deepEqual(await client.describe(url, request), { size: 200_000 })
  const chunks: Uint8Array[] = []
  for await (const chunk of client.open(url, { ...request, offset: 150_000 })) chunks.push(chunk)
  assert.deepEqual(Buffer.concat(chunks), bytes.subarray(150_000))
  await assert.rejects(client.read(url, { ...request, maxBytes: 100 }), { code: 'WEB_INVALID' })
  await assert.rejects(read(url), { code: 'WEB_REFUSED' })
})

test('the size of a file is known without reading it, also from servers that refuse HEAD', async (t) => {
  const { web, client } = await setUp(t)
  web.files.set('/boot.iso', randomBytes(300_000))
  const request = { what: 'boot image', signal: t.signal }
  const url = new URL(`${web.url}/boot.iso`)
  assert.deepEqual(await client.describe(url, request), { size: 300_000 })
  web.fault({ method: 'HEAD', times: 1, status: 403 })
  assert.deepEqual(await client.describe(url, request), { size: 300_000 })
  assert.equal(web.requests.at(-1)?.headers.range, 'bytes=0-0')
  assert.equal(await client.describe(new URL(`${web.url}/none`), request), undefined)
})
