/** Images of every kind that registries hold, determined by a seed. */
import { hexOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import type { Platform } from '../src/oci/platform.ts'
import {
  jsonBytes,
  type MediaTypeFamily,
  manifestOf,
  type SampleImage,
  sampleImage,
} from '../src/quickstart/sample-image.ts'
import { blobOf, sampleLayer } from '../src/quickstart/sample-layer.ts'

export interface ImageOptions {
  readonly seed: string
  /** How many layers. Default: 2. */
  readonly layers?: number
  /** Size of each layer's random file in bytes. Default: 1000. */
  readonly layerBytes?: number
  readonly mediaTypes?: MediaTypeFamily
  readonly platform?: Platform
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly tag?: string
}

export function makeImage({ seed, layers = 2, layerBytes = 1000, ...rest }: ImageOptions): SampleImage {
  const mediaType = rest.mediaTypes === 'docker' ? mediaTypes.dockerLayerGzip : mediaTypes.ociLayerGzip
  const made = Array.from({ length: layers }, (_, index) =>
    sampleLayer({ seed: `${seed}/${index}`, sizeBytes: layerBytes, mediaType }),
  )
  return sampleImage({ layers: made, ...rest })
}

export interface IndexOptions {
  readonly children: readonly SampleImage[]
  readonly mediaTypes?: MediaTypeFamily
  readonly tag?: string
}

/** An image index, or a Docker manifest list, over `children` with their platforms. */
export function makeIndex({ children, mediaTypes: family = 'oci', tag }: IndexOptions): SampleImage {
  const index = manifestOf(
    {
      schemaVersion: 2,
      mediaType: family === 'docker' ? mediaTypes.dockerList : mediaTypes.ociIndex,
      manifests: children.map(({ descriptor }) => descriptor),
    },
    tag,
  )
  return {
    digest: index.descriptor.digest,
    descriptor: index.descriptor,
    manifests: [...children.flatMap(({ manifests }) => manifests), index],
    blobs: children.flatMap(({ blobs }) => blobs),
  }
}

/** One image for each architecture, and the index over them. */
export function makeMultiArch(options: ImageOptions & { readonly architectures: readonly string[] }): SampleImage {
  const { architectures, tag, seed, ...rest } = options
  const children = architectures.map((architecture) =>
    makeImage({ ...rest, seed: `${seed}/${architecture}`, platform: { os: 'linux', architecture } }),
  )
  return makeIndex({
    children,
    ...(tag !== undefined && { tag }),
    ...(rest.mediaTypes && { mediaTypes: rest.mediaTypes }),
  })
}

/**
 * A provenance attestation as BuildKit writes it: a child of the same index, for the platform unknown/unknown
 * (moby/buildkit `docs/attestations/attestation-storage.md`).
 */
export function makeAttestation(subject: SampleImage): SampleImage {
  const statement = blobOf(
    jsonBytes({ _type: 'https://in-toto.io/Statement/v0.1', subject: [{ digest: { sha256: hexOf(subject.digest) } }] }),
    'application/vnd.in-toto+json',
  )
  const image = sampleImage({
    layers: [{ ...statement, diffId: statement.descriptor.digest }],
    platform: { os: 'unknown', architecture: 'unknown' },
  })
  const annotations = {
    'vnd.docker.reference.digest': subject.digest,
    'vnd.docker.reference.type': 'attestation-manifest',
  }
  return { ...image, descriptor: { ...image.descriptor, annotations } }
}

export interface ReferrerOptions {
  readonly subject: SampleImage
  readonly artifactType: string
  readonly content: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** An artifact attached to `subject` (image-spec manifest.md, "Guidelines for Artifact Usage"). */
export function makeReferrer({ subject, artifactType, content, annotations }: ReferrerOptions): SampleImage {
  const empty = blobOf(jsonBytes({}), mediaTypes.ociEmpty)
  const layer = blobOf(new TextEncoder().encode(content), artifactType)
  const { mediaType, digest, size } = subject.descriptor
  const manifest = manifestOf({
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    artifactType,
    config: empty.descriptor,
    layers: [layer.descriptor],
    subject: { mediaType, digest, size },
    ...(annotations && { annotations }),
  })
  return {
    digest: manifest.descriptor.digest,
    descriptor: { ...manifest.descriptor, artifactType },
    manifests: [manifest],
    blobs: [empty, layer],
  }
}

/** A signature as cosign stores it by default: an image tagged `sha256-<hex>.sig` (sigstore/cosign `specs/SIGNATURE_SPEC.md`). */
export function makeSignature(subject: SampleImage): SampleImage {
  const payload = blobOf(
    jsonBytes({
      critical: { image: { 'docker-manifest-digest': subject.digest }, type: 'cosign container image signature' },
    }),
    'application/vnd.dev.cosign.simplesigning.v1+json',
  )
  return sampleImage({
    layers: [{ ...payload, diffId: payload.descriptor.digest }],
    tag: `sha256-${hexOf(subject.digest)}.sig`,
    annotations: { 'dev.cosignproject.cosign/signature': 'c2FtcGxl' },
  })
}
