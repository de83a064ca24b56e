import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCertificate } from '../../testkit/certificates.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { systemClock } from '../host/clock.ts'
import { createLog } from '../host/log.ts'
import { credentialsFromText } from './auth-file.ts'
import { createRegistryClient } from './client.ts'

const host = 'mirror.lab.test'

function clientOf(roots: readonly string[], address: string) {
  return createRegistryClient({
    clock: systemClock,
    log: createLog('error', () => undefined),
    credentials: credentialsFromText('{"credsStore":"secretservice"}', 'config.json'),
    tls: { certsDirs: [], roots },
    proxies: { noProxy: '' },
    lookup: (_name, options, callback) =>
      options.all === true ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4),
    limits: { retries: { attempts: 1, connectAttempts: 1 } },
  })
}

test('a client sees with the trust, the names and the credentials of another machine, and with nothing of this one', async (t) => {
  const { tls, ca } = await testCertificate(t, [host])
  const other = await testCertificate(t, [host])
  const registry = await startEmbeddedRegistry(t, { tls: { certificate: tls.cert, key: tls.key } })
  const place = `${host}:${registry.address.split(':')[1]}`
  const trusting = clientOf([ca], '127.0.0.1')
  t.after(() => trusting.close())
  await trusting.ping(place)
  assert.equal(await trusting.blobSize({ registry: place, repository: 'a' }, `sha256:${'0'.repeat(64)}`), undefined)
  const strange = clientOf([other.ca], '127.0.0.1')
  t.after(() => strange.close())
  await assert.rejects(strange.ping(place), { code: 'REGISTRY_TLS' })
})

test('a credential program that the auth file of another machine names is not run here', async () => {
  assert.equal(await credentialsFromText('{"credsStore":"secretservice"}', 'config.json').find('a.b'), undefined)
})
