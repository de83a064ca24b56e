import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { makeSiteAuthority } from '../../../testkit/site-certificates.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { encodeDataUrl } from '../../ignition/data-url.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrapFiles } from './bootstrap-file.ts'
import { type CertificateReport, readCertificates, useBefore } from './certificates.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const hourMs = 60 * 60 * 1000
const tls = '/opt/openshift/tls'

function certificatesOf(config: IgnitionConfig): CertificateReport {
  return readCertificates(config, readBootstrapFiles(config))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

test('one certificate in many places is found once, with each place and its line', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'root-ca' })
  const pointer = JSON.stringify({
    ignition: { security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(pem) }] } } },
  })
  const indented = pem.trim().split('\n').join('\n    ')
  const config = ignitionConfig({
    [`${tls}/bundle.crt`]: `\n# mine\n${pem}`,
    '/opt/openshift/auth/kubeconfig': `clusters:\n- cluster:\n    certificate-authority-data: ${base64(pem)}\n`,
    '/opt/openshift/manifests/ca.yaml': `data:\n  ca.crt: |\n    ${indented}\n`,
    '/opt/openshift/openshift/user-data.yaml': `data:\n  userData: ${base64(pointer)}\n`,
    '/etc/pki/ca-trust/source/anchors/ca.crt': pem,
    '/opt/openshift/openshift/mc.json': JSON.stringify({ contents: pem }),
  })
  const security = { tls: { certificateAuthorities: [{ source: encodeDataUrl(pem) }] } }
  const { certificates, broken } = certificatesOf({ ...config, ignition: { ...config.ignition, security } })
  const [only, ...others] = certificates
  assert.deepEqual([others, broken], [[], []])
  assert.deepEqual(
    only?.seen.map(({ at, place }) => `${place} ${at.file}:${at.line}`),
    [
      'ignition ignition.security.tls.certificateAuthorities.0:1',
      `tls ${tls}/bundle.crt:3`,
      'kubeconfig /opt/openshift/auth/kubeconfig:3',
      'manifest /opt/openshift/manifests/ca.yaml:3',
      'manifest /opt/openshift/openshift/user-data.yaml:2',
      'trust-anchor /etc/pki/ca-trust/source/anchors/ca.crt:1',
      'manifest /opt/openshift/openshift/mc.json:1',
    ],
  )
  assert.deepEqual([only?.subject, only?.isCa, only?.isSelfSigned], ['CN=root-ca', true, true])
})

test('those of a day are told from others, and the first to end says until when the config is of use', async () => {
  const authority = await makeSiteAuthority({ now, name: 'mirror CA' })
  const day = await authority.issue({
    hosts: ['api.lab', '10.0.0.1'],
    commonName: 'day',
    notBefore: now,
    notAfter: now + 24 * hourMs,
  })
  const hour = await authority.issue({ hosts: ['old.lab'], commonName: 'gone', notAfter: now + hourMs })
  const { certificates } = certificatesOf(
    ignitionConfig({
      [`${tls}/day.crt`]: day.cert,
      [`${tls}/ca.crt`]: authority.pem,
      '/etc/pki/ca-trust/source/anchors/ca.crt': hour.cert,
    }),
  )
  const [first] = certificates
  assert.deepEqual(
    [first?.subject, first?.names, first?.isShortLived, first?.isCa],
    ['CN=day', ['api.lab', '10.0.0.1'], true, false],
  )
  assert.equal(certificates[1]?.isShortLived, false)
  assert.equal(useBefore(certificates)?.subject, 'CN=day', 'what is to be trusted for others does not count')
  assert.equal(useBefore(certificates)?.notAfter, '2026-11-22T12:00:00.000Z')
  assert.equal(useBefore([]), undefined)
})

test('a key beside a certificate is its own, another, or unreadable', async () => {
  const authority = await makeSiteAuthority({ now, name: 'Site CA' })
  const [one, other] = [await authority.issue({ hosts: ['a'] }), await authority.issue({ hosts: ['b'] })]
  const config = ignitionConfig({
    [`${tls}/one.crt`]: one.cert + authority.pem,
    [`${tls}/one.key`]: one.key,
    [`${tls}/other.crt`]: other.cert,
    [`${tls}/other.key`]: one.key,
  })
  const files = readBootstrapFiles(config)
  const states = (checksKeys: boolean) =>
    readCertificates(config, files, { checksKeys }).certificates.map(({ key }) => key)
  assert.deepEqual(states(true), ['matches', undefined, 'differs'])
  assert.deepEqual(states(false), [undefined, undefined, undefined])
  const scrubbed = ignitionConfig({ [`${tls}/one.crt`]: one.cert, [`${tls}/one.key`]: 'REDACTED' })
  assert.equal(certificatesOf(scrubbed).certificates[0]?.key, 'unreadable')
})

test('what is cut off or is none is told with its place', async () => {
  const { pem } = await makeSiteAuthority({ now, name: 'Site CA' })
  const whole = pem.trimEnd()
  const cut = whole.split('\n').slice(0, 3)
  const text = [...cut, whole, '-----BEGIN CERTIFICATE-----', 'AA=='].join('\n')
  const { certificates, broken } = certificatesOf(ignitionConfig({ '/etc/pki/ca-trust/source/anchors/ca.crt': text }))
  assert.equal(certificates.length, 1)
  assert.deepEqual(
    broken.map(({ line }) => line),
    [1, 4 + whole.split('\n').length],
  )
})

const real = '../shared/data/installer/ign/jds2001-ocp42-disconnected-spec2.2-bootstrap.ign'

test('a real config of 4.2: every certificate, the machine config server under its root, a mirror that it trusts', (t) => {
  if (!existsSync(real)) return t.skip(`${real} is not here`)
  const { config } = readIgnitionConfig(readFileSync(real, 'utf8'), real)
  const { certificates, broken } = certificatesOf(config)
  assert.deepEqual([certificates.length, broken], [29, []])
  assert.equal(certificates.filter(({ isShortLived }) => isShortLived).length, 10)
  assert.equal(useBefore(certificates)?.notAfter, '2019-10-01T22:46:23.000Z')
  const server = certificates.find(({ subject }) => subject === 'CN=api-int.openshift4poc.example.local')
  assert.deepEqual(
    [server?.issuer, server?.names],
    ['OU=openshift, CN=root-ca', ['api-int.openshift4poc.example.local']],
  )
  const anchor = certificates.find(({ seen }) => seen.some(({ place }) => place === 'trust-anchor'))
  assert.match(anchor?.subject ?? '', /CN=registry\.local$/)
})
