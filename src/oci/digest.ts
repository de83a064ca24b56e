/** Content digests (OCI image-spec, descriptor.md, "Digests"). */
import { createHash, type Hash } from 'node:crypto'
import { KnownError } from '../errors/known-error.ts'

export type DigestAlgorithm = 'sha256' | 'sha512'
export type Digest = `${DigestAlgorithm}:${string}`

const pattern = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/

export function isDigest(text: string): text is Digest {
  return pattern.test(text)
}

/** @throws KnownError DIGEST_INVALID */
export function parseDigest(text: string): Digest {
  if (isDigest(text)) return text
  throw new KnownError('DIGEST_INVALID', `"${text}" is not a digest`, { details: { digest: text } })
}

export function algorithmOf(digest: Digest): DigestAlgorithm {
  return digest.startsWith('sha512:') ? 'sha512' : 'sha256'
}

/** The part after the colon, which is safe as a file name. */
export function hexOf(digest: Digest): string {
  return digest.slice(digest.indexOf(':') + 1)
}

export function hasherFor(algorithm: DigestAlgorithm): Hash {
  return createHash(algorithm)
}

export function digestOf(bytes: Uint8Array | string, algorithm: DigestAlgorithm = 'sha256'): Digest {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}
