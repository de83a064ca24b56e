/**
 * One sigstore signature as a registry holds it, and the check of it with public keys.
 *
 * Source: sigstore/cosign `specs/SIGNATURE_SPEC.md`; containers/image `signature/internal/sigstore_payload.go`.
 */
import { createHash } from 'node:crypto'
import { algorithmOf, type Digest } from '../oci/digest.ts'
import { JsonFault } from './policy-json.ts'
import { parseSignedPayload, type SignedPayload } from './policy-payload.ts'
import { loggedSignature } from './rekor-set.ts'
import { isSignedWith, parseSigstoreKey, type SigstoreKey } from './sigstore-key.ts'

export const simpleSigningType = 'application/vnd.dev.cosign.simplesigning.v1+json'

/** Annotations of the layer that holds the payload. */
export const sigstoreAnnotations = {
  signature: 'dev.cosignproject.cosign/signature',
  bundle: 'dev.sigstore.cosign/bundle',
  certificate: 'dev.sigstore.cosign/certificate',
  chain: 'dev.sigstore.cosign/chain',
} as const

/** Nothing in it is trusted yet. */
export interface SigstoreSignature {
  readonly mediaType: string
  readonly payload: Uint8Array
  readonly annotations: Readonly<Record<string, string>>
  /** For messages: `signature 1 of quay.io/a/b:sha256-….sig`. */
  readonly origin: string
}

export type SigstoreFaultKind =
  | 'unsigned'
  | 'other-key'
  | 'altered'
  | 'not-verified'
  | 'not-json'
  | 'other-digest'
  | 'other-identity'
  | 'layer-mismatch'
  | 'certificate'
  | 'log'
  | 'unsupported'

/** Why one signature does not count; the message says it to a person. */
export class SigstoreFault extends Error {
  override readonly name = 'SigstoreFault'
  readonly kind: SigstoreFaultKind

  constructor(kind: SigstoreFaultKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export interface SignatureRules {
  readonly keys: readonly SigstoreKey[]
  /** The manifest that must have been signed. */
  readonly digest: Digest
  /** The digest of the same manifest by another algorithm, where a signature names it by that one. */
  readonly digestBy: (algorithm: ReturnType<typeof algorithmOf>) => Promise<Digest>
  readonly acceptsName: (dockerReference: string) => boolean
  /** Which names are accepted, for the message. */
  readonly names: string
}

export interface AcceptedSignature {
  readonly key: SigstoreKey
  readonly dockerReference: string
}

/** @throws SigstoreFault */
export async function checkSigstoreSignature(
  signature: SigstoreSignature,
  rules: SignatureRules,
): Promise<AcceptedSignature> {
  const bytes = signatureBytes(signature)
  const key = rules.keys.find((one) => isSignedWith(one, signature.payload, bytes))
  if (key === undefined) throw whyNotVerified(signature, bytes, rules.keys)
  const { digest, dockerReference } = payloadOf(signature)
  const wanted = await rules.digestBy(algorithmOf(digest))
  if (digest !== wanted)
    throw new SigstoreFault('other-digest', `${signature.origin} is for ${digest}, not for ${rules.digest}`)
  if (!rules.acceptsName(dockerReference))
    throw new SigstoreFault(
      'other-identity',
      `${signature.origin} is for the name "${dockerReference}", which ${rules.names} does not accept`,
    )
  return { key, dockerReference }
}

/** @throws SigstoreFault where there is none, or it is no base64 */
export function signatureBytes({ annotations, origin }: SigstoreSignature): Uint8Array {
  const text = annotations[sigstoreAnnotations.signature]
  if (text === undefined)
    throw new SigstoreFault('altered', `${origin} lacks the annotation ${sigstoreAnnotations.signature}`)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text.replace(/[\r\n]/g, ''))
    throw new SigstoreFault('altered', `${origin}: the annotation ${sigstoreAnnotations.signature} is no base64`)
  return bytes
}

function payloadOf({ payload, origin }: SigstoreSignature): SignedPayload {
  try {
    return parseSignedPayload(payload, 'cosign container image signature')
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new SigstoreFault('not-json', `${origin}: the payload is not what cosign signs: ${error.message}`)
  }
}

/** A signature that no key fits does not say why; the log entry beside it often does. */
function whyNotVerified(signature: SigstoreSignature, bytes: Uint8Array, keys: readonly SigstoreKey[]): SigstoreFault {
  const { origin, payload, annotations } = signature
  const wanted = keys.map(({ fingerprint, origin: from }) => `${from} (${fingerprint})`).join(', ')
  const logged = loggedSignature(annotations[sigstoreAnnotations.bundle])
  if (logged === undefined)
    return new SigstoreFault(
      'not-verified',
      `${origin} verifies with none of the keys ${wanted}: it was made with another key, or altered`,
    )
  const isSameSignature = Buffer.from(logged.signature).equals(bytes)
  const isSamePayload = createHash('sha256').update(payload).digest('hex') === logged.payloadSha256
  if (!isSameSignature || !isSamePayload) {
    const part = isSameSignature ? 'payload' : 'signature'
    return new SigstoreFault('altered', `${origin} was altered: its ${part} is another than its log entry says`)
  }
  return new SigstoreFault('other-key', `${origin} was made with ${describeKey(logged.pem)}, not with ${wanted}`)
}

function describeKey(pem: string): string {
  if (pem.includes('CERTIFICATE')) return 'the key of a certificate'
  return `the key ${parseSigstoreKey(pem, 'log entry').fingerprint}`
}
