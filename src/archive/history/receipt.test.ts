import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { loadSigningKey, loadVerifyKey, verifySignature } from '../format/signature.ts'
import { claimHeld, digestOfSet, resolveClaim } from './held-set.ts'
import { formatRanges, parseRanges, parseReceipt, type Receipt, receiptMessage, renderReceipt } from './receipt.ts'

const digest = fc.nat(400).map((seed) => digestOf(`blob ${seed}`, seed % 50 === 0 ? 'sha512' : 'sha256'))

const receipts: fc.Arbitrary<Receipt> = fc
  .record({
    target: fc.stringMatching(/^[\x21-\x7e]{1,80}$/),
    sequence: fc.integer({ min: 1, max: 1_000_000 }),
    archive: digest,
    archives: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }).map(formatRanges),
    known: fc.uniqueArray(digest, { maxLength: 60 }),
    dropped: fc.nat(60),
    isFull: fc.boolean(),
  })
  .map(({ known, dropped, isFull, ...fields }) => {
    const held = new Set(known.slice(dropped))
    const content = { content: [...held].sort() }
    return { ...fields, held: claimHeld(new Set(known), held), ...(isFull && content) }
  })

async function keys(t: TestContext) {
  const directory = await tempDir(t)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  await writeFile(join(directory, 'key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(join(directory, 'pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  return { signer: await loadSigningKey(join(directory, 'key')), verifier: await loadVerifyKey(join(directory, 'pub')) }
}

test('a receipt is read back as it was written, signed or not, on one line', async (t) => {
  const { signer, verifier } = await keys(t)
  fc.assert(
    fc.property(receipts, (receipt) => {
      const plain = renderReceipt(receipt)
      assert.match(plain, /^[^\n]*\n$/)
      assert.deepEqual(parseReceipt(plain, 'it'), receipt)
      const { signature, ...rest } = parseReceipt(renderReceipt(receipt, signer), 'it')
      assert.deepEqual(rest, receipt)
      verifySignature(verifier, { text: receiptMessage(rest), signature, what: 'it' })
    }),
  )
})

test('any character that is changed, lost or doubled is found', async (t) => {
  const { signer, verifier } = await keys(t)
  fc.assert(
    fc.property(receipts, fc.nat(), fc.constantFrom('', '0', '7', 'a', 'e', '"', ',', ' '), (receipt, place, other) => {
      const text = renderReceipt(receipt, signer)
      const at = place % (text.length - 1)
      const changed = text.slice(0, at) + other + text.slice(at + (place % 2))
      fc.pre(changed !== text)
      let read: Receipt
      try {
        read = parseReceipt(changed, 'it')
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'RECEIPT_INVALID')
        return
      }
      const { signature, ...rest } = read
      const check = () => verifySignature(verifier, { text: receiptMessage(rest), signature, what: 'it' })
      // What JSON and base64 allow to be written in two ways says the same; all else breaks the signature.
      if (JSON.stringify(rest) !== JSON.stringify(receipt)) assert.throws(check, { code: 'SIGNATURE_INVALID' })
    }),
    { numRuns: 300 },
  )
})

test('a receipt without a signature that was changed does not fit its sum', () => {
  const receipt: Receipt = {
    ...{ target: 'registry.lab:8443/ocp', sequence: 3, archive: digestOf('a'), archives: '1-3' },
    held: { count: 2, digest: digestOf('b'), except: ['12ab'] },
  }
  const text = renderReceipt(receipt)
  for (const [from, to] of [
    ['lab', 'bal'],
    ['"sequence":3', '"sequence":4'],
    ['1-3', '1-2'],
    ['12ab', '12ac'],
    ['"count":2', '"count":3'],
  ] as const) {
    assert.throws(() => parseReceipt(text.replace(from, to), 'r.json'), { code: 'RECEIPT_INVALID', message: /slip/ })
  }
})

test('another version, another document and unknown fields are refused by name', () => {
  const receipt = { target: 'r', sequence: 1, archive: digestOf('a'), archives: '1' }
  const text = renderReceipt({ ...receipt, held: { count: 0, digest: digestOf(''), except: [] } })
  const refused: [string, RegExp][] = [
    [text.replace('"version":1', '"version":2'), /version 2 of receipts is not known/],
    [text.replace('"version":1', '"version":1,"more":1'), /Unrecognized key/],
    [text.replace('"archives":"1"', '"archives":"3-"'), /archives/],
    [text.replace('"target":"r"', '"target":"\\u001b[31m"'), /target/],
    ['{"kind":"ImageSetConfiguration"}', /it is no receipt/],
    ['kind: ImageSetConfiguration', /it is no JSON/],
    ['null', /it is no receipt/],
  ]
  for (const [changed, message] of refused) {
    assert.throws(() => parseReceipt(changed, 'r.json'), { code: 'RECEIPT_INVALID', message })
  }
})

test('what is held is told exactly by its exceptions, and by nothing that both sides do not know alike', () => {
  fc.assert(
    fc.property(fc.uniqueArray(digest, { maxLength: 300 }), fc.nat(400), digest, (list, dropped, stranger) => {
      const known = new Set(list)
      const held = new Set(list.slice(dropped))
      const claim = claimHeld(known, held)
      assert.deepEqual(resolveClaim(known, claim), held)
      fc.pre(!known.has(stranger))
      assert.equal(typeof resolveClaim(new Set([...known, stranger]), claim), 'string')
      const [first] = list
      if (first !== undefined) assert.equal(typeof resolveClaim(new Set(list.slice(1)), claim), 'string')
    }),
  )
})

test('the digest of a set is what sort and sha256sum print', () => {
  const [a, b] = [digestOf('a'), digestOf('b')] as [Digest, Digest]
  const lines = [a, b].sort().map((one) => `${one}\n`)
  assert.equal(digestOfSet(new Set([b, a])), digestOf(lines.join('')))
  assert.equal(digestOfSet(new Set()), digestOf(''))
})

test('numbers are written as ranges', () => {
  assert.equal(formatRanges([3, 1, 2, 5, 7, 8]), '1-3,5,7-8')
  assert.deepEqual(parseRanges('1-3,5'), [
    { first: 1, last: 3 },
    { first: 5, last: 5 },
  ])
})
