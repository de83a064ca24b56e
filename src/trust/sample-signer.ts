/** A key that is made for one run, and signs releases as Red Hat's does: for the quickstart. */
import type { Digest } from '../oci/digest.ts'
import { loadOpenPgp } from './openpgp-keys.ts'
import { imageClaimText } from './signature-claim.ts'

export interface SampleSigner {
  /** Armored. */
  readonly publicKey: string
  /** 16 hex digits. */
  readonly keyId: string
  /** As a signature store has it. */
  sign(digest: Digest, reference: string): Promise<Uint8Array>
}

export async function makeSampleSigner(name: string): Promise<SampleSigner> {
  const { createMessage, generateKey, sign } = await loadOpenPgp()
  const { privateKey, publicKey } = await generateKey({ userIDs: { name }, type: 'ecc', format: 'object' })
  return {
    publicKey: publicKey.armor(),
    keyId: publicKey.getKeyID().toHex().toUpperCase(),
    sign: async (digest, reference) => {
      const message = await createMessage({ binary: Buffer.from(imageClaimText(digest, reference)) })
      return sign({ message, signingKeys: privateKey, format: 'binary' })
    },
  }
}
