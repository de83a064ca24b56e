/**
 * One requirement against one manifest. One accepted signature is enough.
 *
 * Source: containers/image `signature/policy_eval_signedby.go`, `signature/policy_eval_sigstore.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import { algorithmOf, type Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { ImageSignatures } from './image-signatures.ts'
import { verifyMessage } from './openpgp.ts'
import type { Keyring } from './openpgp-keys.ts'
import { describeIdentity, matchesIdentity } from './policy-identity.ts'
import { JsonFault } from './policy-json.ts'
import type { PolicyKeys } from './policy-keys.ts'
import { parseSignedPayload } from './policy-payload.ts'
import type { PolicyRequirement, SignedByRequirement, SigstoreRequirement } from './policy-requirement.ts'
import type { StoredMessage } from './registries-d-lookaside.ts'
import { digestByOf } from './sigstore.ts'
import { checkSigstoreSignature, SigstoreFault, simpleSigningType } from './sigstore-signature.ts'

export interface RequirementContext {
  readonly image: { readonly source: Reference; readonly digest: Digest }
  readonly source: ContentSource
  readonly signal: AbortSignal
  readonly signatures: ImageSignatures
  readonly keys: PolicyKeys
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Undefined where the requirement is met; else what was found, one reason a signature.
 *
 * @throws KnownError where the signatures cannot be read
 */
export async function whyUnmet(
  requirement: PolicyRequirement,
  context: RequirementContext,
): Promise<readonly string[] | undefined> {
  try {
    switch (requirement.type) {
      case 'insecureAcceptAnything':
        return undefined
      case 'reject':
        return ['the policy rejects every image here']
      case 'signedBaseLayer':
        return ['signedBaseLayer is not implemented, here as in containers/image: it accepts nothing']
      case 'signedBy':
        return await whyNotSignedBy(requirement, context)
      case 'sigstoreSigned':
        return await whyNotSigstoreSigned(requirement, context)
    }
  } catch (error) {
    // A key that is not there or is none, and a signature that nobody can read, accept nothing.
    const isRefusal = error instanceof KnownError && refusals.includes(error.code)
    if (!isRefusal) throw error
    return [error.message]
  }
}

const refusals = ['FILE_UNREADABLE', 'KEY_INVALID', 'SIGNATURE_INVALID']

async function whyNotSignedBy(
  requirement: SignedByRequirement,
  context: RequirementContext,
): Promise<readonly string[] | undefined> {
  if (requirement.keyType !== 'GPGKeys')
    return [`the key type ${requirement.keyType} is not implemented, here as in containers/image: it accepts nothing`]
  const keys = await context.keys.keyringOf(requirement)
  const { simple, places } = await context.signatures.find()
  const reasons: string[] = []
  for (const message of simple) {
    const why = await whyNoMessage(message, { requirement, context, keys })
    if (why === undefined) return undefined
    reasons.push(why)
  }
  return reasons.length > 0 ? reasons : [`a signature is required, and there is none in ${places[0]}`]
}

interface MessageCheck {
  readonly requirement: SignedByRequirement
  readonly context: RequirementContext
  readonly keys: Keyring
}

async function whyNoMessage(
  { bytes, origin }: StoredMessage,
  { requirement, context, keys }: MessageCheck,
): Promise<string | undefined> {
  const { image, now } = context
  try {
    const { content } = await verifyMessage({ bytes, keys, now, what: origin })
    const { digest, dockerReference } = parseSignedPayload(content, 'atomic container signature')
    const wanted = await digestByOf({ ...context, ...named(image) })(algorithmOf(digest))
    if (digest !== wanted) return `${origin} is for ${digest}, not for ${image.digest}`
    if (matchesIdentity(requirement.identity, image.source, dockerReference)) return undefined
    const accepted = `${describeIdentity(requirement.identity)} for ${formatReference(image.source)}`
    return `${origin} is for the name "${dockerReference}", which ${accepted} does not accept`
  } catch (error) {
    if (error instanceof JsonFault) return `${origin}: what was signed is no signature of an image: ${error.message}`
    if (error instanceof KnownError && error.code === 'SIGNATURE_INVALID') return error.message
    throw error
  }
}

async function whyNotSigstoreSigned(
  requirement: SigstoreRequirement,
  context: RequirementContext,
): Promise<readonly string[] | undefined> {
  const trust = await context.keys.trustRootOf(requirement)
  const { sigstore, simple, places } = await context.signatures.find()
  const { image } = context
  const rules = {
    digest: image.digest,
    digestBy: digestByOf({ ...context, ...named(image) }),
    acceptsName: (name: string) => matchesIdentity(requirement.identity, image.source, name),
    names: `${describeIdentity(requirement.identity)} for ${formatReference(image.source)}`,
  }
  const reasons: string[] = []
  const candidates = sigstore.filter((one) => one instanceof SigstoreFault || one.mediaType === simpleSigningType)
  for (const candidate of candidates) {
    try {
      if (candidate instanceof SigstoreFault) throw candidate
      const keys = await trust.keysFor(candidate, context.now)
      await checkSigstoreSignature(candidate, { ...rules, keys })
      return undefined
    } catch (error) {
      if (!(error instanceof SigstoreFault)) throw error
      reasons.push(error.message)
    }
  }
  if (reasons.length > 0) return reasons
  const others = simple.length + sigstore.length
  const found = others === 0 ? '' : ` (${others} of other kinds)`
  const advice = places.length > 1 ? '' : '; use-sigstore-attachments is not true in registries.d'
  return [`a sigstore signature is required, and there is none in ${places.join(' and ')}${found}${advice}`]
}

function named({ source, digest }: RequirementContext['image']) {
  return { image: source, digest }
}
