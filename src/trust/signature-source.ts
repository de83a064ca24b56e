/** Where OpenPGP signatures of releases come from: a signature store, a workspace, an archive. */
import type { Digest } from '../oci/digest.ts'

export interface ReleaseSignature {
  /** From 1: `signature-1`, `signature-2`, … */
  readonly number: number
  /** The OpenPGP message: signature and signed JSON in one. */
  readonly bytes: Uint8Array
}

export interface SignatureSource {
  /**
   * Every signature of a release image, in order; empty where there is none. Not verified.
   *
   * @throws KnownError SIGNATURE_UNAVAILABLE where the store gives no usable answer
   */
  readSignatures(digest: Digest, signal: AbortSignal): Promise<readonly ReleaseSignature[]>
}
