/**
 * Where cosign leaves signatures in a registry: under the tag `sha256-<hex>.sig`, and as referrers of the image.
 *
 * Source: sigstore/cosign `specs/SIGNATURE_SPEC.md`, `specs/BUNDLE_SPEC.md`, `pkg/oci/remote/write.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'
import { type ImageManifest, parseManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import type { SigstoreBundle } from './sigstore-bundle.ts'
import { SigstoreFault, type SigstoreSignature } from './sigstore-signature.ts'

/** A signature is small; what is larger is something else (containers/image `internal/iolimits`). */
const maxPayloadBytes = 4 * 1024 * 1024

/** Artifact types of referrers that are signatures. */
const artifactTypes = {
  simpleSigning: 'application/vnd.dev.cosign.artifact.sig.v1+json',
  bundle: /^application\/vnd\.dev\.sigstore\.bundle(?:\.v0\.3\+json|\+json;version=0\.3)$/,
} as const

export interface AttachmentPlace {
  readonly source: ContentSource
  /** The repository of the image, as the configuration names it. */
  readonly repository: Reference
  readonly digest: Digest
  readonly signal: AbortSignal
}

/**
 * What lies under the tag, attestations and all that is not a signature included; undefined where there is no such tag.
 * A payload that cannot be read as its descriptor says is given as a fault: the others may still count.
 *
 * @throws KnownError SIGNATURE_INVALID where the tag is no image manifest; the REGISTRY_ codes
 */
export async function readSignatureTag(
  place: AttachmentPlace,
): Promise<readonly (SigstoreSignature | SigstoreFault)[] | undefined> {
  const { source, repository, digest, signal } = place
  if (algorithmOf(digest) !== 'sha256') return undefined
  const tag = `sha256-${hexOf(digest)}.sig`
  const found = await source.resolveBeside(at(repository, digest), tag, signal)
  if (found === undefined) return undefined
  const name = `${repositoryName(repository)}:${tag}`
  const raw = await source.fetchManifest(at(repository, found.digest), signal)
  // It was there a moment ago when the tag was looked up.
  return raw && readLayers(place, imageManifest(raw, name), name)
}

interface ReferringSignatures {
  readonly signatures: readonly (SigstoreSignature | SigstoreFault)[]
  readonly bundles: readonly (SigstoreBundle | SigstoreFault)[]
}

/** Signatures among the referrers. @throws KnownError SIGNATURE_INVALID, MANIFEST_INVALID and the REGISTRY_ codes */
export async function readReferringSignatures(place: AttachmentPlace): Promise<ReferringSignatures> {
  const { source, repository, digest, signal } = place
  const signatures: (SigstoreSignature | SigstoreFault)[] = []
  const bundles: (SigstoreBundle | SigstoreFault)[] = []
  for (const referrer of await source.referrers(at(repository, digest), digest, signal)) {
    const { artifactType: listed } = referrer
    if (listed !== undefined && !isSignatureType(listed)) continue
    const raw = await source.fetchManifest(at(repository, referrer.digest), signal)
    const name = formatReference(at(repository, referrer.digest))
    const manifest = raw && parseManifest(raw.bytes, raw.descriptor.mediaType, name)
    if (manifest?.kind !== 'image') continue
    // Some registries list it without its type, which for an older artifact is that of its config.
    const type = listed ?? manifest.artifactType ?? manifest.config.mediaType
    if (!isSignatureType(type)) continue
    const isBundle = type !== artifactTypes.simpleSigning
    const layers = await readLayers(place, manifest, name)
    if (!isBundle) signatures.push(...layers)
    else bundles.push(...layers.map((one) => (one instanceof SigstoreFault ? one : bundleOf(one))))
  }
  return { signatures, bundles }
}

function isSignatureType(type: string): boolean {
  return type === artifactTypes.simpleSigning || artifactTypes.bundle.test(type)
}

function bundleOf({ payload, origin }: SigstoreSignature): SigstoreBundle {
  return { bytes: payload, origin: origin.replace('signature', 'bundle') }
}

async function readLayers(
  place: AttachmentPlace,
  { layers }: ImageManifest,
  name: string,
): Promise<(SigstoreSignature | SigstoreFault)[]> {
  const read: (SigstoreSignature | SigstoreFault)[] = []
  for (const [index, layer] of layers.entries())
    read.push(await readLayer(place, layer, `signature ${index + 1} of ${name}`))
  return read
}

async function readLayer(
  { source, repository, signal }: AttachmentPlace,
  layer: Descriptor,
  origin: string,
): Promise<SigstoreSignature | SigstoreFault> {
  const { mediaType, annotations = {}, size, digest } = layer
  if (size > maxPayloadBytes)
    return new SigstoreFault('unsupported', `${origin}: its payload has ${size} bytes, more than ${maxPayloadBytes}`)
  const chunks: Uint8Array[] = []
  try {
    const bytes = source.fetchBlob(at(repository), layer, { signal })
    for await (const chunk of verified(bytes, layer, repositoryName(repository))) chunks.push(Uint8Array.from(chunk))
  } catch (error) {
    const isOther = error instanceof KnownError && /^BLOB_(?:DIGEST|SIZE)_MISMATCH$/.test(error.code)
    if (!isOther) throw error
    return new SigstoreFault('layer-mismatch', `${origin}: its payload is not the bytes of ${digest}`)
  }
  return { mediaType, payload: Buffer.concat(chunks), annotations, origin }
}

function imageManifest(raw: RawManifest, name: string): ImageManifest {
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, name)
  if (manifest.kind === 'image' && manifest.mediaType === mediaTypes.ociManifest) return manifest
  throw new KnownError('SIGNATURE_INVALID', `${name} holds no signatures: it is a ${manifest.mediaType}`, {
    details: { image: name, mediaType: manifest.mediaType },
  })
}

function at({ registry, repository }: Reference, digest?: Digest): Reference {
  return { registry, repository, ...(digest !== undefined && { digest }) }
}
