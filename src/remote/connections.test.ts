import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { startScriptedProxy } from '../../testkit/scripted-proxy.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'

test('a connection that the server had closed while it was idle is replaced at once, without an attempt lost', async (t) => {
  const registry = await startScriptedRegistry(t)
  const { client, clock } = testClient(t)
  await client.ping(registry.address)
  registry.fault({ path: /tags/, times: 1, hangUp: true })
  assert.equal(await client.tags({ registry: registry.address, repository: 'x' }), undefined)
  assert.deepEqual(clock.sleeps, [])
})

test('a server that takes the connection and says nothing is left after the time for connecting', async (t) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    setImmediate(() => clock.advance(30_000))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { client, clock } = testClient(t, { isInsecure: () => false })
  await assert.rejects(client.ping(`127.0.0.1:${(server.address() as AddressInfo).port}`), {
    code: 'REGISTRY_UNREACHABLE',
    message: /no connection after 30 s/,
  })
  assert.equal(sockets.size, 3)
})

test('a name that does not resolve is final at once', async (t) => {
  const { client, clock } = testClient(t, { isInsecure: () => false })
  await assert.rejects(client.ping('registry.invalid'), { code: 'REGISTRY_UNREACHABLE' })
  assert.ok(clock.sleeps.length <= 2)
})

test('an insecure host that was down is asked anew whether it speaks HTTPS', async (t) => {
  const first = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await first.close()
  await assert.rejects(client.ping(first.address), {
    code: 'REGISTRY_UNREACHABLE',
    message: /connection refused: nothing listens on that port/,
  })
  const again = await startScriptedRegistry(t)
  await client.ping(again.address)
})

test('no more requests are under way at a host than its pace allows', async (t) => {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await client.ping(registry.address)
  const at = { registry: registry.address, repository: 'x' }
  const answers = await Promise.all(Array.from({ length: 200 }, () => client.tags(at)))
  assert.equal(answers.length, 200)
  const ports = new Set(registry.connections)
  assert.ok(ports.size <= 33, `${ports.size} connections`)
})

test('a plain proxy that wants a password says so, with the setting that gives it', async (t) => {
  const proxy = await startScriptedProxy(t, 'user:password')
  const proxies = { http: new URL(proxy.url), noProxy: '', proxyLoopback: true }
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t, { proxies })
  await assert.rejects(client.ping(registry.address), (error: Error) => {
    assert.match(String(Reflect.get(error, 'hint')), /The proxy wants a name and a password/)
    return true
  })
  assert.equal(registry.requests.length, 0)
})
