/** macOS binaries as the Go linker makes them: signed ad hoc, by nothing but the hashes of their pages. */
import { createHash } from 'node:crypto'

export const pageBytes = 4096
/** Before the signature. */
export const codeBytes = 3 * pageBytes + 100

export interface MachoParts {
  /** Written over the code. */
  readonly content?: Uint8Array
  /** Bytes of a certificate. Default: none. */
  readonly certificate?: number
}

/** One load command, pages, and a signature made of the hashes of the pages. */
export function signedMacho({ certificate, content }: MachoParts = {}): Buffer {
  const code = Buffer.alloc(codeBytes, 'code')
  if (content) code.set(content, 1000)
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

/** True where each page is the one that was signed. */
export function isSignedMacho(binary: Buffer): boolean {
  return [0, 1, 2, 3].every((page) => {
    const at = hashAt(binary, page)
    return hashOf(binary, page).equals(binary.subarray(at, at + 32))
  })
}
