import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { loadKeys } from './openpgp-keys.ts'
import { makeSampleSigner } from './sample-signer.ts'
import { verifyRelease } from './verify-release.ts'

test('what the sample key signs holds with it, and with no other key', async () => {
  const [signer, other] = await Promise.all([makeSampleSigner('one'), makeSampleSigner('other')])
  const digest = digestOf('a release')
  const reference = 'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64'
  const signature = { number: 1, bytes: await signer.sign(digest, reference) }
  const keys = await loadKeys([{ content: signer.publicKey, origin: 'one' }])
  const verified = await verifyRelease(signature, { digest, keys, now: Date.now() })
  assert.equal(verified.signer.keyId, signer.keyId)
  assert.equal(verified.claim.identity, reference)
  const strangers = await loadKeys([{ content: other.publicKey, origin: 'other' }])
  await assert.rejects(verifyRelease(signature, { digest, keys: strangers, now: Date.now() }), {
    code: 'SIGNATURE_INVALID',
  })
})
