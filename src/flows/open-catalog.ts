/** Operator catalogs, wherever they are: at a registry, in an OCI layout, in a directory. Nothing is unpacked. */
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { catalogFilesOfDirectory } from '../catalog/catalog-files.ts'
import { openCatalogImage } from '../catalog/catalog-files-image.ts'
import type { CatalogFiles } from '../catalog/meta.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { LayoutSource } from '../store/layout-source.ts'

export type CatalogLocation =
  | { readonly kind: 'registry'; readonly reference: Reference }
  /** `image`: the name of one of several images in the layout. */
  | { readonly kind: 'layout'; readonly directory: string; readonly image?: string }
  | { readonly kind: 'directory'; readonly directory: string }

export interface OpenCatalogOptions {
  /** Reads through registries.conf. */
  readonly source: ContentSource
  readonly signal?: AbortSignal | undefined
  /** The architectures of an index that are there, where some may be missing. Default: all. */
  readonly architectures?: readonly string[] | undefined
  /**
   * Brings a blob of the image to this machine, and gives the path of the file that was proven: it is read from there, as
   * often as the catalog is read. Absent: everything is read from its source, each time anew.
   */
  readonly bring?: (repository: Reference, blob: Descriptor, source: ContentSource) => Promise<string>
}

export interface OpenedCatalog {
  readonly files: CatalogFiles
  /** For people: a reference, `oci://DIR`, or a directory. */
  readonly name: string
  /** Undefined for a directory. */
  readonly image?: OpenedImage
  readonly close: () => Promise<void>
}

/** The image that a catalog was read from. */
export interface OpenedImage {
  /** Has the image under `reference`: its manifests, of all architectures, and their blobs. */
  readonly source: ContentSource
  /** As it was named; for a layout by digest, at a registry that cannot be. */
  readonly reference: Reference
  /** Of the index where there is one. */
  readonly digest: Digest
  /** Where the catalog is in the image: `/configs`. */
  readonly folder: string
}

/** RFC 2606: nothing is ever asked for over the network at this name. */
export const layoutRegistry = 'layout.invalid'

/**
 * @throws KnownError MANIFEST_UNKNOWN, CATALOG_INVALID for an image that is no file-based catalog, FILE_UNREADABLE, USAGE
 * where a layout has several images and none is named, and the REGISTRY_ codes
 */
export async function openCatalog(location: CatalogLocation, options: OpenCatalogOptions): Promise<OpenedCatalog> {
  switch (location.kind) {
    case 'registry': {
      const { reference } = location
      return openImage(reference, formatReference(reference), options)
    }
    case 'layout': {
      const layout = await LayoutSource.open(location.directory)
      const { digest } = layout.choose(location.image)
      const reference = { registry: layoutRegistry, repository: layoutRepository(location.directory), digest }
      const name = `oci://${location.directory}${location.image === undefined ? '' : `:${location.image}`}`
      return openImage(reference, name, { ...options, source: layout })
    }
    case 'directory': {
      const { directory } = location
      return { files: catalogFilesOfDirectory(directory), name: directory, close: nothingOpen }
    }
  }
}

async function openImage(reference: Reference, name: string, options: OpenCatalogOptions): Promise<OpenedCatalog> {
  const { source, signal, bring, architectures } = options
  const read = bring ? withBroughtBlobs(source, bring) : source
  const { files, digest, folder } = await openCatalogImage(reference, {
    source: read,
    signal,
    architectures,
    origin: name,
  })
  return { files, name, image: { source, reference, digest, folder }, close: nothingOpen }
}

function withBroughtBlobs(source: ContentSource, bring: NonNullable<OpenCatalogOptions['bring']>): ContentSource {
  return {
    resolve: (reference, signal) => source.resolve(reference, signal),
    resolveBeside: (subject, tag, signal) => source.resolveBeside(subject, tag, signal),
    fetchManifest: (reference, signal) => source.fetchManifest(reference, signal),
    referrers: (repository, subject, signal) => source.referrers(repository, subject, signal),
    fetchBlob: async function* (repository, descriptor, { offset = 0 } = {}) {
      const path = await bring(repository, descriptor, source)
      yield* createReadStream(path, { start: offset, highWaterMark: 256 * 1024 })
    },
  }
}

const nothingOpen = async (): Promise<void> => undefined

/** A path that is allowed in a reference, close to the name of the directory. */
function layoutRepository(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return name === '' ? 'layout' : name
}
