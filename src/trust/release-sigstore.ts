/**
 * The sigstore signatures of a release, checked with a given key before anything is moved.
 *
 * From 4.21 on nodes refuse a release image without them (ClusterImagePolicy `openshift`). A node takes the manifest of its
 * own architecture, so each of those needs a signature of its own, and the index as well.
 */
import { readFile } from 'node:fs/promises'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import type { SignedIdentity } from './policy-identity.ts'
import { type VerifiedSigstore, verifySigstore } from './sigstore.ts'
import { parseSigstoreKey, type SigstoreKey } from './sigstore-key.ts'

export interface ReleaseSigstoreRequest {
  readonly source: ContentSource
  /** The release image as it is named upstream. */
  readonly image: Reference
  readonly digest: Digest
  /** The manifests of a release for several architectures; empty for one. */
  readonly instances: readonly Digest[]
  readonly keys: readonly SigstoreKey[]
  /** Which names a signature may give the release. Default: any tag or digest of its repository. */
  readonly identity?: SignedIdentity
  readonly signal: AbortSignal
}

export interface VerifiedRelease extends VerifiedSigstore {
  readonly digest: Digest
}

/**
 * What signed the release image and each of its manifests.
 *
 * @throws KnownError SIGNATURE_MISSING, SIGNATURE_INVALID: of the first manifest that is not signed; MANIFEST_ and
 * REGISTRY_ codes
 */
export async function verifyReleaseSigstore(request: ReleaseSigstoreRequest): Promise<readonly VerifiedRelease[]> {
  const identity = request.identity ?? { type: 'matchRepository' }
  return mapConcurrently([request.digest, ...request.instances], 4, async (digest) => ({
    digest,
    ...(await verifySigstore({ ...request, identity, digest })),
  }))
}

/** The public key of `--sigstore-key FILE`. @throws KnownError FILE_UNREADABLE, KEY_INVALID */
export async function loadSigstoreKey(file: string): Promise<SigstoreKey> {
  try {
    return parseSigstoreKey(await readFile(file), file)
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    throw new KnownError('FILE_UNREADABLE', `Cannot read the key ${file}`, { details: { file }, cause })
  }
}
