/**
 * A release image, looked into where it lies: nothing is kept on disk.
 *
 * Layers are read from the top down and no further than the one that holds the payload; `oc adm release new` puts it into the
 * topmost (openshift/oc `pkg/cli/admin/release/new.go`).
 */
import * as z from 'zod'
import { findLayerFiles } from '../archive/tar/layer-files.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { childrenOf, type ImageManifest } from '../oci/manifest.ts'
import { readImageConfig, readManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { parseReleasePayload, payloadFiles, type ReleasePayload } from '../openshift/release-payload.ts'

export interface ReadOptions {
  readonly source: ContentSource
  /** Of a multi payload only the image of this one, as Go names it. Absent, or `multi`: of each. */
  readonly architecture?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The release image of one architecture. */
export interface PayloadImage {
  /** By digest, in the repository that was asked. */
  readonly reference: Reference & { readonly digest: Digest }
  /** As Go names it. */
  readonly architecture: string
  /** As the image says (RFC 3339). */
  readonly created?: string
  readonly manifest: ImageManifest
  readonly payload: ReleasePayload
}

export interface ReleaseImage {
  /** Of what was asked for: of the index where there is one. */
  readonly digest: Digest
  readonly isIndex: boolean
  /** In the order of the index. */
  readonly images: readonly [PayloadImage, ...(readonly PayloadImage[])]
}

/**
 * Reads what a release image says of itself, proven against its digests.
 *
 * @throws KnownError MANIFEST_UNKNOWN, PAYLOAD_INVALID, LAYER_UNSAFE, BLOB_SIZE_MISMATCH and BLOB_DIGEST_MISMATCH where a
 * layer is not what its manifest says, RELEASE_ABSENT where the index has no such architecture, and the REGISTRY_ codes
 */
export async function readReleaseImage(reference: Reference, options: ReadOptions): Promise<ReleaseImage> {
  const { digest, isIndex, manifests } = await payloadManifests(reference, options)
  const [first, ...others] = await mapConcurrently(manifests, 4, ({ digest: own, manifest }) =>
    readImage({ ...named(reference), digest: own }, manifest, options),
  )
  if (!first) throw new KnownError('PAYLOAD_INVALID', `${formatReference(reference)} is an index without images`)
  return { digest, isIndex, images: [first, ...others] }
}

export interface PayloadManifest {
  readonly digest: Digest
  readonly manifest: ImageManifest
}

export interface PayloadManifests {
  /** Of what was asked for. */
  readonly digest: Digest
  readonly isIndex: boolean
  readonly manifests: readonly PayloadManifest[]
}

/** The manifest of a release image or, for an index, of each of its images that is wanted; attestations are left out. */
export async function payloadManifests(reference: Reference, options: ReadOptions): Promise<PayloadManifests> {
  const root = await readManifest(reference, options)
  const { digest } = root.raw.descriptor
  if (root.manifest.kind === 'image')
    return { digest, isIndex: false, manifests: [{ digest, manifest: root.manifest }] }
  const children = childrenOf(root.manifest).filter(({ platform }) => platform?.os !== 'unknown')
  const wanted = ofArchitecture(children, reference, options.architecture)
  const manifests = await mapConcurrently(wanted, 4, async (child): Promise<PayloadManifest[]> => {
    const { manifest } = await readManifest({ ...named(reference), digest: child.digest }, options)
    return manifest.kind === 'image' ? [{ digest: child.digest, manifest }] : []
  })
  return { digest, isIndex: true, manifests: manifests.flat() }
}

function ofArchitecture(
  children: readonly Descriptor[],
  reference: Reference,
  architecture: string | undefined,
): readonly Descriptor[] {
  if (architecture === undefined || architecture === 'multi') return children
  const wanted = children.filter(({ platform }) => platform?.architecture === architecture)
  if (wanted.length > 0) return wanted
  const there = children.map(({ platform }) => platform?.architecture ?? 'unknown').join(', ')
  throw new KnownError('RELEASE_ABSENT', `${formatReference(reference)} is for ${there}, not for ${architecture}`, {
    details: { image: formatReference(reference), architecture },
    hint: 'Leave --arch away, or name one of these.',
  })
}

async function readImage(
  reference: PayloadImage['reference'],
  manifest: ImageManifest,
  options: ReadOptions,
): Promise<PayloadImage> {
  const origin = formatReference(reference)
  const open = (layer: Descriptor) =>
    verified(options.source.fetchBlob(reference, layer, signalOf(options)), layer, `${origin}: layer ${layer.digest}`)
  const [files, config] = await Promise.all([
    findLayerFiles({
      wanted: [payloadFiles.imageReferences],
      beside: [payloadFiles.metadata],
      layers: manifest.layers,
      origin,
      open,
    }),
    readConfig(reference, manifest, options),
  ])
  const { created, architecture } = config
  const payload = parseReleasePayload(files, origin)
  return { reference, architecture, ...(created && { created }), manifest, payload }
}

const ImageConfig = z.object({ architecture: z.string().default('unknown'), created: z.string().nullish() })

async function readConfig(
  reference: PayloadImage['reference'],
  { config }: ImageManifest,
  options: ReadOptions,
): Promise<z.infer<typeof ImageConfig>> {
  const invalid = (why: string, cause?: unknown) => noConfig(formatReference(reference), why, cause)
  return readImageConfig(config, { ...options, reference, schema: ImageConfig, invalid })
}

function noConfig(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('PAYLOAD_INVALID', `${origin} is no release image: ${why}`, {
    details: { image: origin },
    cause,
  })
}

function named({ registry, repository }: Reference): Reference {
  return { registry, repository }
}

function signalOf({ signal }: ReadOptions): { signal?: AbortSignal } {
  return signal ? { signal } : {}
}
