/**
 * Is this manifest signed with one of these keys? Asked before its bytes move.
 *
 * Signatures are looked for where cosign has left them over the years: the tag `sha256-<hex>.sig`, referrers in the same
 * form, and referrers that are sigstore bundles. One that verifies is enough.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import { algorithmOf, type Digest, type DigestAlgorithm, digestOf } from '../oci/digest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { describeIdentity, matchesIdentity, type SignedIdentity } from './policy-identity.ts'
import { type AttachmentPlace, readReferringSignatures, readSignatureTag } from './sigstore-attachments.ts'
import { checkSigstoreBundle } from './sigstore-bundle.ts'
import type { SigstoreKey } from './sigstore-key.ts'
import { checkSigstoreSignature, SigstoreFault, simpleSigningType } from './sigstore-signature.ts'

export interface SigstoreRequest {
  readonly source: ContentSource
  /** The image as the configuration names it, before any mirror. */
  readonly image: Reference
  /** Of the manifest that must be signed: the image itself, or one of the manifests of an index. */
  readonly digest: Digest
  readonly keys: readonly SigstoreKey[]
  /** Which names a signature may give the image. */
  readonly identity: SignedIdentity
  readonly signal: AbortSignal
}

export interface VerifiedSigstore {
  readonly key: SigstoreKey
  /** The name that was signed; absent for a bundle, which signs none. */
  readonly dockerReference?: string
}

/**
 * @throws KnownError SIGNATURE_MISSING where there is no signature; SIGNATURE_INVALID where there are, and none counts:
 * `details.fault` says why (`SigstoreFaultKind`) of the first, the message of each; MANIFEST_ and REGISTRY_ codes
 */
export async function verifySigstore(request: SigstoreRequest): Promise<VerifiedSigstore> {
  const { source, image, digest, signal } = request
  const place: AttachmentPlace = { source, repository: image, digest, signal }
  const faults: SigstoreFault[] = []
  const tagged = (await readSignatureTag(place)) ?? []
  const fromTag = await firstSigned(tagged, request, faults)
  if (fromTag !== undefined) return fromTag
  const { signatures, bundles } = await readReferringSignatures(place)
  const fromReferrer = await firstSigned(signatures, request, faults)
  if (fromReferrer !== undefined) return fromReferrer
  const readManifest = () => manifestBytes(request)
  for (const bundle of bundles) {
    const key = await orFault(bundle, faults, (one) => checkSigstoreBundle(one, { ...request, readManifest }))
    if (key !== undefined) return { key }
  }
  throw unsigned(request, faults)
}

/**
 * The digest of a manifest by another algorithm: a signature may name it by that one.
 *
 * @throws KnownError MANIFEST_UNKNOWN and the REGISTRY_ codes
 */
export function digestByOf(
  request: Pick<SigstoreRequest, 'source' | 'image' | 'digest' | 'signal'>,
): (algorithm: DigestAlgorithm) => Promise<Digest> {
  return async (algorithm) => {
    if (algorithm === algorithmOf(request.digest)) return request.digest
    return digestOf(await manifestBytes(request), algorithm)
  }
}

async function firstSigned(
  signatures: Awaited<ReturnType<typeof readReferringSignatures>>['signatures'],
  request: SigstoreRequest,
  faults: SigstoreFault[],
): Promise<VerifiedSigstore | undefined> {
  const { keys, digest, image, identity } = request
  const rules = {
    keys,
    digest,
    digestBy: digestByOf(request),
    acceptsName: (name: string) => matchesIdentity(identity, image, name),
    names: `${describeIdentity(identity)} for ${formatReference(image)}`,
  }
  // Other attachments under the tag, such as attestations, are no signatures.
  const candidates = signatures.filter((one) => one instanceof SigstoreFault || one.mediaType === simpleSigningType)
  for (const candidate of candidates) {
    const accepted = await orFault(candidate, faults, (one) => checkSigstoreSignature(one, rules))
    if (accepted !== undefined) return accepted
  }
  return undefined
}

/** What `check` gives; undefined, and one fault more, where it or the reading before it failed. */
async function orFault<T extends object, R>(
  candidate: T | SigstoreFault,
  faults: SigstoreFault[],
  check: (candidate: T) => Promise<R | undefined>,
): Promise<R | undefined> {
  try {
    if (candidate instanceof SigstoreFault) throw candidate
    return await check(candidate)
  } catch (error) {
    if (!(error instanceof SigstoreFault)) throw error
    faults.push(error)
    return undefined
  }
}

function unsigned({ image, digest }: SigstoreRequest, faults: readonly SigstoreFault[]): KnownError {
  const name = formatReference({ registry: image.registry, repository: image.repository, digest })
  const [first] = faults
  if (first === undefined) {
    const tag = `${digest.replace(':', '-')}.sig`
    return new KnownError('SIGNATURE_MISSING', `${name} has no sigstore signature: no tag ${tag}, no referrer`, {
      details: { image: name, fault: 'unsigned' },
    })
  }
  const reasons = faults.map(({ message }) => message).join('; ')
  return new KnownError('SIGNATURE_INVALID', `${name} has no sigstore signature that counts: ${reasons}`, {
    details: { image: name, fault: first.kind },
  })
}

async function manifestBytes({
  source,
  image,
  digest,
  signal,
}: Pick<SigstoreRequest, 'source' | 'image' | 'digest' | 'signal'>): Promise<Uint8Array> {
  const reference = { registry: image.registry, repository: image.repository, digest }
  const raw = await source.fetchManifest(reference, signal)
  if (raw === undefined) throw unknownManifest(formatReference(reference))
  return raw.bytes
}
