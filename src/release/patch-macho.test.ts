import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeBytes, isSignedMacho, pageBytes, signedMacho } from '../../testkit/macho.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { remakeSignature } from './patch-macho.ts'

async function remade(t: Parameters<typeof tempDir>[0], binary: Buffer, offset: number) {
  const path = join(await tempDir(t), 'oc')
  const size = binary.write('4.18.9 in the place of what was here', offset)
  await writeFile(path, binary)
  const outcome = await remakeSignature(path, [{ mark: 'version', offset, size }])
  return { outcome, binary: await readFile(path) }
}

for (const [where, offset] of Object.entries({
  'within a page': 5000,
  'across two pages': 2 * pageBytes - 10,
  'in the last page': codeBytes - 40,
})) {
  test(`a binary that is patched ${where} is signed as before`, async (t) => {
    assert.ok(isSignedMacho(signedMacho()))
    const before = signedMacho()
    before.write('4.18.9 in the place of what was here', offset)
    assert.ok(!isSignedMacho(before))
    const { outcome, binary } = await remade(t, signedMacho(), offset)
    assert.equal(outcome, 'remade')
    assert.ok(isSignedMacho(binary))
    assert.equal(binary.length, before.length)
  })
}

test('a signature with a certificate is left as it is, and said to be', async (t) => {
  const { outcome, binary } = await remade(t, signedMacho({ certificate: 100 }), 5000)
  assert.equal(outcome, 'certificate')
  assert.ok(!isSignedMacho(binary))
  assert.equal((await remade(t, signedMacho({ certificate: 0 }), 5000)).outcome, 'remade')
})

test('what is no macOS binary, or has no signature, is left as it is', async (t) => {
  const elf = Buffer.alloc(5000, '\x7fELF')
  assert.equal((await remade(t, Buffer.from(elf), 100)).outcome, 'unsigned')
  const unsigned = signedMacho()
  unsigned.writeUInt32LE(0x19, 32)
  assert.equal((await remade(t, unsigned, 5000)).outcome, 'unsigned')
})

test('a binary whose tables lead outside of it is an error, not an endless loop', async (t) => {
  const cut = signedMacho().subarray(0, codeBytes + 20)
  await assert.rejects(remade(t, Buffer.from(cut), 5000), RangeError)
  const looping = signedMacho()
  looping.writeUInt32LE(0x19, 32)
  looping.writeUInt32LE(0, 36)
  await assert.rejects(remade(t, looping, 5000), RangeError)
})
