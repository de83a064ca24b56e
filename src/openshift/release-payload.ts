/**
 * What a release image says of itself: `release-manifests/image-references` (an ImageStream) and
 * `release-manifests/release-metadata` (kind cincinnati-metadata-v0).
 *
 * Source: openshift/oc `pkg/cli/admin/release/info.go`, openshift/cluster-version-operator `pkg/payload`.
 */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { parseReference, type Reference } from '../oci/reference.ts'

export const payloadFiles = {
  imageReferences: 'release-manifests/image-references',
  metadata: 'release-manifests/release-metadata',
} as const

/** The ConfigMap with the boot images (src/openshift/coreos-stream.ts). Releases before 4.8, and some of OKD, have none. */
export const bootImagesFile = 'release-manifests/0000_50_installer_coreos-bootimages.yaml'

export interface ReleaseComponent {
  /** The name of the tag in image-references: `cli`, `machine-config-operator`, … */
  readonly name: string
  readonly reference: Reference
  /** `io.openshift.build.commit.id`, `io.openshift.build.source-location`, `io.openshift.build.versions`, … */
  readonly annotations: Readonly<Record<string, string>>
}

export interface ReleasePayload {
  /** From release-metadata, else the name of the ImageStream. */
  readonly version: string
  /** When image-references was written, as it says. */
  readonly created?: string
  /** Absent where there is no release-metadata. */
  readonly metadata?: ReleaseMetadata
  /** In the order of image-references. */
  readonly components: readonly ReleaseComponent[]
  /** The text of `bootImagesFile`, where the release has it and it was read. */
  readonly bootImages?: string
}

export interface ReleaseMetadata {
  /** Versions from which this one can be upgraded to. */
  readonly previous: readonly string[]
  /** Versions that this one can be upgraded to, as far as was known when it was made. */
  readonly next: readonly string[]
  /** `url` (of the erratum), `description`, `release.openshift.io/architecture`, … */
  readonly more: Readonly<Record<string, unknown>>
}

const ImageReferences = z.object({
  kind: z.literal('ImageStream'),
  metadata: z.object({ name: z.string().optional(), creationTimestamp: z.string().nullish() }).optional(),
  spec: z.object({
    tags: z.array(
      z.object({
        name: z.string(),
        annotations: z.record(z.string(), z.string()).nullish(),
        from: z.object({ kind: z.string(), name: z.string() }).optional(),
      }),
    ),
  }),
})

const MetadataDocument = z.object({
  kind: z.literal('cincinnati-metadata-v0'),
  version: z.string(),
  previous: z.array(z.string()).nullish(),
  next: z.array(z.string()).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})

/**
 * Reads the two files, and takes `bootImagesFile` as it is.
 *
 * @param origin names the release image in messages
 * @throws KnownError PAYLOAD_INVALID
 */
export function parseReleasePayload(files: ReadonlyMap<string, Uint8Array>, origin: string): ReleasePayload {
  const references = files.get(payloadFiles.imageReferences)
  if (!references) throw invalid(origin, `it has no ${payloadFiles.imageReferences}`)
  const stream = parse(ImageReferences, references, { file: payloadFiles.imageReferences, origin })
  const metadata = files.get(payloadFiles.metadata)
  const document = metadata && parse(MetadataDocument, metadata, { file: payloadFiles.metadata, origin })
  const version = document?.version ?? stream.metadata?.name
  if (version === undefined) throw invalid(origin, 'neither release-metadata nor image-references names a version')
  const components = stream.spec.tags.flatMap(({ name, from, annotations }): ReleaseComponent[] =>
    from?.kind === 'DockerImage'
      ? [{ name, reference: parseReference(from.name), annotations: annotations ?? {} }]
      : [],
  )
  if (components.length === 0) throw invalid(origin, 'image-references names no image')
  const created = stream.metadata?.creationTimestamp
  const bootImages = files.get(bootImagesFile)
  return {
    version,
    components,
    ...(created && { created }),
    ...(document && { metadata: metadataOf(document) }),
    ...(bootImages && { bootImages: Buffer.from(bootImages).toString('utf8') }),
  }
}

function metadataOf({ previous, next, metadata }: z.infer<typeof MetadataDocument>): ReleaseMetadata {
  return { previous: previous ?? [], next: next ?? [], more: metadata ?? {} }
}

function parse<T>(schema: z.ZodType<T>, bytes: Uint8Array, { file, origin }: { file: string; origin: string }): T {
  let document: unknown
  try {
    document = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch (cause) {
    throw invalid(origin, `${file} is not JSON`, cause)
  }
  const result = schema.safeParse(document)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(origin, `${file}: ${issue?.path.join('.')}: ${issue?.message}`)
}

function invalid(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('PAYLOAD_INVALID', `${origin} is no release image: ${why}`, {
    details: { image: origin },
    cause,
  })
}
