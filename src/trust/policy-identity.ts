/**
 * `signedIdentity`: which names a signature may speak about.
 *
 * The name of an image is the one that the configuration gave it, before any mirror, and has a tag or a digest.
 *
 * Source: containers/image `signature/policy_reference_match.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'

export type SignedIdentity =
  | { readonly type: 'matchExact' | 'matchRepoDigestOrExact' | 'matchRepository' }
  | { readonly type: 'exactReference'; readonly dockerReference: string }
  | { readonly type: 'exactRepository'; readonly dockerRepository: string }
  | { readonly type: 'remapIdentity'; readonly prefix: string; readonly signedPrefix: string }

/** What a requirement without a `signedIdentity` means. */
export const defaultIdentity: SignedIdentity = { type: 'matchRepoDigestOrExact' }

/** True where a signature that names `signed` speaks about `image`. A name that is no reference matches nothing. */
export function matchesIdentity(identity: SignedIdentity, image: Reference, signed: string): boolean {
  const signature = parsed(signed)
  if (signature === undefined) return false
  switch (identity.type) {
    case 'matchExact':
      return isSameExactly(named(image), signature)
    case 'matchRepoDigestOrExact':
      return isSameByRepoDigestOrExactly(named(image), signature)
    case 'matchRepository':
      return repositoryName(signature) === repositoryName(image)
    case 'exactReference': {
      const wanted = parsed(identity.dockerReference)
      return wanted !== undefined && isSameExactly(wanted, signature)
    }
    case 'exactRepository': {
      const wanted = parsed(identity.dockerRepository)
      return wanted !== undefined && repositoryName(wanted) === repositoryName(signature)
    }
    case 'remapIdentity': {
      const remapped = remap(named(image), identity)
      return remapped !== undefined && isSameByRepoDigestOrExactly(remapped, signature)
    }
  }
}

/** For messages: `a signature for exactly quay.io/a/b:1`. */
export function describeIdentity(identity: SignedIdentity): string {
  switch (identity.type) {
    case 'exactReference':
      return `exactReference ${identity.dockerReference}`
    case 'exactRepository':
      return `exactRepository ${identity.dockerRepository}`
    case 'remapIdentity':
      return `remapIdentity from ${identity.prefix} to ${identity.signedPrefix}`
    default:
      return identity.type
  }
}

/**
 * An image by digest, or by its tag, which is `latest` where there is neither. A tag beside a digest is a name for
 * people, and the digest decides.
 */
export function named({ registry, repository, tag, digest }: Reference): Reference {
  return digest === undefined ? { registry, repository, tag: tag ?? 'latest' } : { registry, repository, digest }
}

/** `intended` has a tag or a digest, so a signature that gives a bare name is never the same. */
function isSameExactly(intended: Reference, signature: Reference): boolean {
  return formatReference(intended) === formatReference(signature)
}

/** The digest itself is not compared here: the signature names one, and that one is. */
function isSameByRepoDigestOrExactly(intended: Reference, signature: Reference): boolean {
  if (signature.tag === undefined && signature.digest === undefined) return false
  if (intended.tag !== undefined) return formatReference(signature) === formatReference(intended)
  return intended.digest !== undefined && repositoryName(signature) === repositoryName(intended)
}

/** `image` with its prefix exchanged where it has it; undefined where that makes no full reference. */
function remap(
  image: Reference,
  { prefix, signedPrefix }: Extract<SignedIdentity, { type: 'remapIdentity' }>,
): Reference | undefined {
  const name = repositoryName(image)
  if (name !== prefix && !name.startsWith(`${prefix}/`)) return image
  const text = signedPrefix + formatReference(image).slice(prefix.length)
  const remapped = parsed(text)
  // A short name is no full one: it would have been completed with docker.io.
  return remapped !== undefined && formatReference(remapped) === text ? remapped : undefined
}

function parsed(text: string): Reference | undefined {
  try {
    return parseReference(text)
  } catch (error) {
    if (error instanceof KnownError && error.code === 'REFERENCE_INVALID') return undefined
    throw error
  }
}
