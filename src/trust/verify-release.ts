/** Whether somebody who is trusted says that a release image is the one that was released. */
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Digest } from '../oci/digest.ts'
import { type Signer, verifyMessage } from './openpgp.ts'
import type { Keyring } from './openpgp-keys.ts'
import { type ImageClaim, parseImageClaim } from './signature-claim.ts'
import type { ReleaseSignature, SignatureSource } from './signature-source.ts'

/** A signature that holds: these bytes, by this signer, say that of this release. */
export interface VerifiedSignature extends ReleaseSignature {
  readonly signer: Signer
  readonly claim: ImageClaim
}

export interface RejectedSignature {
  readonly number: number
  readonly error: KnownError
}

export interface ReleaseVerification {
  /** At least one, each with other bytes, in the order of their numbers. */
  readonly valid: readonly VerifiedSignature[]
  readonly rejected: readonly RejectedSignature[]
}

interface SignatureCheck {
  readonly digest: Digest
  readonly keys: Keyring
  /** How the release is called in messages. Default: its digest. */
  readonly image?: string
}

/**
 * One signature of a release.
 *
 * @param now milliseconds since the epoch
 * @throws KnownError SIGNATURE_INVALID; `details.reason` is one of `verifyMessage`, `not-atomic`, or `other-digest`
 */
export async function verifyRelease(
  signature: ReleaseSignature,
  { digest, keys, image = digest, now }: SignatureCheck & { readonly now: number },
): Promise<VerifiedSignature> {
  const what = `Signature ${signature.number} of ${image}`
  const { content, signer } = await verifyMessage({ bytes: signature.bytes, keys, now, what })
  const claim = parseImageClaim(content, what)
  if (claim.digest !== digest) {
    throw new KnownError('SIGNATURE_INVALID', `${what} is for another image: it signs ${claim.digest}, not ${digest}`, {
      details: { signature: what, reason: 'other-digest', signed: claim.digest, expected: digest, keyId: signer.keyId },
      hint: 'Fetch the signature again: the store, or a copy of it, has it under the wrong digest.',
    })
  }
  return { ...signature, signer, claim }
}

/**
 * Every signature that a source has for a release; one that holds is enough.
 *
 * @throws KnownError SIGNATURE_MISSING where there is none, SIGNATURE_INVALID where none holds, with every reason, SIGNATURE_UNAVAILABLE
 */
export async function verifyReleaseSignatures(
  check: SignatureCheck & { readonly source: SignatureSource; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ReleaseVerification> {
  const { digest, image = digest, source, clock, signal } = check
  const signatures = await source.readSignatures(digest, signal)
  const valid: VerifiedSignature[] = []
  const rejected: RejectedSignature[] = []
  for (const signature of signatures) {
    const outcome = await attempt(signature, { ...check, now: clock.now() })
    if ('error' in outcome) rejected.push(outcome)
    else if (valid.every(({ bytes }) => !Buffer.from(bytes).equals(signature.bytes))) valid.push(outcome)
  }
  if (valid.length === 0) throw noneHolds(image, digest, rejected)
  return { valid, rejected }
}

async function attempt(
  signature: ReleaseSignature,
  check: SignatureCheck & { readonly now: number },
): Promise<VerifiedSignature | RejectedSignature> {
  try {
    return await verifyRelease(signature, check)
  } catch (error) {
    if (error instanceof KnownError && error.code === 'SIGNATURE_INVALID') return { number: signature.number, error }
    throw error
  }
}

const unsignedHint =
  'Check the digest: only what was released is signed, nightly builds are not. Name another signature store with OCP_SIGNATURE_URL; for OKD, also its key with OCP_SIGNATURE_VERIFICATION_PK.'

function noneHolds(image: string, digest: Digest, rejected: readonly RejectedSignature[]): KnownError {
  const details = { image, digest, signatures: rejected.length }
  const [first, ...others] = rejected
  if (first === undefined) {
    const name = image.includes(digest) ? image : `${image} (${digest})`
    return new KnownError('SIGNATURE_MISSING', `${name} has no release signature`, { details, hint: unsignedHint })
  }
  if (others.length === 0) return first.error
  const reasons = rejected.map(({ error }) => error.message).join('; ')
  return new KnownError(
    'SIGNATURE_INVALID',
    `None of the ${rejected.length} signatures of ${image} holds: ${reasons}`,
    {
      details: { ...details, reason: rejected.map(({ error }) => error.details['reason']).join(' ') },
      hint: first.error.hint,
      cause: first.error,
    },
  )
}
