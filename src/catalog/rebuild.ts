/**
 * The image of a filtered catalog: the image of the catalog with two more layers, of which the first takes away the catalog
 * and its stale cache, and the second holds the filtered one.
 *
 * The same catalog image and selection give the same digest on every machine, in every order of the files: nothing in it tells
 * of a time, a user or a version of a library. Layers of the base are not read. (openshift/oc-mirror
 * `internal/pkg/imagebuilder/catalog_builder.go` builds over the same base with the same two steps.)
 */
import { closeSync, openSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../oci/content.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Platform } from '../oci/platform.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import { diskError } from '../store/disk.ts'
import { compareText, keptDocuments } from './fbc-write.ts'
import type { Catalog, CatalogFiles } from './meta.ts'
import {
  type BaseImage,
  type CatalogBase,
  catalogDirectory,
  configOver,
  rawManifest,
  readCatalogBase,
  stalePaths,
} from './rebuild-base.ts'
import { contentEntries } from './rebuild-content.ts'
import { keepImage, readKeptImage } from './rebuild-kept.ts'
import { type PackedLayer, packLayer, whiteoutEntries, writeBlob } from './rebuild-layer.ts'
import { stageDocuments } from './rebuild-stage.ts'
import type { CatalogSelection } from './selection.ts'

/** Changes with every change of what is written for the same inputs, so that no older image is taken for it. */
const formatVersion = 1

export interface RebuildOptions {
  /** Where the catalog image is. */
  readonly source: ContentSource
  /** The catalog image. Its name goes into labels; so does its digest, which is asked for where it is not given. */
  readonly reference: Reference
  /** The files of that image; they are read through once more. */
  readonly files: CatalogFiles
  /** What they say. */
  readonly catalog: Catalog
  readonly selection: CatalogSelection
  /** As images name them, or `multi` for all that the base has, as without it. */
  readonly architectures?: readonly string[]
  /** Of this catalog alone, in the state of a workspace: the image is kept there until another takes its place. */
  readonly directory: string
  readonly signal: AbortSignal
}

export interface RebuiltCatalog {
  /** Every manifest, the image itself last. */
  readonly manifests: readonly RawManifest[]
  /** What was made. All other blobs are where `base` is. They are hashed by whoever reads them. */
  readonly blobs: ReadonlyMap<Digest, (options: FetchBlobOptions) => AsyncIterable<Uint8Array>>
  /** The catalog image, by digest. */
  readonly base: Reference
  /** Of the image itself. */
  readonly digest: Digest
  /** True where nothing had changed, and nothing was made. */
  readonly isKept: boolean
}

/**
 * Makes the image of a filtered catalog, or finds it where it was made of the same before. With one architecture in the base it
 * is an image, with an index as base it is an index.
 *
 * @throws KnownError CATALOG_INVALID where the files are not those that `catalog` was read from, MANIFEST_UNKNOWN where the base,
 * or the base for an architecture, is not there, MANIFEST_INVALID, DISK_FULL and the REGISTRY_ codes
 */
export async function rebuildCatalog(options: RebuildOptions): Promise<RebuiltCatalog> {
  const { directory, selection } = options
  const architectures = options.architectures?.includes('multi') ? undefined : options.architectures
  const base = await pinned(options)
  const selected = selectionDigest(selection)
  const inputs = digestOf(
    JSON.stringify([formatVersion, formatReference(base), selected, architectures?.toSorted(compareText) ?? null]),
  )
  const kept = await readKeptImage(directory, inputs)
  if (kept) return { ...kept, base, digest: rootDigest(kept.manifests), isKept: true }
  const read = await readCatalogBase({ ...options, reference: base }, architectures)
  const { manifests, blobs } = await buildImages(read, options, {
    'io.sallyport.catalog.selection': selected,
    'org.opencontainers.image.base.digest': base.digest,
    // A layout on disk is called after its directory, which is another on every machine.
    ...(!base.registry.endsWith('.invalid') && { 'org.opencontainers.image.base.name': repositoryName(base) }),
  })
  const made = await keepImage(directory, { inputs, manifests, blobs })
  return { ...made, base, digest: rootDigest(manifests), isKept: false }
}

