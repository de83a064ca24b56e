/**
 * Manifests and indexes: OCI image-spec manifest.md and image-index.md, Docker schema 2 and manifest lists.
 *
 * Parsing is tolerant where registries and build tools differ (missing `mediaType`, unknown fields) and strict where
 * the bytes decide what is moved: every descriptor needs a digest and a size.
 */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { Descriptor } from './descriptor.ts'
import { digestText } from './digest-text.ts'
import { isForeignLayerType, isImageManifestType, isIndexType, mediaTypes } from './media-type.ts'

/** A manifest larger than this is refused (distribution-spec, "Pushing Manifests": registries may refuse above 4 MiB). */
export const maxManifestBytes = 4 * 1024 * 1024

const DescriptorSchema = z.object({
  mediaType: z.string().default('application/octet-stream'),
  digest: digestText('not a digest'),
  size: z.number().int().nonnegative(),
  platform: z
    .object({
      os: z.string(),
      architecture: z.string(),
      variant: z.string().optional(),
      'os.version': z.string().optional(),
    })
    .optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  artifactType: z.string().optional(),
  urls: z.array(z.string()).optional(),
})

const ImageManifestSchema = z.object({
  mediaType: z.string().optional(),
  artifactType: z.string().optional(),
  config: DescriptorSchema,
  layers: z.array(DescriptorSchema).default([]),
  subject: DescriptorSchema.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})

const IndexSchema = z.object({
  mediaType: z.string().optional(),
  artifactType: z.string().optional(),
  manifests: z.array(DescriptorSchema).default([]),
  subject: DescriptorSchema.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})

interface ManifestCommon {
  readonly mediaType: string
  readonly artifactType?: string | undefined
  readonly subject?: Descriptor | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}
export interface ImageManifest extends ManifestCommon {
  readonly kind: 'image'
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}
export interface ImageIndex extends ManifestCommon {
  readonly kind: 'index'
  readonly manifests: readonly Descriptor[]
}
export type Manifest = ImageManifest | ImageIndex

/**
 * Reads the bytes of a manifest.
 *
 * `mediaType` is what the transport said (Content-Type, or the descriptor that led here); the document's own field wins
 * when both are there and agree in kind.
 *
 * @param origin names the image in messages
 * @throws KnownError MANIFEST_INVALID
 */
export function parseManifest(bytes: Uint8Array, mediaType: string | undefined, origin: string): Manifest {
  const invalid = (why: string, cause?: unknown) =>
    new KnownError('MANIFEST_INVALID', `${origin}: not an image manifest: ${why}`, {
      details: { image: origin },
      cause,
    })
  if (bytes.byteLength > maxManifestBytes) throw invalid(`${bytes.byteLength} bytes, more than ${maxManifestBytes}`)
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw invalid('it is not JSON', cause)
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw invalid('it is not a JSON object')
  if ('schemaVersion' in document && document.schemaVersion === 1) {
    throw invalid('Docker schema 1 is not supported; push the image again with a tool of this decade')
  }
  const declared = 'mediaType' in document && typeof document.mediaType === 'string' ? document.mediaType : undefined
  const type = declared ?? knownType(mediaType) ?? guessType(document)
  const parse = <T>(schema: z.ZodType<T>): T => {
    const result = schema.safeParse(document)
    if (result.success) return result.data
    throw invalid(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
  }
  if (isIndexType(type)) return { ...parse(IndexSchema), mediaType: type, kind: 'index' } as ImageIndex
  if (isImageManifestType(type))
    return { ...parse(ImageManifestSchema), mediaType: type, kind: 'image' } as ImageManifest
  throw invalid(`media type "${type}" is unknown`)
}

function knownType(mediaType: string | undefined): string | undefined {
  const bare = mediaType?.split(';')[0]?.trim()
  return bare && (isIndexType(bare) || isImageManifestType(bare)) ? bare : undefined
}

/** As containers/image `manifest.GuessMIMEType` does for OCI documents, whose `mediaType` was optional before 1.1. */
function guessType(document: object): string {
  if ('manifests' in document) return mediaTypes.ociIndex
  return 'config' in document ? mediaTypes.ociManifest : 'none'
}

/** The blobs that must be present for this manifest to be usable: config and layers, but not foreign layers. */
export function blobsOf(manifest: Manifest): readonly Descriptor[] {
  if (manifest.kind === 'index') return []
  return [manifest.config, ...manifest.layers.filter((layer) => !isForeignLayerType(layer.mediaType))]
}

/** The manifests that an index names. */
export function childrenOf(manifest: Manifest): readonly Descriptor[] {
  return manifest.kind === 'index' ? manifest.manifests : []
}
