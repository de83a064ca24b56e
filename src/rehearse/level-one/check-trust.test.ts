import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { makeSiteAuthority } from '../../../testkit/site-certificates.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { readCertificates } from '../../openshift/bootstrap/certificates.ts'
import { checkTrust } from './check-trust.ts'

const now = Date.UTC(2026, 5, 1)
const bundle = '/etc/pki/ca-trust/source/anchors/ca.crt'

async function found(text: string, { at = now, issuer = '' } = {}) {
  const document = await makeBootstrap()
  document.write(bundle, text)
  const { config } = readIgnitionConfig(document.toString(), 'x.ign')
  const bootstrap = readBootstrap(config, { fileName: 'x.ign' })
  const certificates = readCertificates(config, bootstrap.files)
  const certificate = { subject: 'CN=mirror', issuer, names: [], notBefore: '', notAfter: '' }
  const hosts = [{ host: 'mirror.lab.test', sides: [], addresses: [], certificate }]
  return checkTrust(bootstrap, { certificates, hosts, now: at }).map(({ id, severity, where }) => [
    id,
    severity,
    where?.line,
  ])
}

test('a bundle of authorities is sound, with text before it and without any bundle at all', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'Lab CA' })
  assert.deepEqual(await found(pem), [])
  assert.deepEqual(await found(`the CA of the lab:\n${pem}\n\n`), [])
  assert.deepEqual(await found('\n'), [])
})

test('text after the last certificate is a warning at its line: the installer refuses it', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'Lab CA' })
  const line = pem.split('\n').length + 1
  assert.deepEqual(await found(`${pem}\nmore\n`), [['rehearse.trust-bundle-invalid', 'warning', line]])
})

test('what is no PEM, or is cut, is an error', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'Lab CA' })
  assert.deepEqual(await found('MIIB\n'), [['rehearse.trust-bundle-invalid', 'error', 1]])
  assert.deepEqual(await found(pem.slice(0, 200)), [['rehearse.trust-bundle-invalid', 'error', 1]])
})

test('a certificate that is no authority is an error alone, and a warning beside one', async () => {
  const authority = await makeSiteAuthority({ now, name: 'Lab CA' })
  const { cert } = await authority.issue({ hosts: ['mirror.lab.test'] })
  assert.deepEqual(await found(cert), [['rehearse.trust-bundle-no-ca', 'error', 1]])
  assert.deepEqual(
    (await found(authority.pem + cert)).map(([id, severity]) => [id, severity]),
    [['rehearse.trust-bundle-no-ca', 'warning']],
  )
})

test('an authority that has expired is an error where a mirror hangs on it', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'Old CA' })
  const at = now + 11 * 365 * 24 * 60 * 60 * 1000
  assert.deepEqual(await found(pem, { at }), [['rehearse.trust-bundle-expired', 'warning', 1]])
  assert.deepEqual(await found(pem, { at, issuer: 'CN=Old CA' }), [['rehearse.trust-bundle-expired', 'error', 1]])
})
