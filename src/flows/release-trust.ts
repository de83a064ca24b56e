/**
 * Whether a release may be mirrored: its OpenPGP signatures, and, where a key is given, its sigstore signatures. Asked
 * before anything of the release is read.
 *
 * Valid signatures are kept: the cluster's version operator wants them, and so does the other side of the gap.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { byDigest } from '../mirror/closure.ts'
import { type MirrorPlan, selectedOf } from '../mirror/plan.ts'
import type { ImageGroup } from '../mirror/resolve-images.ts'
import type { UnreadableImage } from '../mirror/selection.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { childrenOf, parseManifest } from '../oci/manifest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { ReleaseSignatures } from '../openshift/signature-config-map.ts'
import type { Keyring } from '../trust/openpgp-keys.ts'
import { verifyReleaseSigstore } from '../trust/release-sigstore.ts'
import type { SignatureDirectory } from '../trust/signature-directory.ts'
import { signatureDocuments } from '../trust/signature-documents.ts'
import type { SignatureSource } from '../trust/signature-source.ts'
import type { SigstoreKey } from '../trust/sigstore-key.ts'
import { type VerifiedSignature, verifyReleaseSignatures } from '../trust/verify-release.ts'
import { missingSigstore } from './release-sigstore-need.ts'

export interface TrustSettings {
  readonly signatures: SignatureSource
  /** Asked for when the first signature is to be verified. */
  readonly keys: () => Promise<Keyring>
  readonly clock: Clock
  /** Where valid signatures are kept for the next run, and for scripts that look where oc-mirror puts them. */
  readonly directory?: SignatureDirectory | undefined
  /** Takes releases without a valid signature too (`--ignore-release-signature`). */
  readonly isIgnored: boolean
  /**
   * True on the closed side: what the archive does not carry was asked for on the connected side, and accepted there. A
   * signature that is there and wrong is refused on both.
   */
  readonly mayBeMissing?: boolean
  /** One of them must have signed each release, and its images for single architectures, with sigstore. Default: not looked at. */
  readonly sigstoreKeys?: readonly SigstoreKey[]
}

export interface TrustContext {
  readonly source: ContentSource
  readonly signal: AbortSignal
}

interface Verified {
  readonly digest: Digest
  readonly signatures: readonly VerifiedSignature[]
}

export class ReleaseTrust {
  readonly #settings: TrustSettings
  /** By the name of the release. */
  readonly #verified = new Map<string, Verified>()
  readonly #findings: Finding[] = []

  constructor(settings: TrustSettings) {
    this.#settings = settings
  }

  /** The same keys and rules for signatures from elsewhere. */
  with(settings: Partial<TrustSettings>): ReleaseTrust {
    return new ReleaseTrust({ ...this.#settings, ...settings })
  }

  /** What was accepted although it is not as it should be. */
  get findings(): readonly Finding[] {
    return this.#findings
  }

  /**
   * @returns what the release is called by who signed it; undefined where it is accepted without
   * @throws KnownError the SIGNATURE_ codes, and what asking for signatures throws
   */
  async check(release: Reference, digest: Digest, { source, signal }: TrustContext): Promise<string | undefined> {
    const { sigstoreKeys = [], isIgnored } = this.#settings
    const name = formatReference(release)
    try {
      const { valid, rejected } = await this.#verify(name, digest, signal)
      this.#findings.push(...rejected.map(({ error }) => rejectedFinding(error)))
      this.#verified.set(name, { digest, signatures: valid })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof KnownError) || !this.#isAccepted(error)) throw error
      this.#findings.push(unsigned(name, error, isIgnored))
    }
    if (sigstoreKeys.length > 0)
      await checkReleaseSigstore({ image: release, digest, source, signal, keys: sigstoreKeys })
    return this.#verified.get(name)?.signatures[0]?.claim.identity
  }

  /** Throws where nodes would refuse a release; on the closed side it was said on the other. */
  checkForNodes(group: ImageGroup): void {
    const missing = missingSigstore(group)
    const { isIgnored, mayBeMissing = false } = this.#settings
    if (!missing || mayBeMissing) return
    if (!isIgnored) throw missing
    this.#findings.push(unsigned(formatReference(group.image.selected.source), missing, isIgnored))
  }

  /** For the cluster: the signatures of these releases. */
  signaturesOf(releases: readonly Reference[]): ReleaseSignatures {
    const found = releases.map((release) => this.#verified.get(formatReference(release)))
    return new Map(
      found.flatMap((one) => (one ? [[one.digest, one.signatures.map(({ bytes }) => bytes)] as const] : [])),
    )
  }

  /** For the archive: every valid signature. */
  documents(): Map<string, Uint8Array> {
    return new Map(
      [...this.#verified.values()].flatMap(({ digest, signatures }) => [...signatureDocuments(digest, signatures)]),
    )
  }

  async #verify(image: string, digest: Digest, signal: AbortSignal) {
    const { signatures: source, clock, directory } = this.#settings
    const keys = await this.#settings.keys()
    const verification = await verifyReleaseSignatures({ digest, keys, image, source, clock, signal })
    await directory?.keep(digest, verification.valid, signal)
    return verification
  }

  #isAccepted({ code }: KnownError): boolean {
    const { isIgnored, mayBeMissing = false } = this.#settings
    if (isIgnored) return code.startsWith('SIGNATURE_')
    return mayBeMissing && code === 'SIGNATURE_MISSING'
  }
}

/** A signature that does not hold, beside one that does. */
function rejectedFinding({ message, hint }: KnownError): Finding {
  return finding({ id: 'release.signature-rejected', severity: 'warning', summary: message, remedy: hint })
}

function unsigned(release: string, { message }: KnownError, isIgnored: boolean): Finding {
  return finding({
    id: 'release.unsigned',
    severity: 'warning',
    summary: isIgnored
      ? `${release} is mirrored although no signature proves it (--ignore-release-signature): ${message}`
      : `${release}: the archive carries no signature of it, so that none reaches the cluster`,
    remedy:
      'The version operator of a cluster does not update to it without oc adm upgrade --force. Mirror it with its signatures where they can be had.',
  })
}

/** The releases of a plan that may not be mirrored. */
export async function untrustedReleases(
  { images }: Pick<MirrorPlan, 'images'>,
  trust: ReleaseTrust | undefined,
  context: TrustContext,
): Promise<UnreadableImage[]> {
  if (!trust) return []
  const releases = images.filter(({ isReleaseImage }) => isReleaseImage)
  const found = await mapConcurrently(releases, 4, async (planned): Promise<UnreadableImage[]> => {
    const image = selectedOf(planned)
    try {
      await trust.check(image.source, planned.digest, context)
      return []
    } catch (error) {
      context.signal.throwIfAborted()
      if (!(error instanceof KnownError)) throw error
      return [{ image, error }]
    }
  })
  return found.flat()
}

interface SigstoreCheck extends TrustContext {
  readonly image: Reference
  readonly digest: Digest
  readonly keys: readonly SigstoreKey[]
}

async function checkReleaseSigstore({ image, digest, ...check }: SigstoreCheck): Promise<void> {
  const raw = await check.source.fetchManifest(byDigest(image, digest), check.signal)
  if (!raw) throw unknownManifest(formatReference(image))
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(image))
  const instances = childrenOf(manifest).map((child) => child.digest)
  await verifyReleaseSigstore({ ...check, image, digest, instances })
}
