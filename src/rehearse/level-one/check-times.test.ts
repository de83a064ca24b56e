import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import { checkTimes, isRefusedHereOnly } from './check-times.ts'
import type { RehearsedHost } from './level-one-report.ts'

const now = Date.UTC(2026, 5, 1, 12)
const hourMs = 60 * 60 * 1000

function certificate(from: number, to: number, place: 'tls' | 'trust-anchor' = 'tls'): FoundCertificate {
  return {
    fingerprint: `${from} ${to}`,
    subject: 'CN=kubelet-signer',
    issuer: 'CN=kubelet-signer',
    names: [],
    isCa: true,
    isSelfSigned: true,
    notBefore: new Date(now + from * hourMs).toISOString(),
    notAfter: new Date(now + to * hourMs).toISOString(),
    isShortLived: to - from <= 24,
    seen: [{ at: { file: '/opt/openshift/tls/kubelet-signer.crt', line: 1 }, place }],
    pem: '',
  }
}

function found(certificates: readonly FoundCertificate[], hosts: readonly RehearsedHost[] = []) {
  return checkTimes({ certificates, hosts, now, fileName: 'x.ign' }).map(({ id, severity }) => [id, severity])
}

const host: RehearsedHost = { host: 'mirror.lab.test', sides: ['bootstrap'], addresses: [] }

test('a fresh config and a mirror with the same time are sound', () => {
  assert.deepEqual(found([certificate(-1, 23)], [{ ...host, skewMs: 60_000 }]), [])
})

test('a certificate that ended is an error, one that ends within hours a warning', () => {
  assert.deepEqual(found([certificate(-25, -1)]), [['rehearse.bootstrap-certificate-expired', 'error']])
  assert.deepEqual(found([certificate(-22, 2)]), [['rehearse.bootstrap-certificate-expires', 'warning']])
  assert.deepEqual(found([certificate(1, 25)]), [['rehearse.bootstrap-certificate-not-yet-valid', 'error']])
})

test('what the host trusts for others is not what the config is used before', () => {
  assert.deepEqual(found([certificate(-25, -1, 'trust-anchor')]), [])
})

test('clocks that are apart are a warning, and an error where one of them refuses certificates', () => {
  const skewed = (hours: number) => [{ ...host, skewMs: hours * hourMs }]
  assert.deepEqual(found([certificate(-2, 22)], skewed(1)), [['rehearse.clock-skew', 'warning']])
  assert.deepEqual(found([certificate(-2, 22)], skewed(-3)), [['rehearse.clock-skew', 'error']])
  // The clock here is behind: by that of the mirror all is well.
  assert.deepEqual(found([certificate(1, 25)], skewed(2)), [['rehearse.clock-skew', 'error']])
  // By both clocks the config is too old.
  assert.deepEqual(found([certificate(-30, -6)], skewed(1)), [
    ['rehearse.bootstrap-certificate-expired', 'error'],
    ['rehearse.clock-skew', 'error'],
  ])
})

test('the certificate of a mirror that ends within a month is a warning', () => {
  const ends = (days: number) => ({
    ...host,
    certificate: {
      subject: '',
      issuer: '',
      names: [],
      notBefore: new Date(0).toISOString(),
      notAfter: new Date(now + days * 24 * hourMs).toISOString(),
    },
  })
  assert.deepEqual(found([], [ends(29)]), [['rehearse.certificate-expires', 'warning']])
  assert.deepEqual(found([], [ends(31)]), [])
})

test('only a difference of clocks explains a refusal by one of them', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }), (from, skew) => {
      const one = certificate(from, from + 24)
      const isRefused = (at: number) => at < from || at >= from + 24
      const expected = skew !== 0 && isRefused(0) && !isRefused(skew)
      return isRefusedHereOnly(one, now, skew * hourMs) === expected
    }),
  )
})
