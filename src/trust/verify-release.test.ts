import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { makeReleaseSigner, releaseClaim, signRelease } from '../../testkit/release-signing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { Digest } from '../oci/digest.ts'
import { parseSignatureConfigMaps } from '../openshift/signature-config-map.ts'
import { loadKeys } from './openpgp-keys.ts'
import { loadReleaseKeys } from './release-key.ts'
import { signatureDocuments, signaturesFromDocuments } from './signature-documents.ts'
import { verifyRelease, verifyReleaseSignatures } from './verify-release.ts'

const digest: Digest = `sha256:${'ab'.repeat(32)}`
const other: Digest = `sha256:${'cd'.repeat(32)}`
const image = 'quay.io/example/ocp-release:4.18.9-x86_64'
const clock = new FakeClock({ now: Date.UTC(2026, 10, 21) })

function verifying(signatures: readonly Uint8Array[], publicKey: string) {
  const numbered = signatures.map((bytes, index) => ({ number: index + 1, bytes }))
  return async () =>
    verifyReleaseSignatures({
      digest,
      image,
      source: { readSignatures: async () => numbered },
      keys: await loadKeys([{ content: publicKey, origin: 'test' }]),
      clock,
      signal: new AbortController().signal,
    })
}

test('one signature that holds is enough; all that hold are kept, the others are named', async () => {
  const signer = await makeReleaseSigner()
  const stranger = await makeReleaseSigner()
  const one = await signRelease(signer, { digest, reference: 'quay.io/example/ocp-release:4.18.9-x86_64' })
  const two = await signRelease(signer, { digest, reference: 'registry.example.com/release:4.18.9' })
  const { valid, rejected } = await verifying(
    [await signRelease(stranger, { digest }), one, await signRelease(signer, { digest: other }), two, one],
    signer.publicKey,
  )()
  assert.deepEqual(
    valid.map(({ number, claim }) => [number, claim.identity]),
    [
      [2, 'quay.io/example/ocp-release:4.18.9-x86_64'],
      [4, 'registry.example.com/release:4.18.9'],
    ],
  )
  assert.deepEqual(
    rejected.map(({ number, error }) => [number, error.details['reason']]),
    [
      [1, 'unknown-key'],
      [3, 'other-digest'],
    ],
  )
})

test('no signature and no valid signature are two things', async () => {
  const signer = await makeReleaseSigner()
  await assert.rejects(verifying([], signer.publicKey), {
    code: 'SIGNATURE_MISSING',
    message: `${image} (${digest}) has no release signature`,
  })
  const stranger = await signRelease(await makeReleaseSigner(), { digest })
  await assert.rejects(verifying([stranger], signer.publicKey), {
    code: 'SIGNATURE_INVALID',
    message: /^Signature 1 of quay/,
  })
  const wrong = await signRelease(signer, { digest: other })
  await assert.rejects(verifying([stranger, wrong], signer.publicKey), {
    code: 'SIGNATURE_INVALID',
    message:
      /^None of the 2 signatures of .* holds: Signature 1 .* not among the trusted keys .*; Signature 2 .* is for another image/,
  })
})

test('a signature for another digest names both', async () => {
  const signer = await makeReleaseSigner()
  await assert.rejects(verifying([await signRelease(signer, { digest: other })], signer.publicKey), {
    code: 'SIGNATURE_INVALID',
    message: `Signature 1 of ${image} is for another image: it signs ${other}, not ${digest}`,
  })
})

