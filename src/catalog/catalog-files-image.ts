/** A catalog image, at a registry or in an OCI layout. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { childrenOf, type ImageManifest } from '../oci/manifest.ts'
import { type ReadManifest, readImageConfig, readManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { catalogFilesOfLayers } from './catalog-files-layers.ts'
import type { CatalogFiles } from './meta.ts'

/** Labels of catalog images (operator-framework/operator-registry `pkg/containertools/labels.go`). */
const catalogLabels = {
  configs: 'operators.operatorframework.io.index.configs.v1',
  database: 'operators.operatorframework.io.index.database.v1',
} as const

export interface CatalogImage {
  readonly files: CatalogFiles
  /** Of what was asked for: of the index where there is one. */
  readonly digest: Digest
  /** Where the files are in the image: `/configs`. */
  readonly folder: string
}

interface OpenOptions {
  readonly source: ContentSource
  readonly signal?: AbortSignal | undefined
  /** Names the catalog in messages. Default: the reference. */
  readonly origin?: string
  /** The architectures of an index that are there, where some may be missing. Default: all. */
  readonly architectures?: readonly string[] | undefined
}

/** Every image of an index has the same catalog; this one is there nearly always. */
const usualArchitecture = 'amd64'

/**
 * Finds the layers of a catalog image; they are read when its files are.
 *
 * @throws KnownError MANIFEST_UNKNOWN, MANIFEST_INVALID, CATALOG_INVALID where it is no catalog image of files, the BLOB_ and
 * REGISTRY_ codes
 */
export async function openCatalogImage(reference: Reference, options: OpenOptions): Promise<CatalogImage> {
  const origin = options.origin ?? formatReference(reference)
  const root = await readManifest(reference, options)
  const { image, at } = await imageOf(root, reference, options)
  const labels = await readLabels(at, image, options)
  const folder = labels[catalogLabels.configs]
  if (folder === undefined && labels[catalogLabels.database] !== undefined) {
    throw new KnownError('CATALOG_INVALID', `${origin} is a catalog in an SQLite database, which is not supported`, {
      details: { catalog: origin },
      hint: 'Convert it with opm migrate, or use a catalog of OpenShift 4.11 or later.',
    })
  }
  const open = (layer: Descriptor) => {
    const fetched = options.source.fetchBlob(at, layer, options.signal ? { signal: options.signal } : {})
    return verified(fetched, layer, `${origin}: layer ${layer.digest}`)
  }
  const place = folder ?? '/configs'
  const files = catalogFilesOfLayers({ layers: image.layers, open, origin, folder: place })
  return { files, digest: root.raw.descriptor.digest, folder: place }
}

async function imageOf({ raw, manifest }: ReadManifest, reference: Reference, options: OpenOptions) {
  const { registry, repository } = reference
  const { digest } = raw.descriptor
  if (manifest.kind === 'image') return { image: manifest, at: { registry, repository, digest } }
  const images = childrenOf(manifest).filter(({ platform }) => platform?.os !== 'unknown')
  const there = images.filter(({ platform }) => options.architectures?.includes(platform?.architecture ?? ''))
  const children = there.length > 0 ? there : images
  const chosen = children.find(({ platform }) => platform?.architecture === usualArchitecture) ?? children[0]
  const name = formatReference(reference)
  if (!chosen) {
    throw new KnownError('CATALOG_INVALID', `${name} is an index without images`, { details: { catalog: name } })
  }
  const at = { registry, repository, digest: chosen.digest }
  const child = await readManifest(at, options)
  if (child.manifest.kind === 'image') return { image: child.manifest, at }
  throw new KnownError('CATALOG_INVALID', `${name} is an index of indexes, and no catalog image`, {
    details: { catalog: name },
  })
}

const ImageConfig = z.object({
  config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
})

async function readLabels(
  at: Reference,
  { config }: ImageManifest,
  { source, signal }: OpenOptions,
): Promise<Readonly<Record<string, string>>> {
  const origin = formatReference(at)
  const invalid = (why: string, cause?: unknown) =>
    new KnownError('CATALOG_INVALID', `${origin} is no catalog image: ${why}`, { details: { catalog: origin }, cause })
  const read = await readImageConfig(config, { source, signal, reference: at, schema: ImageConfig, invalid })
  return read.config?.Labels ?? {}
}
