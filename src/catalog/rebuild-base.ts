/** The image that a filtered catalog is built on, and what its config becomes. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource, RawManifest } from '../oci/content.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { childrenOf, type ImageManifest } from '../oci/manifest.ts'
import type { Platform } from '../oci/platform.ts'
import { readImageConfig, readManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { configsLabel, withoutCache } from './rebuild-command.ts'

/** Of an image config (OCI image-spec config.md), what is changed or must be there; the rest stays as it is. */
const Config = z.looseObject({
  architecture: z.string(),
  os: z.string(),
  config: z
    .looseObject({
      Labels: z.record(z.string(), z.string()).nullish(),
      Entrypoint: z.array(z.string()).nullish(),
      Cmd: z.array(z.string()).nullish(),
    })
    .nullish(),
  rootfs: z.looseObject({ diff_ids: z.array(z.string()) }),
  history: z.array(z.looseObject({ created: z.string().optional() })).nullish(),
})
type ImageConfig = z.infer<typeof Config>

/** A document whose other fields are not touched. */
const Document = z.looseObject({})
type JsonDocument = z.infer<typeof Document>

export interface BaseImage {
  readonly manifest: ImageManifest
  readonly document: JsonDocument
  readonly config: ImageConfig
  readonly platform: Platform
}

export interface CatalogBase {
  /** The index that the images are of; undefined where the reference names a single image. */
  readonly index?: { readonly document: JsonDocument; readonly mediaType: string }
  /** One for each wanted architecture, in the order of the base. */
  readonly images: readonly BaseImage[]
}

interface From {
  readonly source: ContentSource
  readonly reference: Reference
  readonly signal: AbortSignal
}

/**
 * @param architectures undefined for all that the base has
 * @throws KnownError MANIFEST_UNKNOWN, MANIFEST_INVALID and the REGISTRY_ codes
 */
export async function readCatalogBase(from: From, architectures: readonly string[] | undefined): Promise<CatalogBase> {
  const isWanted = (architecture: string) => architectures?.includes(architecture) ?? true
  const root = await readDocument(from, from.reference)
  const images: BaseImage[] = []
  if (root.manifest.kind === 'image') {
    const image = await readImage(from, root.manifest, root.document)
    if (isWanted(image.platform.architecture)) images.push(image)
  }
  for (const { digest, platform } of childrenOf(root.manifest)) {
    // Not for what is attached to the images of the base: it speaks of other digests.
    if (platform && (platform.os !== 'linux' || !isWanted(platform.architecture))) continue
    const { manifest, document } = await readDocument(from, { ...from.reference, digest })
    if (manifest.kind !== 'image') continue
    const image = await readImage(from, manifest, document)
    if (isWanted(image.config.architecture)) images.push({ ...image, platform: platform ?? image.platform })
  }
  requireAll(from.reference, architectures ?? [], images)
  if (root.manifest.kind === 'image') return { images }
  return { images, index: { document: root.document, mediaType: root.manifest.mediaType } }
}

function requireAll(reference: Reference, architectures: readonly string[], images: readonly BaseImage[]): void {
  const there = new Set(images.map(({ config }) => config.architecture))
  const missing = architectures.filter((architecture) => !there.has(architecture))
  if (missing.length === 0 && images.length > 0) return
  const name = formatReference(reference)
  throw new KnownError('MANIFEST_UNKNOWN', `The catalog ${name} is not there for ${missing.join(', ') || 'linux'}`, {
    details: { image: name, architectures: missing.join(' ') },
    hint: 'Take the architecture out of the configuration, or mirror the catalog with all its platforms to where registries.conf leads.',
  })
}

async function readDocument(from: From, reference: Reference) {
  const { raw, manifest } = await readManifest(reference, from)
  return { manifest, document: Document.parse(JSON.parse(Buffer.from(raw.bytes).toString('utf8'))) }
}

async function readImage(from: From, manifest: ImageManifest, document: JsonDocument): Promise<BaseImage> {
  const invalid = (why: string, cause?: unknown) => invalidConfig(formatReference(from.reference), why, cause)
  const config = await readImageConfig(manifest.config, { ...from, schema: Config, invalid })
  const { os, architecture } = config
  return { manifest, document, config, platform: { os, architecture } }
}

function invalidConfig(image: string, why: string, cause?: unknown): KnownError {
  return new KnownError('MANIFEST_INVALID', `${image} is no catalog to build on: ${why}`, { details: { image }, cause })
}

/** Where the catalog is in an image, absolute and without a slash at its end. */
export function catalogDirectory({ config }: ImageConfig): string {
  const steps = (config?.Labels?.[configsLabel] ?? '').split('/').filter((step) => step !== '' && step !== '.')
  return steps.length === 0 || steps.includes('..') ? '/configs' : `/${steps.join('/')}`
}

/** The config of an image with more layers. There is no time in it but those of the base. */
export function configOver(
  base: ImageConfig,
  added: { readonly diffIds: readonly Digest[]; readonly labels: Readonly<Record<string, string>> },
): Uint8Array {
  const { Labels: labels, Entrypoint: entrypoint, Cmd: command, ...config } = base.config ?? {}
  const directory = catalogDirectory(base)
  const served = withoutCache({ entrypoint: entrypoint ?? undefined, command: command ?? undefined }, directory)
  const created = base.history?.at(-1)?.created
  const entry = { ...(created !== undefined && { created }), created_by: 'sallyport: filtered catalog' }
  return Buffer.from(
    JSON.stringify({
      ...base,
      config: {
        ...config,
        ...(served.entrypoint && { Entrypoint: served.entrypoint }),
        ...(served.command && { Cmd: served.command }),
        Labels: { ...labels, [configsLabel]: directory, ...added.labels },
      },
      rootfs: { ...base.rootfs, diff_ids: [...base.rootfs.diff_ids, ...added.diffIds] },
      // A history has an entry for each layer, or is not there at all.
      ...(base.history && { history: [...base.history, ...added.diffIds.map(() => entry)] }),
    }),
  )
}

/** What is stale in an image whose catalog is another. */
export function stalePaths(base: ImageConfig): readonly string[] {
  const { Entrypoint: entrypoint, Cmd: command } = base.config ?? {}
  const directory = catalogDirectory(base)
  const { caches } = withoutCache({ entrypoint: entrypoint ?? undefined, command: command ?? undefined }, directory)
  return [directory, ...caches]
}

/** The bytes of a manifest, with the descriptor that names them. */
export function rawManifest(mediaType: string, document: JsonDocument): RawManifest {
  const bytes = Buffer.from(JSON.stringify(document))
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength }, bytes }
}
