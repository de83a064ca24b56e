/** The image that the graph image is built on, and what its config becomes. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { childrenOf, type ImageManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Platform } from '../oci/platform.ts'
import { readImageConfig, readManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { byDigest } from './closure.ts'

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
  const { manifest: root, raw } = await readManifest(from.reference, { ...from, signal })
  const isWanted = (architecture: string) => architectures.includes('multi') || architectures.includes(architecture)
  const children = childrenOf(root).filter(({ platform }) => platform?.os === 'linux')
  const wanted = children.filter(({ platform }) => isWanted(platform?.architecture ?? ''))
  const read: ImageManifest[] = root.kind === 'image' ? [root] : []
  for (const child of wanted) {
    const { manifest } = await readManifest(byDigest(from.reference, child.digest), { ...from, signal })
    if (manifest.kind === 'image') read.push(manifest)
  }
  const images: BaseImage[] = []
  for (const [index, manifest] of read.entries()) {
    const invalid = (why: string, cause?: unknown) => invalidConfig(formatReference(from.reference), why, cause)
    const config = await readImageConfig(manifest.config, { ...from, signal, schema: Config, invalid })
    const { os, architecture } = config
    if (isWanted(architecture))
      images.push({ manifest, config, platform: wanted[index]?.platform ?? { os, architecture } })
  }
  requireAll(from.reference, architectures, images)
  const isDocker = root.mediaType === mediaTypes.dockerList || root.mediaType === mediaTypes.dockerManifest
  return { digest: raw.descriptor.digest, listType: isDocker ? mediaTypes.dockerList : mediaTypes.ociIndex, images }
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
