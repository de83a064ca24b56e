import { KnownError } from '../errors/known-error.ts'
import type { Descriptor } from './descriptor.ts'
import { algorithmOf, type Digest, hasherFor } from './digest.ts'

/**
 * Checks that a sequence of chunks is exactly the content that a descriptor names.
 *
 * Too many bytes fail at once, so that a hostile registry cannot fill a disk; too few, or others, fail in `finish`.
 */
export class Verifier {
  readonly #hash
  readonly #descriptor: Descriptor
  readonly #origin: string
  #received = 0

  /** @param origin names image and host in messages */
  constructor(descriptor: Descriptor, origin: string) {
    this.#descriptor = descriptor
    this.#origin = origin
    this.#hash = hasherFor(algorithmOf(descriptor.digest))
  }

  /** Bytes seen so far. */
  get received(): number {
    return this.#received
  }

  /** @throws KnownError BLOB_SIZE_MISMATCH */
  update(chunk: Uint8Array): void {
    this.#received += chunk.byteLength
    if (this.#received > this.#descriptor.size) throw this.#sizeMismatch()
    this.#hash.update(chunk)
  }

  /** @throws KnownError BLOB_SIZE_MISMATCH, BLOB_DIGEST_MISMATCH */
  finish(): void {
    const { digest, size } = this.#descriptor
    if (this.#received !== size) throw this.#sizeMismatch()
    const actual: Digest = `${algorithmOf(digest)}:${this.#hash.digest('hex')}`
    if (actual === digest) return
    throw new KnownError('BLOB_DIGEST_MISMATCH', `${this.#origin}: expected ${digest}, received ${actual}`, {
      details: { origin: this.#origin, expected: digest, actual, size },
    })
  }

  #sizeMismatch(): KnownError {
    const { digest, size } = this.#descriptor
    const amount = this.#received > size ? `more than ${size}` : `${this.#received} of ${size}`
    return new KnownError('BLOB_SIZE_MISMATCH', `${this.#origin}: received ${amount} bytes of ${digest}`, {
      details: { origin: this.#origin, digest, expected: size, received: this.#received },
    })
  }
}

/**
 * Passes `source` through unchanged and throws unless it is exactly the content that `descriptor` names.
 *
 * A consumer must treat what it has received as unproven until the iteration ends.
 */
export async function* verified(
  source: AsyncIterable<Uint8Array>,
  descriptor: Descriptor,
  origin: string,
): AsyncGenerator<Uint8Array> {
  const verifier = new Verifier(descriptor, origin)
  for await (const chunk of source) {
    verifier.update(chunk)
    yield chunk
  }
  verifier.finish()
}
