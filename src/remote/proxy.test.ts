import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { testCertificate } from '../../testkit/certificates.ts'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { proxiesFromEnv, proxyFor } from './proxy.ts'

const proxied = (url: string, noProxy: string) =>
  proxyFor(new URL(url), { https: new URL('http://proxy:3128'), noProxy }) !== undefined

const cases: readonly [noProxy: string, url: string, isProxied: boolean][] = [
  ['', 'https://quay.io', true],
  ['*', 'https://quay.io', false],
  ['quay.io', 'https://quay.io', false],
  ['quay.io', 'https://cdn.quay.io', false],
  ['quay.io', 'https://notquay.io', true],
  ['.quay.io', 'https://quay.io', true],
  ['.quay.io', 'https://cdn.quay.io', false],
  ['*.quay.io', 'https://cdn.quay.io', false],
  ['quay.io:8443', 'https://quay.io', true],
  ['quay.io:8443', 'https://quay.io:8443', false],
  ['quay.io:443', 'https://quay.io', false],
  ['QUAY.io , x', 'https://quay.io', false],
  ['10.0.0.0/8', 'https://10.1.2.3:5000', false],
  ['10.0.0.0/8', 'https://11.1.2.3', true],
  ['10.1.2.3', 'https://10.1.2.3', false],
  ['fd00::/8', 'https://[fd00::1]', false],
  ['10.0.0.0/99', 'https://10.1.2.3', true],
  ['', 'https://localhost:5000', false],
  ['', 'https://127.0.0.1:5000', false],
  ['', 'https://127.8.8.8', false],
  ['', 'https://[::1]:5000', false],
  ['', 'http://quay.io', false],
]

for (const [noProxy, url, isProxied] of cases) {
  test(`with no_proxy "${noProxy}", ${url} ${isProxied ? 'goes' : 'does not go'} through https_proxy`, () => {
    assert.equal(proxied(url, noProxy), isProxied)
  })
}

test('the environment is read as Go reads it: upper case first, a bare host is HTTP', () => {
  const settings = proxiesFromEnv({ https_proxy: 'http://low:1', HTTPS_PROXY: 'up:3128', no_proxy: 'a,b' })
  assert.equal(settings.https?.href, 'http://up:3128/')
  assert.equal(settings.http, undefined)
  assert.equal(settings.noProxy, 'a,b')
})

test('HTTPS goes through a tunnel, with the name and password of the proxy', async (t) => {
  const { tls } = await testCertificate(t)
  const registry = await startScriptedRegistry(t, { tls })
  const blob = registry.addBlob('x', randomBytes(200_000))
  const proxy = await startScriptedProxy(t, 'user:pa ss')
  const https = new URL(proxy.url.replace('//', '//user:pa%20ss@'))
  const { client } = testClient(t, { proxies: { https, noProxy: '', proxyLoopback: true } })
  let received = 0
  await client.fetchBlob({ registry: registry.address, repository: 'x' }, blob).forEachChunk((chunk) => {
    received += chunk.byteLength
    return undefined
  })
  assert.equal(received, 200_000)
  assert.deepEqual(proxy.requests, [`CONNECT ${registry.address}`])
})

test('plain HTTP is asked for at the proxy by its whole URL', async (t) => {
  const registry = await startScriptedRegistry(t)
  const proxy = await startScriptedProxy(t)
  const { client } = testClient(t, { proxies: { http: new URL(proxy.url), noProxy: '', proxyLoopback: true } })
  await client.ping(registry.address)
  assert.ok(proxy.requests.includes(`GET http://${registry.address}/v2/`), proxy.requests.join())
})

test('a proxy that refuses, or is not there, is named without its password', async (t) => {
  const proxy = await startScriptedProxy(t, 'user:right')
  for (const url of [proxy.url, 'http://127.0.0.1:1']) {
    const https = new URL(url.replace('//', '//user:wrong-secret@'))
    const options = { proxies: { https, noProxy: '', proxyLoopback: true }, isInsecure: () => false }
    const { client, lines } = testClient(t, options)
    await assert.rejects(client.ping('registry.example'), (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'REGISTRY_UNREACHABLE')
      assert.ok(error.message.includes(https.host), error.message)
      assert.ok(!`${error.message}${lines.join()}`.includes('wrong-secret'))
      return true
    })
  }
})
