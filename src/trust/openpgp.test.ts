import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { enums, revokeKey } from 'openpgp'
import { gpgHome } from '../../testkit/gpg-home.ts'
import { peer } from '../../testkit/peers.ts'
import {
  makeReleaseSigner,
  type ReleaseSigner,
  releaseClaim,
  signerOf,
  signRelease,
} from '../../testkit/release-signing.ts'
import type { KnownError } from '../errors/known-error.ts'
import { verifyMessage } from './openpgp.ts'
import { loadKeys } from './openpgp-keys.ts'
import { loadReleaseKeys } from './release-key.ts'

const digest = `sha256:${'ab'.repeat(32)}`
const now = Date.UTC(2026, 10, 21)
const data = new URL('../../../shared/data/', import.meta.url)

function keysOf(...signers: readonly ReleaseSigner[]) {
  return loadKeys(signers.map(({ publicKey }) => ({ content: publicKey, origin: 'test' })))
}

async function refusal(signer: ReleaseSigner, bytes: Uint8Array, at = now): Promise<KnownError> {
  const keys = await keysOf(signer)
  return verifyMessage({ bytes, keys, now: at, what: 'Signature 1' }).then(
    () => assert.fail('it was accepted'),
    (error: KnownError) => error,
  )
}

test('a signature by a trusted key gives its content and its signer', async () => {
  const signer = await makeReleaseSigner({ name: 'Release Key' })
  const bytes = await signRelease(signer, { digest }, { signedAt: new Date('2026-03-04T05:06:07Z') })
  const keys = await keysOf(await makeReleaseSigner(), signer)
  const { content, signer: by } = await verifyMessage({ bytes, keys, now, what: 'Signature 1' })
  assert.equal(Buffer.from(content).toString(), releaseClaim({ digest }))
  assert.deepEqual(by, {
    keyId: signer.keyId,
    fingerprint: signer.fingerprint,
    userId: 'Release Key <release@example.com>',
    origin: 'test',
    signedAt: new Date('2026-03-04T05:06:07Z'),
  })
})

test('signatures of version 3, which releases had until 2022, hold as well, and do not where a bit is flipped', async () => {
  const signer = await makeReleaseSigner({ rsaBits: 2048 })
  const bytes = await signRelease(signer, { digest }, { version: 3 })
  const keys = await keysOf(signer)
  const { signer: by } = await verifyMessage({ bytes, keys, now, what: 'Signature 1' })
  assert.equal(by.keyId, signer.keyId)
  assert.equal(by.signedAt.toISOString(), '2026-02-01T00:00:00.000Z')
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8(flipped.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20)
  assert.equal((await refusal(signer, flipped)).details['reason'], 'mismatch')
})

test('whatever bit of a signature is flipped, it never says something else', async () => {
  const signer = await makeReleaseSigner()
  const bytes = await signRelease(signer, { digest })
  const keys = await keysOf(signer)
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const result = await verifyMessage({ bytes: flipped, keys, now, what: 'Signature 1' }).catch((error) => error)
      // What is not signed: the frame, the name of the file, and hints that stand beside the signature.
      if ('content' in result) assert.equal(Buffer.from(result.content).toString(), releaseClaim({ digest }))
      else assert.equal(result.code, 'SIGNATURE_INVALID')
    }),
    { numRuns: 300 },
  )
})

test('a signature that is cut short anywhere is refused', async () => {
  const signer = await makeReleaseSigner()
  const bytes = await signRelease(signer, { digest })
  for (let length = 0; length < bytes.length; length += 7) {
    const { code, details } = await refusal(signer, bytes.subarray(0, length))
    assert.equal(code, 'SIGNATURE_INVALID')
    assert.equal(details['reason'], 'not-openpgp', `${length} bytes`)
  }
})

