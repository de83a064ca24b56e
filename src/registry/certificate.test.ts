import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { systemClock } from '../host/clock.ts'
import { selfSignedCertificate } from './certificate.ts'

const hosts = ['localhost', '127.0.0.1', '::1', 'registry.lab']

test('a client that trusts the CA reaches the registry by every name of the certificate', async (t) => {
  const root = await tempDir(t)
  const tls = await selfSignedCertificate({ root, hosts, clock: systemClock })
  const registry = await testRegistry(t, { root, tls })
  const ca = await readFile(tls.caFile, 'utf8')
  for (const servername of ['localhost', 'registry.lab']) {
    const status = await new Promise((resolve, reject) => {
      const outgoing = request(`${registry.url}/v2/`, { ca, servername, agent: false }, (incoming) => {
        incoming.resume()
        resolve(incoming.statusCode)
      })
      outgoing.on('error', reject).end()
    })
    assert.equal(status, 200, servername)
  }
})

test('it is kept, renewed before it ends or for a new name, and the CA stays the same', async (t) => {
  const root = await tempDir(t)
  const clock = new FakeClock({ now: systemClock.now() })
  const first = await selfSignedCertificate({ root, hosts, clock })
  assert.equal(first.isNewAuthority, true)
  const again = await selfSignedCertificate({ root, hosts, clock })
  assert.deepEqual([again.certificate, again.isNewAuthority], [first.certificate, false])
  const named = await selfSignedCertificate({ root, hosts: [...hosts, 'other.lab'], clock })
  assert.equal(named.isNewAuthority, false)
  assert.ok(new X509Certificate(named.certificate).checkHost('other.lab'))
  clock.advance(370 * 24 * 3600 * 1000)
  const renewed = await selfSignedCertificate({ root, hosts, clock })
  assert.equal(renewed.isNewAuthority, false)
  assert.ok(Date.parse(new X509Certificate(renewed.certificate).validTo) > clock.now() + 360 * 24 * 3600 * 1000)
  const authority = new X509Certificate(await readFile(first.caFile, 'utf8'))
  assert.ok(new X509Certificate(renewed.certificate).verify(authority.publicKey))
})

test('keys are for the owner alone', async (t) => {
  const root = await tempDir(t)
  await selfSignedCertificate({ root, hosts, clock: systemClock })
  for (const name of ['ca.key', 'server.key']) assert.equal((await stat(join(root, 'tls', name))).mode & 0o777, 0o600)
})
