import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { testCertificate } from '../../testkit/certificates.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { TlsOptions } from './tls-settings.ts'
import { tlsOptionsFromEnv } from './tls-settings.ts'

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], hosts?: readonly string[]) {
  const { tls, ca } = await testCertificate(t, hosts)
  const registry = await startScriptedRegistry(t, { tls })
  const directory = await tempDir(t)
  const ping = (options: TlsOptions, isInsecure = false) =>
    testClient(t, { tls: options, isInsecure: () => isInsecure }).client.ping(registry.address)
  return { registry, ca, directory, ping }
}

test('an authority nobody knows is refused, with the path where its certificate belongs', async (t) => {
  const { registry, ping } = await setUp(t)
  await assert.rejects(ping({ certsDirs: [] }), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'REGISTRY_TLS')
    assert.ok(String(Reflect.get(error, 'hint')).includes(`/etc/containers/certs.d/${registry.address}/ca.crt`))
    return true
  })
})

test('certs.d, SSL_CERT_FILE and a further bundle are each enough', async (t) => {
  const { registry, ca, directory, ping } = await setUp(t)
  const file = join(directory, 'ca.pem')
  await writeFile(file, ca)
  await mkdir(join(directory, 'certs.d', registry.address), { recursive: true })
  await writeFile(join(directory, 'certs.d', registry.address, 'ca.crt'), ca)
  await ping({ certsDirs: [join(directory, 'none'), join(directory, 'certs.d')] })
  await ping({ certsDirs: [], caFile: file })
  await ping({ certsDirs: [], extraCaFiles: [file] })
})

test('the first certs.d that has the host is used alone', async (t) => {
  const { registry, ca, directory, ping } = await setUp(t)
  const [first, second] = [join(directory, 'first'), join(directory, 'second')]
  await mkdir(join(first, registry.address), { recursive: true })
  await mkdir(join(second, registry.address), { recursive: true })
  await writeFile(join(second, registry.address, 'ca.crt'), ca)
  await assert.rejects(ping({ certsDirs: [first, second] }), { code: 'REGISTRY_TLS' })
  await ping({ certsDirs: [second, first] })
})

test('a certificate for other names is refused and said to be that', async (t) => {
  const { ca, directory, ping } = await setUp(t, ['registry.lab'])
  const file = join(directory, 'ca.pem')
  await writeFile(file, ca)
  await assert.rejects(ping({ certsDirs: [], caFile: file }), (error: Error) => {
    assert.match(String(Reflect.get(error, 'hint')), /is for other names than 127\.0\.0\.1/)
    return true
  })
})

test('a host that is marked insecure is believed, and no other', async (t) => {
  const { registry, ping } = await setUp(t)
  await ping({ certsDirs: [] }, true)
  const { client } = testClient(t, { isInsecure: () => false })
  await assert.rejects(client.ping(registry.address), { code: 'REGISTRY_TLS' })
  await client.insecurely().ping(registry.address)
  await assert.rejects(client.ping(registry.address), { code: 'REGISTRY_TLS' })
})

test('plain HTTP behind a name that must be HTTPS is told apart from a bad certificate', async (t) => {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t, { isInsecure: () => false })
  await assert.rejects(client.ping(registry.address), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'REGISTRY_TLS')
    assert.match(error.message, /does not speak TLS/)
    return true
  })
  assert.equal(registry.requests.length, 0)
})

test('a file that is no certificate is named with its host', async (t) => {
  const { registry, directory, ping } = await setUp(t)
  await mkdir(join(directory, registry.address))
  await writeFile(join(directory, registry.address, 'ca.crt'), '-----BEGIN CERTIFICATE-----\nnonsense')
  await assert.rejects(ping({ certsDirs: [directory] }), /certificate file for this host cannot be used/)
  await assert.rejects(ping({ certsDirs: [], caFile: join(directory, 'none') }), { code: 'FILE_UNREADABLE' })
})

test('the directories are those of containers/image, the own one first', () => {
  assert.deepEqual(tlsOptionsFromEnv({ HOME: '/home/u', SSL_CERT_FILE: '/ca.pem' }), {
    certsDirs: ['/home/u/.config/containers/certs.d', '/etc/containers/certs.d', '/etc/docker/certs.d'],
    caFile: '/ca.pem',
  })
})

test('a directory named for a side holds the files of every host, and one that is not there is told', async (t) => {
  const { ca, directory, ping } = await setUp(t)
  await writeFile(join(directory, 'lab.crt'), ca)
  await ping({ certsDirs: [], certDir: directory })
  await assert.rejects(ping({ certsDirs: [], certDir: join(directory, 'none') }), { code: 'FILE_UNREADABLE' })
})
