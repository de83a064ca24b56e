/**
 * Makes the signature inside a macOS binary right again after it was patched: on Apple silicon a binary whose pages are not
 * those that were signed is killed when it starts.
 *
 * What the Go linker signs ad hoc is a list of the hashes of all pages, and nothing signs that list: the hashes of the
 * pages that changed are computed anew, in place. A signature with a certificate cannot be remade here.
 *
 * Source: apple-oss-distributions/xnu `osfmk/kern/cs_blobs.h` and `EXTERNAL_HEADERS/mach-o/loader.h`; what oc does instead,
 * for arm64 only, is in openshift/oc `pkg/cli/admin/internal/codesign`.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { PatchedBytes } from './patch-binary.ts'

/** `unsigned`: there was no signature to begin with, or it is no macOS binary; `certificate`: it has to be signed again. */
export type SignatureOutcome = 'unsigned' | 'remade' | 'certificate'

const machO64 = 0xfeedfacf
const headerBytes = 32
const loadCodeSignature = 0x1d
const embeddedSignature = 0xfade0cc0
const codeDirectory = 0xfade0c02
const certificateSlot = 0x10000
/** An empty blob is its magic and its length. */
const emptyBlobBytes = 8
/** Load commands, and the list of hashes of a file of some gigabytes. */
const maxTableBytes = 64 * 1024 * 1024

/** @throws RangeError for a binary whose tables contradict themselves */
export async function remakeSignature(path: string, patches: readonly PatchedBytes[]): Promise<SignatureOutcome> {
  const file = await open(path, 'r+')
  try {
    const found = await findSignature(file)
    if (!found) return 'unsigned'
    const signature = await readAt(file, found.offset, found.size)
    if (signature.readUInt32BE(0) !== embeddedSignature) return 'certificate'
    const blobs = blobsIn(signature)
    if (blobs.some(({ slot, bytes }) => slot === certificateSlot && bytes.length > emptyBlobBytes)) return 'certificate'
    for (const { bytes } of blobs) if (bytes.readUInt32BE(0) === codeDirectory) await rehash(file, bytes, patches)
    await file.write(signature, 0, signature.length, found.offset)
    return 'remade'
  } finally {
    await file.close()
  }
}

async function findSignature(file: FileHandle): Promise<{ offset: number; size: number } | undefined> {
  const { size } = await file.stat()
  if (size < headerBytes) return undefined
  const header = await readAt(file, 0, headerBytes)
  if (header.readUInt32LE(0) !== machO64) return undefined
  const commands = await readAt(file, headerBytes, header.readUInt32LE(20))
  for (let at = 0; at < commands.length; ) {
    if (commands.readUInt32LE(at) === loadCodeSignature)
      return { offset: commands.readUInt32LE(at + 8), size: commands.readUInt32LE(at + 12) }
    const commandBytes = commands.readUInt32LE(at + 4)
    if (commandBytes < 8) throw new RangeError(`a load command of ${commandBytes} bytes`)
    at += commandBytes
  }
  return undefined
}

/** The blobs of a signature, as parts of its bytes. */
function blobsIn(signature: Buffer): { slot: number; bytes: Buffer }[] {
  const count = signature.readUInt32BE(8)
  if (count > 64) throw new RangeError(`a signature of ${count} parts`)
  return Array.from({ length: count }, (_, index) => {
    const slot = signature.readUInt32BE(12 + index * 8)
    const at = signature.readUInt32BE(16 + index * 8)
    return { slot, bytes: signature.subarray(at, at + signature.readUInt32BE(at + 4)) }
  })
}

const hashes: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256', 3: 'sha256', 4: 'sha384' }

/** Writes the hashes of the pages that changed into `directory`. */
async function rehash(file: FileHandle, directory: Buffer, patches: readonly PatchedBytes[]): Promise<void> {
  const hashesAt = directory.readUInt32BE(16)
  const pages = directory.readUInt32BE(28)
  const codeBytes = directory.readUInt32BE(32)
  const hashBytes = directory.readUInt8(36)
  const algorithm = hashes[directory.readUInt8(37)]
  const pageBytes = 2 ** directory.readUInt8(39)
  if (algorithm === undefined) throw new RangeError(`a signature by a hash of type ${directory.readUInt8(37)}`)
  for (const page of changedPages(patches, pageBytes)) {
    if (page >= pages) continue
    const start = page * pageBytes
    const bytes = await readAt(file, start, Math.min(pageBytes, codeBytes - start))
    const hash = createHash(algorithm).update(bytes).digest()
    hash.copy(directory, hashesAt + page * hashBytes, 0, hashBytes)
  }
}

function changedPages(patches: readonly PatchedBytes[], pageBytes: number): ReadonlySet<number> {
  const pages = new Set<number>()
  for (const { offset, size } of patches) {
    const last = Math.floor((offset + size - 1) / pageBytes)
    for (let page = Math.floor(offset / pageBytes); page <= last; page += 1) pages.add(page)
  }
  return pages
}

async function readAt(file: FileHandle, offset: number, size: number): Promise<Buffer> {
  if (size > maxTableBytes) throw new RangeError(`a table of ${size} bytes`)
  const buffer = Buffer.alloc(size)
  const { bytesRead } = await file.read(buffer, 0, size, offset)
  if (bytesRead < size) throw new RangeError(`the file ends before byte ${offset + size}`)
  return buffer
}
