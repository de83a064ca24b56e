import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeImage } from '../../testkit/image.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import {
  annotated,
  bundleReferrer,
  dsseEnvelope,
  logEntry,
  type MadeSignature,
  makeSigningKey,
  makeSigstoreSignature,
  type SigningKey,
  signatureReferrer,
  signatureTag,
  signBytes,
} from '../../testkit/sigstore-signing.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { verifySigstore } from './sigstore.ts'
import { parseSigstoreKey } from './sigstore-key.ts'
import type { SigstoreFaultKind } from './sigstore-signature.ts'

const image = makeImage({ seed: 'signed', layers: 1, tag: '1' })
const key = makeSigningKey()
const stranger = makeSigningKey()
const signatureAnnotation = 'dev.cosignproject.cosign/signature'

interface Attached {
  readonly signatures?: readonly MadeSignature[]
  readonly others?: readonly SampleImage[]
}

interface Site {
  readonly registry: ScriptedRegistry
  verify(keys?: readonly SigningKey[], type?: 'matchRepository' | 'matchExact'): ReturnType<typeof verifySigstore>
}

/** A registry that holds the image as `ns/app:1`, and what is attached to it. */
async function makeSite(t: TestContext, attached: (reference: string) => Attached): Promise<Site> {
  const registry = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { signatures, others = [] } = attached(`${registry.address}/ns/app:1`)
  const tagged = signatures === undefined ? [] : [signatureTag(image.digest, signatures)]
  const { client } = testClient(t)
  await pushAll(client, registry.address, [{ repository: 'ns/app', images: [image, ...tagged, ...others] }])
  const verify: Site['verify'] = (keys = [key], type = 'matchRepository') =>
    verifySigstore({
      source: client,
      image: { registry: registry.address, repository: 'ns/app', tag: '1' },
      digest: image.digest,
      keys: keys.map(({ publicPem }, index) => parseSigstoreKey(publicPem, `key ${index + 1}`)),
      identity: { type },
      signal: t.signal,
    })
  return { registry, verify }
}

const sign = (dockerReference: string, by = key, more: object = {}) =>
  makeSigstoreSignature({ key: by, digest: image.digest, dockerReference, ...more })

for (const type of ['p256', 'p384', 'p521', 'rsa', 'ed25519'] as const) {
  test(`a signature by a key of type ${type} is found under its tag`, async (t) => {
    const own = makeSigningKey(type)
    const { verify, registry } = await makeSite(t, (reference) => ({ signatures: [sign(reference, own)] }))
    const verified = await verify([stranger, own], 'matchExact')
    assert.equal(verified.key.origin, 'key 2')
    assert.equal(verified.dockerReference, `${registry.address}/ns/app:1`)
  })
}

test('one signature that counts is enough', async (t) => {
  const { verify } = await makeSite(t, (reference) => ({ signatures: [sign(reference, stranger), sign(reference)] }))
  assert.equal((await verify()).key.origin, 'key 1')
})

const referrers: readonly (readonly [title: string, make: (reference: string) => SampleImage])[] = [
  ['a layer of simple signing', (reference) => signatureReferrer(image, [sign(reference)])],
  ['a bundle with a statement', () => bundleReferrer(image, dsseEnvelope(key, image.digest))],
  ['a bundle with a message signature', () => bundleReferrer(image, messageSignature(key))],
]

for (const [title, make] of referrers) {
  test(`a referrer that is ${title} counts`, async (t) => {
    const { verify } = await makeSite(t, (reference) => ({ others: [make(reference)] }))
    assert.equal((await verify()).key.origin, 'key 1')
  })
}

function messageSignature(by: SigningKey): object {
  const bytes = image.manifests.at(-1)?.bytes ?? Buffer.of()
  return { messageSignature: { signature: signBytes(by, bytes).toString('base64') } }
}

const flip = (signature: MadeSignature): MadeSignature => {
  const bytes = Buffer.from(signature.annotations[signatureAnnotation] ?? '', 'base64')
  bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
  return annotated(signature, { [signatureAnnotation]: bytes.toString('base64') })
}
const logged = (signature: MadeSignature, by = key) =>
  annotated(signature, {
    'dev.sigstore.cosign/bundle': logEntry({ log: makeSigningKey(), signer: by.publicPem, signature }),
  })
const payload = (text: string) => ({ payload: Buffer.from(text) })