/** What a selection keeps, as one value: equal where the same is kept, whatever the order. */
function selectionDigest({ kept }: CatalogSelection): Digest {
  const packages = [...kept.values()].map(({ name, defaultChannel, channels, bundles, deprecations }) => [
    name,
    defaultChannel,
    channels
      .map((channel) => [channel.name, channel.entries.map((entry) => entry.name).sort(compareText)])
      .sort(byFirst),
    bundles.toSorted(compareText),
    deprecations.map(({ reference }) => `${reference.schema} ${reference.name ?? ''}`).sort(compareText),
  ])
  return digestOf(JSON.stringify(packages.sort(byFirst)))
}

function byFirst(a: readonly unknown[], b: readonly unknown[]): number {
  return compareText(String(a[0]), String(b[0]))
}

type Pinned = Reference & { readonly digest: Digest }

/** By digest and without a tag: a tag that moves to and fro would change the labels of the same image. */
async function pinned({ source, reference, signal }: RebuildOptions): Promise<Pinned> {
  const { registry, repository } = reference
  const digest = reference.digest ?? (await source.resolve(reference, signal))?.digest
  if (digest) return { registry, repository, digest }
  const name = formatReference(reference)
  throw new KnownError('MANIFEST_UNKNOWN', `The catalog ${name} is not there`, { details: { image: name } })
}

function rootDigest(manifests: readonly RawManifest[]): Digest {
  const root = manifests.at(-1)
  if (!root) throw new Error('an image has a manifest')
  return root.descriptor.digest
}

interface BuiltImages {
  readonly manifests: readonly RawManifest[]
  readonly blobs: ReadonlySet<Digest>
}

async function buildImages(
  { index, images }: CatalogBase,
  options: RebuildOptions,
  labels: Readonly<Record<string, string>>,
): Promise<BuiltImages> {
  const blobs = new Set<Digest>()
  const children: { readonly manifest: RawManifest; readonly platform: Platform }[] = []
  const contents = new Map<string, PackedLayer>()
  for (const image of images) {
    const directory = catalogDirectory(image.config)
    const content = contents.get(directory) ?? (await packContent(directory, options))
    contents.set(directory, content)
    const layers = [await packLayer(whiteoutEntries(stalePaths(image.config)), options), content]
    const config = configOver(image.config, { diffIds: layers.map(({ diffId }) => diffId), labels })
    const digest = await writeBlob(options.directory, config)
    for (const each of [digest, ...layers.map((layer) => layer.digest)]) blobs.add(each)
    children.push({
      manifest: manifestOver(image, layers, { digest, size: config.byteLength }),
      platform: image.platform,
    })
  }
  const manifests = children.map(({ manifest }) => manifest)
  if (!index) return { manifests, blobs }
  const list = children.map(({ manifest, platform }) => ({ ...manifest.descriptor, platform }))
  return { manifests: [...manifests, rawManifest(index.mediaType, { ...index.document, manifests: list })], blobs }
}

/** The filtered catalog as a layer. It passes through a staging file, which is gone afterwards. */
async function packContent(imageDirectory: string, options: RebuildOptions): Promise<PackedLayer> {
  const path = join(options.directory, 'staged.new')
  try {
    await mkdir(options.directory, { recursive: true })
    const documents = keptDocuments(options.catalog, options.selection)
    const staged = await stageDocuments(options.files, documents, { path, signal: options.signal })
    const file = openSync(path, 'r')
    try {
      return await packLayer(contentEntries({ documents, staged, file, directory: imageDirectory }), options)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw diskError(error, path)
  } finally {
    await rm(path, { force: true })
  }
}

function manifestOver(
  { manifest, document }: BaseImage,
  layers: readonly PackedLayer[],
  config: { readonly digest: Digest; readonly size: number },
): RawManifest {
  const isDocker = manifest.mediaType === mediaTypes.dockerManifest
  const mediaType = isDocker ? mediaTypes.dockerLayerGzip : mediaTypes.ociLayerGzip
  const before = Array.isArray(document['layers']) ? document['layers'] : []
  const { subject: _, ...rest } = document
  return rawManifest(manifest.mediaType, {
    ...rest,
    config: { mediaType: manifest.config.mediaType, ...config },
    layers: [...before, ...layers.map(({ digest, size }) => ({ mediaType, digest, size }))],
  })
}
