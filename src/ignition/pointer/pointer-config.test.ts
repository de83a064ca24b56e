import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCertificate } from '../../../testkit/certificates.ts'
import { decodeDataUrl } from '../data-url.ts'
import { platformLimits } from '../size/platform-limits.ts'
import { judgePointer } from './judge-pointer.ts'
import { type PointerRequest, type PointerTarget, pointerConfig, verificationHash } from './pointer-config.ts'

const bytes = Buffer.from('{"ignition":{"version":"3.2.0"}}')

function request(target: Partial<PointerTarget> = {}, more: Partial<PointerRequest> = {}): PointerRequest {
  const targets = [{ url: 'https://web.lab/b.ign', bytes, hash: 'sha512' as const, isGzip: false, ...target }]
  return { version: '3.0.0', via: 'replace', targets, ...more }
}

function idsOf(asked: PointerRequest, platformName?: string): readonly string[] {
  const platform = platformLimits.find(({ name }) => name === platformName)
  const text = JSON.stringify(pointerConfig(asked))
  return judgePointer(asked, { now: new Date(), platform, text }).map(({ id, severity }) => `${severity} ${id}`)
}

test('a pointer says where, with the hash of the decompressed bytes, and whom to trust', async (t) => {
  const { ca } = await testCertificate(t)
  const { ignition } = pointerConfig(request({ isGzip: true }, { ca, version: '3.2.0' }))
  assert.deepEqual(ignition.config, {
    replace: {
      source: 'https://web.lab/b.ign',
      compression: 'gzip',
      verification: { hash: verificationHash(bytes, 'sha512') },
    },
  })
  const [authority] = ignition.security?.tls?.certificateAuthorities ?? []
  assert.equal(String(decodeDataUrl(authority?.source ?? '').bytes), ca)
  assert.equal(ignition.version, '3.2.0')
})

test('a pointer has the version of its target, or the first that knows what it needs', () => {
  const versionOf = (asked: PointerRequest) => pointerConfig(asked).ignition.version
  assert.equal(versionOf(request()), '3.0.0')
  assert.equal(versionOf(request({ hash: 'sha256' })), '3.1.0')
  assert.equal(versionOf(request({ isGzip: true })), '3.1.0')
  assert.equal(versionOf(request({ url: 'gs://b/o' })), '3.2.0')
  assert.equal(versionOf(request({ url: 'arn:aws:s3:::b/o' })), '3.4.0')
  assert.equal(versionOf(request({ hash: 'sha256' }, { version: '3.3.0' })), '3.3.0')
})

test('what is merged is merged in the order of the targets', () => {
  const two = {
    targets: ['https://a/1', 'https://a/2'].map((url) => ({ url, bytes, hash: 'none' as const, isGzip: false })),
  }
  const { config } = pointerConfig(request({}, { via: 'merge', ...two })).ignition
  assert.deepEqual(config, { merge: [{ source: 'https://a/1' }, { source: 'https://a/2' }] })
})

test('a pointer that Ignition would refuse, or could never fetch, is an error', () => {
  for (const url of ['s3://b/o', 'arn:aws:s3:::b/o']) {
    assert.deepEqual(idsOf(request({ url, isGzip: true })), ['error ignition.pointer-s3-gzip'])
    assert.deepEqual(idsOf(request({ url })), [])
  }
  for (const url of ['ftp://a/b', 'web.lab/b.ign', '/b.ign', ''])
    assert.deepEqual(idsOf(request({ url })), ['error ignition.pointer-url'], url)
  for (const url of ['https://web.lab/%zz', 's3://b/o?versionId='])
    assert.deepEqual(idsOf(request({ url })), ['error ignition.pointer-invalid'], url)
  assert.deepEqual(idsOf(request({}, { ca: 'none' })), ['error ignition.patch-trust-invalid'])
})

test('what makes a pointer unsafe or short-lived is a warning', async (t) => {
  const { ca } = await testCertificate(t)
  assert.deepEqual(idsOf(request({ url: 'http://web.lab/b', hash: 'none' })), ['warning ignition.pointer-unverified'])
  assert.deepEqual(idsOf(request({ url: 'http://web.lab/b' }, { ca })), ['warning ignition.pointer-ca-unused'])
  const url = 'https://b.s3.amazonaws.com/o?X-Amz-Expires=3600&X-Amz-Signature=abcdef'
  assert.deepEqual(idsOf(request({ url })), ['warning ignition.pointer-presigned'])
  assert.deepEqual(idsOf(request({ url: 's3://b/o' }), 'vsphere'), ['warning ignition.pointer-platform'])
  assert.deepEqual(idsOf(request({ url: 's3://b/o' }), 'aws'), [])
})

test('a pointer that is too large itself for its platform is an error', async (t) => {
  const { ca } = await testCertificate(t)
  assert.deepEqual(idsOf(request({}, { ca: ca.repeat(20) }), 'aws'), ['error ignition.pointer-size'])
  assert.deepEqual(idsOf(request({}, { ca }), 'aws'), [])
})