test('what is signed must be the statement that a cluster takes, and nothing else', async () => {
  const signer = await makeReleaseSigner()
  const claim = JSON.parse(releaseClaim({ digest }))
  const cases: [string, RegExp][] = [
    ['hello', /it is no JSON/],
    ['[]', /is not "atomic container signature": the document/],
    [
      JSON.stringify({ ...claim, critical: { ...claim.critical, type: 'cosign container image signature' } }),
      /of the type "cosign/,
    ],
    [
      JSON.stringify({ ...claim, critical: { ...claim.critical, identity: { 'docker-reference': '' } } }),
      /docker-reference/,
    ],
    [JSON.stringify({ ...claim, extra: 1 }), /extra/],
    [JSON.stringify({ ...claim, optional: { creator: 'x', more: 1 } }), /more/],
  ]
  for (const [text, message] of cases) {
    const signed = await signRelease(signer, { text })
    await assert.rejects(verifying([signed], signer.publicKey), { code: 'SIGNATURE_INVALID', message })
  }
  const bare = await signRelease(signer, { text: JSON.stringify({ critical: claim.critical, optional: null }) })
  assert.equal((await verifying([bare], signer.publicKey)()).valid.length, 1)
})

test('a file of keys stands for the keys that are built in', async (t) => {
  const signer = await makeReleaseSigner()
  const path = join(await tempDir(t), 'key.asc')
  await writeFile(path, signer.publicKey)
  assert.deepEqual(
    (await loadReleaseKeys(path)).map(({ origin }) => origin),
    [path],
  )
  assert.deepEqual(
    (await loadReleaseKeys()).map(({ key }) => key.getFingerprint().slice(-8)),
    ['fd431d51', 'f21541eb'],
  )
  await assert.rejects(loadReleaseKeys(`${path}.none`), {
    code: 'FILE_UNREADABLE',
    message: /OCP_SIGNATURE_VERIFICATION_PK/,
  })
})

test('the keys that are built in are those that releases tell their clusters to trust', async (t) => {
  const path = new URL(
    '../../../shared/data/release/payload-4.12.0/0000_90_cluster-update-keys_configmap.yaml',
    import.meta.url,
  )
  const text = await readFile(path, 'utf8').catch(() => t.skip('the data is not there'))
  if (!text) return
  const content = text.replaceAll(/^ {4}/gm, '')
  const inPayload = await loadKeys([{ content, origin: 'payload' }])
  const builtIn = await loadReleaseKeys()
  assert.deepEqual(
    inPayload.map(({ key }) => key.armor()),
    builtIn.map(({ key }) => key.armor()),
  )
})

test('documents of an archive carry the signatures of each release, in order', async () => {
  const signatures = Array.from({ length: 11 }, (_, index) => ({ number: index + 1, bytes: Buffer.from([index]) }))
  const documents = new Map([
    ...signatureDocuments(digest, signatures.toReversed()),
    ...signatureDocuments(other, [{ number: 7, bytes: Buffer.from('o') }]),
    ['graphs/stable-4.18', Buffer.from('{}')],
  ])
  assert.ok(documents.has(`signatures/sha256-${'ab'.repeat(32)}-11`))
  const { signal } = new AbortController()
  const read = await signaturesFromDocuments(documents).readSignatures(digest, signal)
  assert.deepEqual(
    read.map(({ number, bytes }) => [number, bytes[0]]),
    signatures.map(({ number }) => [number, 11 - number]),
  )
  assert.deepEqual(await signaturesFromDocuments(documents).readSignatures(other, signal), [
    { number: 1, bytes: Buffer.from('o') },
  ])
  assert.deepEqual(await signaturesFromDocuments(new Map()).readSignatures(digest, signal), [])
})

test('the ConfigMaps that oc-mirror wrote for real releases hold what the keys that are built in have signed', async (t) => {
  const folder = new URL('../../../shared/data/cluster-resources/oc-mirror-runs/', import.meta.url)
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => /signature-(?:configmap|sha256).*\.(?:json|yaml)$/.test(name))
  if (files.length === 0) return t.skip('the data is not there')
  const keys = await loadReleaseKeys()
  for (const file of files) {
    const found = parseSignatureConfigMaps(await readFile(new URL(file, folder), 'utf8'), file)
    assert.ok(found.size > 0, file)
    for (const [of, [bytes = new Uint8Array()]] of found) {
      const { claim } = await verifyRelease({ number: 1, bytes }, { digest: of, keys, now: clock.now() })
      assert.match(claim.identity, /^quay\.io\/openshift-release-dev\/ocp-release:4\./)
    }
  }
})