describe('each fault has its own message', () => {
  const rsa = { rsaBits: 2048 } as const
  const hour = 3600

  async function refused(t: TestContext, bytes: Uint8Array, signer: ReleaseSigner, expected: [string, RegExp]) {
    const error = await refusal(signer, bytes)
    assert.equal(error.code, 'SIGNATURE_INVALID')
    assert.equal(error.details['reason'], expected[0], t.name)
    assert.match(error.message, expected[1])
    assert.ok(error.hint.length > 20)
  }

  test('a page instead of a message', async (t) => {
    const page = Buffer.from('<html><body>Sign in</body></html>')
    await refused(t, page, await makeReleaseSigner(), [
      'not-openpgp',
      /no OpenPGP message: it begins with "<html><body>Sign in/,
    ])
  })

  test('nothing', async (t) => {
    await refused(t, new Uint8Array(), await makeReleaseSigner(), ['not-openpgp', /is empty/])
  })

  test('a message that nobody signed', async (t) => {
    const literal = Buffer.concat([Buffer.from([0xcb, 8, 0x62, 0, 0, 0, 0, 0]), Buffer.from('{}')])
    await refused(t, literal, await makeReleaseSigner(), ['not-openpgp', /nobody signed/])
  })

  test('a key in place of a message', async (t) => {
    const signer = await makeReleaseSigner()
    await refused(t, signer.key.toPublic().write(), signer, ['not-openpgp', /no signed document/])
    await refused(t, Buffer.from(signer.publicKey), signer, ['not-openpgp', /ASCII armor/])
  })

  test('an unknown key', async (t) => {
    const stranger = await makeReleaseSigner()
    const signer = await makeReleaseSigner()
    const pattern = new RegExp(
      `signed by key ${stranger.keyId}, which is not among the trusted keys \\(${signer.keyId}\\)`,
    )
    await refused(t, await signRelease(stranger, { digest }), signer, ['unknown-key', pattern])
  })

  test('other content than was signed', async (t) => {
    const signer = await makeReleaseSigner()
    const bytes = Buffer.from(await signRelease(signer, { digest }))
    bytes.write('cd', bytes.indexOf('abab'))
    await refused(t, bytes, signer, ['mismatch', new RegExp(`not what key ${signer.keyId} signed`)])
  })

  test('SHA-1 and MD5 over the data', async (t) => {
    const signer = await makeReleaseSigner(rsa)
    const bySha1 = await signRelease(signer, { digest }, { hash: enums.hash.sha1 })
    await refused(t, bySha1, signer, ['weak-hash', /is made by SHA-1/])
    const byMd5 = await signRelease(signer, { digest }, { hash: enums.hash.md5 })
    await refused(t, byMd5, signer, ['weak-hash', /is made by MD5/])
  })

  test('a signature that has ended', async (t) => {
    const signer = await makeReleaseSigner()
    const bytes = await signRelease(signer, { digest }, { lifetimeSeconds: hour })
    await refused(t, bytes, signer, ['expired', /expired on 2026-02-01T01:00:00Z/])
  })

  test('a signature from the future, which is a clock that is wrong', async (t) => {
    const signer = await makeReleaseSigner()
    const bytes = await signRelease(signer, { digest }, { signedAt: new Date('2027-01-01T00:00:00Z') })
    await refused(t, bytes, signer, [
      'from-future',
      /made on 2027-01-01T00:00:00Z, and here it is 2026-11-21T00:00:00Z/,
    ])
  })

  test('a key that has expired, also where the signature claims to be older', async (t) => {
    const signer = await makeReleaseSigner({ lifetimeSeconds: 60 * 24 * hour })
    const bytes = await signRelease(signer, { digest })
    await refused(t, bytes, signer, [
      'key-expired',
      /expired on 2026-03-02T00:00:00Z; .*before that, on 2026-02-01T00:00:00Z/,
    ])
    const late = await signRelease(signer, { digest }, { signedAt: new Date('2026-04-01T00:00:00Z') })
    await refused(t, late, signer, ['key-expired', /after that, on 2026-04-01T00:00:00Z/])
    const { signer: by } = await verifyMessage({
      bytes,
      keys: await keysOf(signer),
      now: Date.UTC(2026, 1, 2),
      what: '',
    })
    assert.equal(by.keyId, signer.keyId)
  })

  test('a key that was revoked', async (t) => {
    const signer = await makeReleaseSigner()
    const bytes = await signRelease(signer, { digest })
    const { privateKey } = await revokeKey({
      key: signer.key,
      reasonForRevocation: { flag: enums.reasonForRevocation.keyCompromised, string: 'stolen' },
      date: new Date('2026-05-01T00:00:00Z'),
      format: 'object',
    })
    await refused(t, bytes, signerOf(privateKey), ['key-revoked', /was revoked on 2026-05-01T00:00:00Z: stolen/])
  })

  test('a key of which one copy is revoked', async () => {
    const signer = await makeReleaseSigner()
    const bytes = await signRelease(signer, { digest })
    const { privateKey } = await revokeKey({
      key: signer.key,
      date: new Date('2026-05-01T00:00:00Z'),
      format: 'object',
    })
    const keys = await keysOf(signer, signerOf(privateKey), signer)
    assert.equal(keys.length, 1)
    await assert.rejects(verifyMessage({ bytes, keys, now, what: 'Signature 1' }), {
      message: /was revoked on 2026-05-01/,
    })
  })

  test('a key that vouches for itself by SHA-1 since 2019, and one by MD5 whenever', async (t) => {
    const bySha1 = await makeReleaseSigner({ ...rsa, selfSignatureHash: enums.hash.sha1 })
    await refused(t, await signRelease(bySha1, { digest }), bySha1, ['key-weak', /itself by SHA-1, made on 2026-01-01/])
    const options = { ...rsa, selfSignatureHash: enums.hash.md5, madeAt: new Date('2009-10-22T00:00:00Z') }
    const byMd5 = await makeReleaseSigner(options)
    await refused(t, await signRelease(byMd5, { digest }), byMd5, ['key-weak', /itself by MD5, made on 2009-10-22/])
  })

  test('a key that is too short', async (t) => {
    const signer = await makeReleaseSigner({ rsaBits: 1024 })
    await refused(t, await signRelease(signer, { digest }), signer, ['key-unusable', /shorter than 2048 bits/])
  })
})

