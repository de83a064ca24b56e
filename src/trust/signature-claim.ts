/** What the signer of an image states: the JSON inside of a "simple signing" signature (containers/image `docs/containers-signature.5.md`). */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

export interface ImageClaim {
  /** The digest that was signed. Compare it as text: it is the signer's. */
  readonly digest: string
  /** The name that the signer gave the image: `quay.io/openshift-release-dev/ocp-release:4.16.0-x86_64`. */
  readonly identity: string
  readonly creator?: string
}

const atomic = 'atomic container signature'

const Critical = z.object({ critical: z.object({ type: z.string() }) })

/**
 * Without further fields, because the version operator of a cluster refuses them (openshift/library-go
 * `pkg/verify/verify.go`): what counts here has to count there.
 */
const Claim = z.strictObject({
  critical: z.strictObject({
    type: z.literal(atomic),
    image: z.strictObject({ 'docker-manifest-digest': z.string().min(1) }),
    identity: z.strictObject({ 'docker-reference': z.string().min(1) }),
  }),
  optional: z.strictObject({ creator: z.string().nullish(), timestamp: z.int().nullish() }).nullish(),
})

/** The text that says of a digest that it is this image. */
export function imageClaimText(digest: string, reference: string): string {
  const identity = { 'docker-reference': reference }
  return JSON.stringify({ critical: { identity, image: { 'docker-manifest-digest': digest }, type: atomic } })
}

/**
 * @param what which signature it is, for messages
 * @throws KnownError SIGNATURE_INVALID, with `reason` `not-atomic`
 */
export function parseImageClaim(content: Uint8Array, what: string): ImageClaim {
  const value = parseJson(content, what)
  const { critical } = Critical.safeParse(value).data ?? {}
  if (critical !== undefined && critical.type !== atomic) {
    throw notAtomic(what, `is of the type ${JSON.stringify(critical.type.slice(0, 80))}, not ${JSON.stringify(atomic)}`)
  }
  const result = Claim.safeParse(value)
  if (!result.success) {
    const issues = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`)
    throw notAtomic(what, `is not ${JSON.stringify(atomic)}: ${issues.join('; ')}`)
  }
  const { critical: signed, optional } = result.data
  return {
    digest: signed.image['docker-manifest-digest'],
    identity: signed.identity['docker-reference'],
    ...(optional?.creator != null && { creator: optional.creator }),
  }
}

function parseJson(content: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch (cause) {
    throw notAtomic(what, 'signs something else than a statement about an image: it is no JSON', cause)
  }
}

function notAtomic(what: string, why: string, cause?: unknown): KnownError {
  return new KnownError('SIGNATURE_INVALID', `${what} ${why}`, {
    details: { signature: what, reason: 'not-atomic' },
    hint: 'This key signed it, but it vouches for no image. Fetch the signature of the release again.',
    cause,
  })
}
