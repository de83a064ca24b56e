/**
 * Public keys of sigstore signatures: ECDSA P-256, P-384 and P-521, RSA (PKCS #1 v1.5) and Ed25519.
 *
 * The digest is always SHA-256, whatever the curve (containers/image `signature/internal/sigstore_payload.go`).
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { KnownError } from '../errors/known-error.ts'

export interface SigstoreKey {
  readonly key: KeyObject
  /** Where it was read from, for messages. */
  readonly origin: string
  /** `SHA256:` and the base64 of the digest of its SubjectPublicKeyInfo. */
  readonly fingerprint: string
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1']

/**
 * One key of a PEM file, `PUBLIC KEY` or `RSA PUBLIC KEY`.
 *
 * @throws KnownError KEY_INVALID
 */
export function parseSigstoreKey(pem: Uint8Array | string, origin: string): SigstoreKey {
  const text = typeof pem === 'string' ? pem : new TextDecoder().decode(pem)
  const [block] = /-----BEGIN (?:RSA )?PUBLIC KEY-----[\s\S]*?-----END (?:RSA )?PUBLIC KEY-----/.exec(text) ?? []
  if (block === undefined) throw invalid(origin, 'it holds no public key in PEM')
  try {
    return checkedKey(createPublicKey(block), origin)
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    throw invalid(origin, 'its public key cannot be read', cause)
  }
}

/** @throws KnownError KEY_INVALID for a kind of key that signs no images */
export function checkedKey(key: KeyObject, origin: string): SigstoreKey {
  const type = key.asymmetricKeyType
  const curve = key.asymmetricKeyDetails?.namedCurve ?? ''
  const isKnown = type === 'ed25519' || type === 'rsa' || (type === 'ec' && curves.includes(curve))
  if (!isKnown) throw invalid(origin, `a key of type ${type ?? 'unknown'} ${curve} is not supported`)
  const spki = key.export({ type: 'spki', format: 'der' })
  return { key, origin, fingerprint: `SHA256:${createHash('sha256').update(spki).digest('base64')}` }
}

/** True where `signature` over `bytes` was made with this key. Ed25519 signs the bytes themselves. */
export function isSignedWith({ key }: SigstoreKey, bytes: Uint8Array, signature: Uint8Array): boolean {
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key, signature)
}

function invalid(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('KEY_INVALID', `${origin}: ${why}`, {
    hint: 'Give a public key in PEM, as cosign public-key prints it: ECDSA P-256, P-384 or P-521, RSA, or Ed25519.',
    details: { file: origin },
    cause,
  })
}
