import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { peer } from '../../../testkit/peers.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { archiveMessage, loadSigningKey, loadVerifyKey, verifySignature } from './signature.ts'

const id = `sha256:${'ab'.repeat(32)}` as const
const text = archiveMessage({ id, volumes: 3, checksum: 'cd'.repeat(32), holes: 0 })

const pairs = {
  ed25519: () => generateKeyPairSync('ed25519'),
  'ECDSA P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'ECDSA P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'RSA 2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

async function keyFiles(t: TestContext, make: () => ReturnType<typeof pairs.ed25519> = pairs.ed25519) {
  const directory = await tempDir(t)
  const { privateKey, publicKey } = make()
  const paths = { secret: join(directory, 'key.pem'), open: join(directory, 'key.pub.pem'), directory }
  await writeFile(paths.secret, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(paths.open, publicKey.export({ type: 'spki', format: 'pem' }))
  return { ...paths, privateKey }
}

test('the text that is signed names every part of the end of an archive', () => {
  assert.equal(text, `sallyport-archive-v1\n${id}\n3\n${'cd'.repeat(32)}\n0\n`)
})

for (const [name, make] of Object.entries(pairs)) {
  test(`a signature by a key for ${name} is verified with its public half, here and by openssl`, async (t) => {
    const files = await keyFiles(t, make)
    const [signer, verifier] = await Promise.all([loadSigningKey(files.secret), loadVerifyKey(files.open)])
    const signature = signer.sign(text)
    assert.equal(signature.key, verifier.key)
    verifySignature(verifier, { text, signature, what: 'the archive' })

    const openssl = peer(t, 'openssl')
    if (!openssl) return
    const paths = { text: join(files.directory, 'text'), value: join(files.directory, 'value') }
    await writeFile(paths.text, text)
    await writeFile(paths.value, Buffer.from(signature.value, 'base64'))
    const hash = name.startsWith('ed') ? [] : ['-digest', name.endsWith('384') ? 'sha384' : 'sha256']
    const args = ['-verify', '-pubin', '-inkey', files.open, '-rawin', ...hash, '-in', paths.text]
    const said = execFileSync(openssl, ['pkeyutl', ...args, '-sigfile', paths.value], { encoding: 'utf8' })
    assert.match(said, /Verified Successfully/)
  })
}

test('any changed byte of the text or of the signature is found', async (t) => {
  const files = await keyFiles(t)
  const [signer, verifier] = await Promise.all([loadSigningKey(files.secret), loadVerifyKey(files.open)])
  const { key, value } = signer.sign(text)
  const bytes = Buffer.from(value, 'base64')
  fc.assert(
    fc.property(
      fc.nat(bytes.length - 1),
      fc.nat(text.length - 1),
      fc.integer({ min: 1, max: 255 }),
      (at, place, bits) => {
        const wrong = Buffer.from(bytes)
        wrong.writeUInt8(wrong.readUInt8(at) ^ bits, at)
        const other = `${text.slice(0, place)}${String.fromCharCode(text.charCodeAt(place) ^ bits)}${text.slice(place + 1)}`
        const signature = { key, value: wrong.toString('base64') }
        assert.throws(() => verifySignature(verifier, { text, signature, what: 'it' }), { code: 'SIGNATURE_INVALID' })
        assert.throws(() => verifySignature(verifier, { text: other, signature: { key, value }, what: 'it' }), {
          code: 'SIGNATURE_INVALID',
        })
      },
    ),
    { numRuns: 50 },
  )
})

test('what is not signed, or by another key, is refused by name', async (t) => {
  const [mine, theirs] = await Promise.all([keyFiles(t), keyFiles(t)])
  const [signer, verifier] = await Promise.all([loadSigningKey(theirs.secret), loadVerifyKey(mine.open)])
  const check = (signature: ReturnType<typeof signer.sign> | undefined) => () =>
    verifySignature(verifier, { text, signature, what: 'the receipt' })
  assert.throws(check(undefined), { code: 'SIGNATURE_INVALID', message: 'the receipt is not signed' })
  assert.throws(check(signer.sign(text)), {
    code: 'SIGNATURE_INVALID',
    details: { expectedKey: verifier.key, key: signer.key },
  })
})

test('a certificate serves as the public key that is in it', async (t) => {
  const openssl = peer(t, 'openssl')
  if (!openssl) return
  const files = await keyFiles(t)
  const certificate = join(files.directory, 'certificate.pem')
  const args = ['req', '-x509', '-new', '-key', files.secret, '-subj', '/CN=site', '-out', certificate]
  execFileSync(openssl, args, { stdio: 'pipe' })
  assert.equal((await loadVerifyKey(certificate)).key, (await loadSigningKey(files.secret)).key)
})

test('key files of other kinds are refused by their name, with the way out, and nothing of them is shown', async (t) => {
  const { directory, privateKey, secret, open } = await keyFiles(t)
  const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const body = 'b3BlbnNzaC1rZXktdjEAAAAA'
  const pem = (label: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`
  const refused: [string, string | Buffer, RegExp][] = [
    ['encrypted', encrypted, /encrypted/],
    ['old-encrypted', `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${body}`, /encrypted/],
    ['openssh', pem('OPENSSH PRIVATE KEY'), /OpenSSH/],
    ['cosign', pem('ENCRYPTED COSIGN PRIVATE KEY'), /cosign/],
    ['openpgp', pem('PGP PRIVATE KEY BLOCK'), /OpenPGP/],
    ['cut', pem('PRIVATE KEY'), /cut or damaged/],
    ['empty', '', /no private key/],
    ['small', small, /RSA with 1024 bits/],
  ]
  for (const [name, content, why] of refused) {
    const path = join(directory, name)
    await writeFile(path, content)
    await assert.rejects(loadSigningKey(path), (error: Error & { code?: string; hint?: string }) => {
      assert.equal(error.code, 'KEY_INVALID', name)
      assert.match(error.message, why)
      assert.ok(!`${error.message} ${error.hint} ${error.cause}`.includes(body), name)
      return true
    })
  }
  await assert.rejects(loadVerifyKey(secret), { code: 'KEY_INVALID', message: /is a private key/ })
  await assert.rejects(loadSigningKey(open), { code: 'KEY_INVALID', message: /no private key/ })
  await assert.rejects(loadSigningKey(join(directory, 'absent')), { code: 'FILE_UNREADABLE' })
})
