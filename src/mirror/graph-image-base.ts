/** The image that the graph image is built on, and what its config becomes. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { childrenOf, type ImageManifest, maxManifestBytes, parseManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Platform } from '../oci/platform.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { byDigest } from './closure.ts'
import { unknownManifest } from './local-content.ts'

/** Of an image config (OCI image-spec config.md), what is changed or must be there; the rest stays as it is. */
const Config = z.looseObject({
  architecture: z.string(),
  os: z.string(),
  created: z.string().optional(),
  config: z.looseObject({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
  rootfs: z.looseObject({ diff_ids: z.array(z.string()) }),
  history: z.array(z.unknown()).nullish(),
})
export type ImageConfig = z.infer<typeof Config>

export interface BaseImage {
  readonly manifest: ImageManifest
  readonly config: ImageConfig
  readonly platform: Platform
}

export interface Base {
  readonly digest: Digest
  /** The media type of an index in the family of the base. */
  readonly listType: string
  /** One for each wanted architecture, in the order of the base. */
  readonly images: readonly BaseImage[]
}

interface BaseOptions {
  readonly architectures: readonly string[]
  readonly signal: AbortSignal
}

interface From {
  readonly source: ContentSource
  readonly reference: Reference
}

/** @throws KnownError MANIFEST_UNKNOWN, MANIFEST_INVALID and the REGISTRY_ codes */
export async function readBase(from: From, { architectures, signal }: BaseOptions): Promise<Base> {
  const { manifest: root, digest } = await readManifest(from, from.reference, signal)
  const isWanted = (architecture: string) => architectures.includes('multi') || architectures.includes(architecture)
  const children = childrenOf(root).filter(({ platform }) => platform?.os === 'linux')
  const wanted = children.filter(({ platform }) => isWanted(platform?.architecture ?? ''))
  const read: ImageManifest[] = root.kind === 'image' ? [root] : []
  for (const child of wanted) {
    const { manifest } = await readManifest(from, byDigest(from.reference, child.digest), signal)
    if (manifest.kind === 'image') read.push(manifest)
  }
  const images: BaseImage[] = []
  for (const [index, manifest] of read.entries()) {
    const config = await readConfig(from, manifest.config, signal)
    const { os, architecture } = config
    if (isWanted(architecture))
      images.push({ manifest, config, platform: wanted[index]?.platform ?? { os, architecture } })
  }
  requireAll(from.reference, architectures, images)
  const isDocker = root.mediaType === mediaTypes.dockerList || root.mediaType === mediaTypes.dockerManifest
  return { digest, listType: isDocker ? mediaTypes.dockerList : mediaTypes.ociIndex, images }
}

function requireAll(reference: Reference, architectures: readonly string[], images: readonly BaseImage[]): void {
  const there = new Set(images.map(({ config }) => config.architecture))
  const missing = architectures.filter((architecture) => architecture !== 'multi' && !there.has(architecture))
  if (missing.length === 0 && images.length > 0) return
  const name = formatReference(reference)
  throw new KnownError(
    'MANIFEST_UNKNOWN',
    `${name}, which the graph image is built on, is not there for ${missing.join(', ') || 'linux'}`,
    {
      details: { image: name },
      hint: 'Mirror this image with all its platforms to where registries.conf leads, or take the architecture out of the configuration.',
    },
  )
}

async function readManifest({ source }: From, reference: Reference, signal: AbortSignal) {
  const name = formatReference(reference)
  const raw = await source.fetchManifest(reference, signal)
  if (!raw) throw unknownManifest(name)
  return { manifest: parseManifest(raw.bytes, raw.descriptor.mediaType, name), digest: raw.descriptor.digest }
}

async function readConfig({ source, reference }: From, config: Descriptor, signal: AbortSignal): Promise<ImageConfig> {
  const name = formatReference(reference)
  if (config.size > maxManifestBytes) throw invalidConfig(name, `its config has ${config.size} bytes`)
  const chunks: Uint8Array[] = []
  for await (const chunk of verified(source.fetchBlob(reference, config, { signal }), config, name)) chunks.push(chunk)
  let document: unknown
  try {
    document = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw invalidConfig(name, 'its config is not JSON', cause)
  }
  const result = Config.safeParse(document)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalidConfig(name, `config: ${issue?.path.join('.')}: ${issue?.message}`)
}

function invalidConfig(image: string, why: string, cause?: unknown): KnownError {
  return new KnownError('MANIFEST_INVALID', `${image} is no image to build on: ${why}`, { details: { image }, cause })
}

/** The config of an image with one more layer. There is no time in it but that of the base. */
export function configOver(
  base: ImageConfig,
  added: {
    readonly diffId: Digest
    readonly command: readonly string[]
    readonly labels: Readonly<Record<string, string>>
  },
): Uint8Array {
  // An entry point would take the command for its arguments.
  const { Entrypoint: _, Labels: labels, ...config } = base.config ?? {}
  const created = base.created === undefined ? {} : { created: base.created }
  return Buffer.from(
    JSON.stringify({
      ...base,
      config: { ...config, Cmd: added.command, Labels: { ...labels, ...added.labels } },
      rootfs: { ...base.rootfs, diff_ids: [...base.rootfs.diff_ids, added.diffId] },
      history: [...(base.history ?? []), { ...created, created_by: 'sallyport: graph data' }],
    }),
  )
}