test('a key that vouched for itself by SHA-1 before 2019 counts, as that of Red Hat does', async () => {
  const options = { rsaBits: 2048, selfSignatureHash: enums.hash.sha1, madeAt: new Date('2009-10-22T00:00:00Z') }
  const signer = await makeReleaseSigner(options)
  const keys = await keysOf(signer)
  const bytes = await signRelease(signer, { digest })
  assert.equal((await verifyMessage({ bytes, keys, now, what: 'Signature 1' })).signer.keyId, signer.keyId)
})

test('keys come armored or binary, several in a file or in a block', async () => {
  const [one, other] = [await makeReleaseSigner(), await makeReleaseSigner()]
  const blocks = await loadKeys([{ content: `${one.publicKey}\n${other.publicKey}`, origin: 'a' }])
  const packets = Buffer.concat([one, other].map(({ key }) => key.toPublic().write()))
  const binary = await loadKeys([{ content: packets, origin: 'b' }])
  for (const keys of [blocks, binary]) {
    assert.deepEqual(
      keys.map(({ key }) => key.getFingerprint().toUpperCase()),
      [one.fingerprint, other.fingerprint],
    )
  }
})

test('what is no public key is refused, and a private key above all', async () => {
  const { key, publicKey } = await makeReleaseSigner()
  const cases: [string | Uint8Array, RegExp][] = [
    ['nothing of the kind', /FILE holds no OpenPGP public key/],
    [key.armor(), /FILE is a private key/],
    [key.write(), /FILE is a private key/],
    [publicKey.replace(/\n\n(.{20}).*\n/, '\n\n$1\n'), /FILE holds no OpenPGP public key that can be read/],
    [new Uint8Array(), /FILE holds no OpenPGP public key/],
  ]
  for (const [content, message] of cases) {
    await assert.rejects(loadKeys([{ content, origin: 'FILE' }]), { code: 'KEY_INVALID', message })
  }
})

