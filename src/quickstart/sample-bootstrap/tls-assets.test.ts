import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { madeAt } from '../../../testkit/sample-bootstrap.ts'
import { sampleTlsAssets } from './tls-assets.ts'
import { plannedCertificates } from './tls-plan.ts'

const hourMs = 60 * 60 * 1000

function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

function hoursOf(pem: string | undefined): number {
  const [certificate] = certificatesIn(pem ?? '')
  return (Date.parse(certificate?.validTo ?? '') - Date.parse(certificate?.validFrom ?? '')) / hourMs
}

test('certificates live for a day, a year or ten, as those of the installer do', async () => {
  const tls = await sampleTlsAssets({ seed: 'a', notBefore: madeAt })
  const of = (hours: number) =>
    plannedCertificates({})
      .map(({ name }) => name)
      .filter((name) => hoursOf(tls[`${name}.crt`]) === hours)
      .sort()
  assert.deepEqual(of(24), [
    'aggregator-ca',
    'aggregator-client',
    'aggregator-signer',
    'apiserver-proxy',
    'kube-apiserver-internal-lb-server',
    'kube-apiserver-lb-server',
    'kube-apiserver-localhost-server',
    'kube-apiserver-service-network-server',
    'kubelet-signer',
  ])
  assert.deepEqual(of(24 * 365), [
    'kube-apiserver-to-kubelet-client',
    'kube-apiserver-to-kubelet-signer',
    'kube-control-plane-kube-controller-manager-client',
    'kube-control-plane-kube-scheduler-client',
    'kube-control-plane-signer',
  ])
  assert.equal(of(24 * 3650).length, plannedCertificates({}).length - 14)
})

test('every certificate is signed by its signer, begins with the clock, and fits its key', async () => {
  const tls = await sampleTlsAssets({ seed: 'a', notBefore: madeAt })
  const parsed = (name: string) => new X509Certificate(tls[`${name}.crt`] ?? '')
  for (const { name, signer = name, isAuthority = false } of plannedCertificates({})) {
    const certificate = parsed(name)
    assert.ok(certificate.checkIssued(parsed(signer)), name)
    assert.ok(certificate.verify(parsed(signer).publicKey), name)
    assert.ok(certificate.checkPrivateKey(createPrivateKey(tls[`${name}.key`] ?? '')), name)
    assert.equal(certificate.ca, isAuthority, name)
    assert.equal(Date.parse(certificate.validFrom), madeAt, name)
  }
})

test('servers of the API are named for the cluster, and bring their signer', async () => {
  const tls = await sampleTlsAssets({ seed: 'a', notBefore: madeAt, clusterName: 'air', baseDomain: 'example.test' })
  const [server, signer] = certificatesIn(tls['kube-apiserver-internal-lb-server.crt'] ?? '')
  assert.equal(server?.subjectAltName, 'DNS:api-int.air.example.test')
  assert.equal(signer?.subject, 'OU=openshift\nCN=kube-apiserver-lb-signer')
  const bundle = certificatesIn(tls['kube-apiserver-complete-client-ca-bundle.crt'] ?? '')
  assert.equal(bundle.length, 5)
})

test('seed and clock decide every byte', async () => {
  const one = await sampleTlsAssets({ seed: 'a', notBefore: madeAt })
  assert.deepEqual(await sampleTlsAssets({ seed: 'a', notBefore: madeAt }), one)
  const other = await sampleTlsAssets({ seed: 'b', notBefore: madeAt })
  assert.notEqual(other['root-ca.key'], one['root-ca.key'])
})
