import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { remakeSignature } from './patch-macho.ts'

const pageBytes = 4096
const codeBytes = 3 * pageBytes + 100

interface SignatureParts {
  /** Bytes of a certificate. Default: none. */
  readonly certificate?: number
}

/** A binary as the Go linker makes it: one load command, pages, and a signature made of the hashes of the pages. */
function signedBinary({ certificate }: SignatureParts = {}): Buffer {
  const code = Buffer.alloc(codeBytes, 'code')
  code.writeUInt32LE(0xfeedfacf, 0)
  code.writeUInt32LE(1, 16)
  code.writeUInt32LE(16, 20)
  code.writeUInt32LE(0, 24)
  code.writeUInt32LE(0x1d, 32)
  code.writeUInt32LE(16, 36)
  code.writeUInt32LE(codeBytes, 40)
  const pages = Math.ceil(codeBytes / pageBytes)
  const directory = Buffer.alloc(88 + 6 + pages * 32)
  const fields = [0xfade0c02, directory.length, 0x20400, 0x20002, 94, 88, 0, pages, codeBytes]
  for (const [index, value] of fields.entries()) directory.writeUInt32BE(value, index * 4)
  directory.set([32, 2, 0, 12], 36)
  directory.write('a.out\0', 88)
  const cms = certificate === undefined ? Buffer.alloc(0) : Buffer.alloc(8 + certificate)
  const count = certificate === undefined ? 1 : 2
  const head = Buffer.alloc(12 + count * 8)
  for (const [index, value] of [
    0xfade0cc0,
    head.length + directory.length + cms.length,
    count,
    0,
    head.length,
  ].entries())
    head.writeUInt32BE(value, index * 4)
  if (certificate !== undefined) {
    head.writeUInt32BE(0x10000, 20)
    head.writeUInt32BE(head.length + directory.length, 24)
    cms.writeUInt32BE(0xfade0b01, 0)
    cms.writeUInt32BE(cms.length, 4)
  }
  const signature = Buffer.concat([head, directory, cms])
  code.writeUInt32LE(signature.length, 44)
  const binary = Buffer.concat([code, signature])
  for (let page = 0; page < pages; page += 1) hashOf(binary, page).copy(binary, hashAt(binary, page))
  return binary
}

function hashOf(binary: Buffer, page: number): Buffer {
  const end = Math.min((page + 1) * pageBytes, codeBytes)
  return createHash('sha256')
    .update(binary.subarray(page * pageBytes, end))
    .digest()
}

function hashAt(binary: Buffer, page: number): number {
  return codeBytes + binary.readUInt32BE(codeBytes + 16) + 94 + page * 32
}

function isSigned(binary: Buffer): boolean {
  return [0, 1, 2, 3].every((page) => {
    const at = hashAt(binary, page)
    return hashOf(binary, page).equals(binary.subarray(at, at + 32))
  })
}

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
    assert.ok(isSigned(signedBinary()))
    const before = signedBinary()
    before.write('4.18.9 in the place of what was here', offset)
    assert.ok(!isSigned(before))
    const { outcome, binary } = await remade(t, signedBinary(), offset)
    assert.equal(outcome, 'remade')
    assert.ok(isSigned(binary))
    assert.equal(binary.length, before.length)
  })
}

test('a signature with a certificate is left as it is, and said to be', async (t) => {
  const { outcome, binary } = await remade(t, signedBinary({ certificate: 100 }), 5000)
  assert.equal(outcome, 'certificate')
  assert.ok(!isSigned(binary))
  assert.equal((await remade(t, signedBinary({ certificate: 0 }), 5000)).outcome, 'remade')
})

test('what is no macOS binary, or has no signature, is left as it is', async (t) => {
  const elf = Buffer.alloc(5000, '\x7fELF')
  assert.equal((await remade(t, Buffer.from(elf), 100)).outcome, 'unsigned')
  const unsigned = signedBinary()
  unsigned.writeUInt32LE(0x19, 32)
  assert.equal((await remade(t, unsigned, 5000)).outcome, 'unsigned')
})

test('a binary whose tables lead outside of it is an error, not an endless loop', async (t) => {
  const cut = signedBinary().subarray(0, codeBytes + 20)
  await assert.rejects(remade(t, Buffer.from(cut), 5000), RangeError)
  const looping = signedBinary()
  looping.writeUInt32LE(0x19, 32)
  looping.writeUInt32LE(0, 36)
  await assert.rejects(remade(t, looping, 5000), RangeError)
})
