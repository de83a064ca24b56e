import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { digestOf } from '../../oci/digest.ts'
import { loadSigningKey, loadVerifyKey } from '../format/signature.ts'
import { type Receipt, renderReceipt } from './receipt.ts'
import { readReceipt, splitReceipt } from './receipt-file.ts'

const receipt: Receipt = {
  ...{ target: 'registry.lab:8443/ocp', sequence: 3, archive: digestOf('a'), archives: '1-3' },
  held: {
    count: 2,
    digest: digestOf('b'),
    except: Array.from({ length: 200 }, (_, n) => digestOf(`${n}`).slice(7, 12)),
  },
}
const text = renderReceipt(receipt)

test('a receipt that is longer than a QR code holds is put together from its parts, in any order', async (t) => {
  const path = join(await tempDir(t), 'receipt')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 100, max: 3000 }), fc.gen(), async (maxBytes, gen) => {
      const parts = splitReceipt(text, maxBytes)
      assert.ok(parts.every((part) => Buffer.byteLength(part) <= maxBytes))
      const shuffled = gen(fc.shuffledSubarray, [...parts], { minLength: parts.length, maxLength: parts.length })
      await writeFile(path, shuffled.join('\r\n'))
      assert.deepEqual(await readReceipt(path), receipt)
    }),
    { numRuns: 50 },
  )
})

test('a part that is missing, of another receipt, or changed is named', async (t) => {
  const path = join(await tempDir(t), 'receipt')
  const parts = splitReceipt(text, 700)
  const others = splitReceipt(renderReceipt({ ...receipt, sequence: 4 }), 700)
  const refused: [readonly (string | undefined)[], RegExp][] = [
    [parts.filter((_, index) => index !== 1), /part 2 of 3 is missing/],
    [[parts[0], others[1], parts[2]], /several receipts/],
    [parts.map((part) => part.replace('"lab', 'l')).map((part) => part.replace(/,"/, ",'")), /changed on the way/],
    [[...parts, 'more'], /"more" is no part/],
  ]
  for (const [lines, message] of refused) {
    await writeFile(path, lines.join('\n'))
    await assert.rejects(readReceipt(path), { code: 'RECEIPT_INVALID', message })
  }
})

test('where a key is named, a receipt by another key or by none is refused', async (t) => {
  const directory = await tempDir(t)
  const paths = await Promise.all(
    ['mine', 'theirs'].map(async (name) => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519')
      const [secret, open] = [join(directory, name), join(directory, `${name}.pub`)]
      await writeFile(secret, privateKey.export({ type: 'pkcs8', format: 'pem' }))
      await writeFile(open, publicKey.export({ type: 'spki', format: 'pem' }))
      return { signer: await loadSigningKey(secret), verifier: await loadVerifyKey(open) }
    }),
  )
  const [mine, theirs] = paths
  assert.ok(mine && theirs)
  const path = join(directory, 'receipt')
  await writeFile(path, renderReceipt(receipt, theirs.signer))
  assert.equal((await readReceipt(path, theirs.verifier)).sequence, 3)
  await assert.rejects(readReceipt(path, mine.verifier), { code: 'SIGNATURE_INVALID' })
  await writeFile(path, text)
  await assert.rejects(readReceipt(path, mine.verifier), { code: 'SIGNATURE_INVALID', message: /is not signed/ })
  await assert.rejects(readReceipt(join(directory, 'absent')), { code: 'FILE_UNREADABLE' })
})