const faults: readonly (readonly [
  title: string,
  fault: SigstoreFaultKind,
  make: (name: string) => Attached,
  message: RegExp,
])[] = [
  [
    'made with another key, without a log entry',
    'not-verified',
    (name) => ({ signatures: [sign(name, stranger)] }),
    /verifies with none of the keys key 1 \(SHA256:.*: it was made with another key, or altered/,
  ],
  [
    'made with another key, by its log entry',
    'other-key',
    (name) => ({ signatures: [logged(sign(name, stranger), stranger)] }),
    /was made with the key SHA256:\S+, not with key 1/,
  ],
  [
    'with a flipped bit, by its log entry',
    'altered',
    (name) => ({ signatures: [flip(logged(sign(name)))] }),
    /was altered: its signature is another than its log entry says/,
  ],
  [
    'with another payload, by its log entry',
    'altered',
    (name) => ({ signatures: [{ ...logged(sign(name)), payload: Buffer.from('{}') }] }),
    /was altered: its payload/,
  ],
  ['with a flipped bit', 'not-verified', (name) => ({ signatures: [flip(sign(name))] }), /or altered/],
  [
    'without its annotation',
    'altered',
    (name) => ({ signatures: [{ ...sign(name), annotations: {} }] }),
    /lacks the annotation dev\.cosignproject/,
  ],
  [
    'that is no base64',
    'altered',
    (name) => ({ signatures: [annotated(sign(name), { [signatureAnnotation]: '!' })] }),
    /is no base64/,
  ],
  [
    'for another digest',
    'other-digest',
    (name) => ({ signatures: [sign(name, key, { digest: `sha256:${'a'.repeat(64)}` })] }),
    /is for sha256:a{64}, not for sha256:/,
  ],
  [
    'for another name',
    'other-identity',
    () => ({ signatures: [sign('elsewhere.test/app:1')] }),
    /for the name "elsewhere\.test\/app:1", which matchRepository for 127\.0\.0\.1:\d+\/ns\/app:1 does not accept/,
  ],
  [
    'of something that is no JSON',
    'not-json',
    (name) => ({ signatures: [sign(name, key, payload('not JSON'))] }),
    /not what cosign signs: "n" is not expected/,
  ],
  [
    'of JSON that says something else',
    'not-json',
    (name) => ({ signatures: [sign(name, key, payload('{"critical":{},"optional":null,"more":1}'))] }),
    /unknown field "more"/,
  ],
  [
    'of another type',
    'not-json',
    (name) => ({
      signatures: [
        sign(
          name,
          key,
          payload(
            JSON.stringify({
              critical: { type: 'atomic container signature', image: {}, identity: {} },
              optional: null,
            }),
          ),
        ),
      ],
    }),
    /critical\.type is "atomic/,
  ],
  [
    'in a bundle for another digest',
    'other-digest',
    () => ({ others: [bundleReferrer(image, dsseEnvelope(key, `sha256:${'a'.repeat(64)}`))] }),
    /bundle 1 of .* is for sha256:a{64}/,
  ],
  [
    'in a bundle by another key',
    'not-verified',
    () => ({ others: [bundleReferrer(image, dsseEnvelope(stranger, image.digest))] }),
    /verifies with none/,
  ],
  [
    'in a bundle that holds none',
    'unsupported',
    () => ({ others: [bundleReferrer(image, {})] }),
    /neither a message signature nor a DSSE/,
  ],
]

for (const [title, fault, make, message] of faults) {
  test(`a signature ${title} does not count, and it is said why`, async (t) => {
    const { verify } = await makeSite(t, make)
    await assert.rejects(verify(), (error: { code: string; message: string; details: { fault: string } }) => {
      assert.equal(error.code, 'SIGNATURE_INVALID')
      assert.equal(error.details.fault, fault)
      assert.match(error.message, message)
      return true
    })
  })
}

test('no signature at all is another error than one that does not count', async (t) => {
  const { verify } = await makeSite(t, () => ({}))
  await assert.rejects(verify(), {
    code: 'SIGNATURE_MISSING',
    message: /has no sigstore signature: no tag sha256-.*\.sig, no referrer/,
  })
})

test('an attestation is no signature', async (t) => {
  const attestation = dsseEnvelope(key, image.digest, 'https://slsa.dev/provenance/v1')
  const { verify } = await makeSite(t, () => ({ others: [bundleReferrer(image, attestation)] }))
  await assert.rejects(verify(), { code: 'SIGNATURE_MISSING' })
})

test('a payload that is not what its descriptor says does not count', async (t) => {
  const { verify, registry } = await makeSite(t, (reference) => ({ signatures: [sign(reference)] }))
  registry.fault({
    method: 'GET',
    path: /blobs/,
    change: (body) => body.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
  })
  await assert.rejects(verify(), { code: 'SIGNATURE_INVALID', message: /its payload is not the bytes of sha256:/ })
})

test('a tag that is no image of signatures is refused', async (t) => {
  const { verify, registry } = await makeSite(t, () => ({}))
  const tag = `${image.digest.replace(':', '-')}.sig`
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [] }
  registry.addManifest('ns/app', index, tag)
  await assert.rejects(verify(), { code: 'SIGNATURE_INVALID', message: /holds no signatures/ })
})

test('a private key, or one that signs no images, is no public key', () => {
  assert.throws(() => parseSigstoreKey('-----BEGIN NONSENSE-----', 'k.pub'), {
    code: 'KEY_INVALID',
    message: /^k\.pub: it holds no/,
  })
})