const real: [string, string][] = [
  [
    'release/signatures/openshift-cluster-version-operator__pkg-verify-testdata-signatures-sha256-e3f12513a4b22a2d7c0e7c9207f52128113758d9d68c7d06b11a0ac7672966f7-signature-1',
    '2019-04-09',
  ],
  ['release/signatures/openshift-oc-mirror__v2-tests-noo-bundle-image-signature-1', '2022-08-01'],
  ['release/signatures/openshift-oc-mirror__v2-tests-noo-bundle-image-signature-2', '2022-08-01'],
  ['release/signatures/openshift-oc-mirror__v2-tests-noo-bundle-image-signature-3', '2022-08-01'],
  ['release/signatures/openshift-oc-mirror__v2-internal-e2e-signatures-signature-1', '2024-02-26'],
  ['mirror/oc-mirror/signatures/37433b71c073c6cbfc8173ec7ab2d99032c8e6d6fe29de06e062d85e33e34531', '2024-06-26'],
]

for (const [path, signedAt] of real) {
  test(`a real signature of ${signedAt} holds by the key that is built in: ${path.slice(-30)}`, async (t) => {
    const bytes = await readFile(new URL(path, data)).catch(() => t.skip('the data is not there'))
    if (!bytes) return
    const { signer } = await verifyMessage({ bytes, keys: await loadReleaseKeys(), now, what: path })
    assert.equal(signer.fingerprint, '567E347AD0044ADE55BA8A5F199E2F91FD431D51')
    assert.equal(signer.origin, 'built in')
    assert.equal(signer.signedAt.toISOString().slice(0, 10), signedAt)
  })
}

test('a damaged key of the real kind is refused before it verifies anything', async (t) => {
  const path = new URL('mirror/oc-mirror/signatures/buggy-ocp-sig-key.asc', data)
  const content = await readFile(path).catch(() => t.skip('the data is not there'))
  if (content) await assert.rejects(loadKeys([{ content, origin: 'buggy' }]), { code: 'KEY_INVALID' })
})

test('what gpg signs holds here, and what is signed here holds for gpg', async (t) => {
  const program = peer(t, 'gpg')
  if (program === undefined) return
  const gpg = await gpgHome(t, program)
  for (const kind of ['rsa2048', 'ed25519'])
    gpg.run(['--quick-gen-key', `Peer ${kind} <peer@example.com>`, kind, 'sign', 'never'])
  const keys = await loadKeys([{ content: gpg.run(['--export']), origin: 'gpg' }])
  for (const kind of ['rsa2048', 'ed25519']) {
    const bytes = gpg.run(['--local-user', `Peer ${kind}`, '--sign'], releaseClaim({ digest }))
    const { content, signer } = await verifyMessage({ bytes, keys, now: Date.now(), what: 'Signature 1' })
    assert.equal(Buffer.from(content).toString(), releaseClaim({ digest }))
    assert.equal(signer.userId, `Peer ${kind} <peer@example.com>`)
  }
  const own = await makeReleaseSigner({ rsaBits: 2048 })
  gpg.run(['--import'], own.publicKey)
  assert.equal(gpg.run(['--decrypt'], await signRelease(own, { digest })).toString(), releaseClaim({ digest }))
})

test('a subkey that is made for signing signs for its key', async (t) => {
  const program = peer(t, 'gpg')
  if (program === undefined) return
  const gpg = await gpgHome(t, program)
  gpg.run(['--quick-gen-key', 'Peer <peer@example.com>', 'rsa2048', 'cert', 'never'])
  const [{ key } = assert.fail()] = await loadKeys([{ content: gpg.run(['--export']), origin: 'gpg' }])
  const fingerprint = key.getFingerprint().toUpperCase()
  gpg.run(['--quick-add-key', fingerprint, 'ed25519', 'sign', 'never'])
  const bytes = gpg.run(['--sign'], releaseClaim({ digest }))
  const keys = await loadKeys([{ content: gpg.run(['--export']), origin: 'gpg' }])
  const { signer } = await verifyMessage({ bytes, keys, now: Date.now(), what: 'Signature 1' })
  assert.equal(signer.fingerprint, fingerprint)
  assert.equal(signer.keyId, keys[0]?.key.subkeys[0]?.getKeyID().toHex().toUpperCase())
  await assert.rejects(verifyMessage({ bytes, keys: [{ key, origin: 'old' }], now: Date.now(), what: 'Signature 1' }), {
    message: /is signed by key .*, which is not among the trusted keys/,
  })
})
