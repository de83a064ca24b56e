/** Bytes that look random and are the same for every run: an AES-256-CTR keystream (NIST SP 800-38A, 6.5). */
import { createCipheriv, createHash } from 'node:crypto'

const chunkBytes = 256 * 1024

/** `size` bytes that no compressor shortens, determined by `seed`. Never more than one chunk in memory. */
export function* sampleBytes(seed: string, size: number): Generator<Uint8Array> {
  const key = createHash('sha256').update(seed).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const zeros = Buffer.alloc(Math.min(chunkBytes, size))
  for (let left = size; left > 0; left -= chunkBytes) {
    yield cipher.update(left < zeros.length ? zeros.subarray(0, left) : zeros)
  }
}

/** A number from 0 up to, not including, 1, determined by `seed`. */
export function sampleFraction(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0) / 2 ** 32
}
