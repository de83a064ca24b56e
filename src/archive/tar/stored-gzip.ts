/**
 * Gzip without compression (RFC 1952; RFC 1951, 3.2.4 "Non-compressed blocks").
 *
 * Sample layers are random bytes, which no compressor shortens. Written this way they cost a checksum and a copy, and
 * come out the same whatever version of zlib is built into Node.
 */
import { crc32 } from 'node:zlib'

const maxBlockBytes = 0xffff
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
const lastBlock = Uint8Array.of(1, 0, 0, 0xff, 0xff)

export function* storedGzip(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let checksum = 0
  let size = 0
  yield gzipHeader
  for (const chunk of chunks) {
    if (chunk.byteLength === 0) continue
    checksum = crc32(chunk, checksum)
    size += chunk.byteLength
    yield storedBlocks(chunk)
  }
  yield lastBlock
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  yield trailer
}

function storedBlocks(chunk: Uint8Array): Buffer {
  const count = Math.ceil(chunk.byteLength / maxBlockBytes)
  const blocks = Buffer.allocUnsafe(chunk.byteLength + 5 * count)
  let at = 0
  for (let start = 0; start < chunk.byteLength; start += maxBlockBytes) {
    const part = chunk.subarray(start, start + maxBlockBytes)
    at = blocks.writeUInt8(0, at)
    at = blocks.writeUInt16LE(part.byteLength, at)
    at = blocks.writeUInt16LE(0xffff - part.byteLength, at)
    blocks.set(part, at)
    at += part.byteLength
  }
  return blocks
}
