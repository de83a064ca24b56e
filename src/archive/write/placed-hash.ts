import type { Hash } from 'node:crypto'
import { type Digest, type DigestAlgorithm, hasherFor } from '../../oci/digest.ts'
import type { Segment } from '../format/layout.ts'

/** What the bytes of an entry hash to. */
export interface ProvenHash {
  /** Of the whole, in the algorithm of its name. */
  readonly digest: Digest
  /** sha256 in hex of each piece, as the checksum of its volume names it. */
  readonly sums: readonly string[]
}

/** Hashes an entry while its bytes go by: the whole, and each piece where it is cut, or where its name is not its sha256. */
export class PlacedHash {
  readonly #algorithm: DigestAlgorithm
  readonly #segments: readonly Segment[]
  readonly #whole: Hash
  #piece: Hash | undefined
  /** Bytes of the current piece that are still to come. */
  #left: number
  readonly #sums: string[] = []

  constructor(algorithm: DigestAlgorithm, segments: readonly Segment[]) {
    this.#algorithm = algorithm
    this.#segments = segments
    this.#whole = hasherFor(algorithm)
    const isOwnSum = algorithm === 'sha256' && segments.length === 1
    this.#piece = isOwnSum ? undefined : hasherFor('sha256')
    this.#left = segments[0]?.length ?? 0
  }

  update(chunk: Uint8Array): void {
    this.#whole.update(chunk)
    if (this.#piece === undefined) return
    let rest = chunk
    while (rest.byteLength > this.#left) {
      this.#piece.update(rest.subarray(0, this.#left))
      rest = rest.subarray(this.#left)
      this.#turn(this.#piece)
    }
    this.#piece.update(rest)
    this.#left -= rest.byteLength
  }

  finish(): ProvenHash {
    const hex = this.#whole.digest('hex')
    this.#sums.push(this.#piece?.digest('hex') ?? hex)
    return { digest: `${this.#algorithm}:${hex}`, sums: this.#sums }
  }

  #turn(piece: Hash): void {
    this.#sums.push(piece.digest('hex'))
    this.#piece = hasherFor('sha256')
    this.#left = this.#segments[this.#sums.length]?.length ?? Number.POSITIVE_INFINITY
  }
}
