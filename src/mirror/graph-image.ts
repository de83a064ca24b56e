/**
 * The graph image: the init container of an UpdateService, which copies graph data to where the update service reads it.
 *
 * Made of a base image and one layer, as openshift/oc-mirror `internal/pkg/release/graph.go` and
 * `internal/pkg/imagebuilder/builder.go` make it, but the same for the same graph data and base, byte for byte: the layer is packed without
 * compression, whose result would depend on the machine.
 */
import { join } from 'node:path'
import { storedGzip } from '../archive/tar/stored-gzip.ts'
import { writeTar } from '../archive/tar/ustar.ts'
import type { ContentSource, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Platform } from '../oci/platform.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { byDigest } from './closure.ts'
import { type MirrorTarget, targetRepository } from './destination.ts'
import { type GraphData, graphDataEntries } from './graph-data.ts'
import { type BaseImage, configOver, readBase } from './graph-image-base.ts'
import { keepMadeImage, readMadeImage } from './kept-made-image.ts'
import { type MadeImage, madeRegistry } from './made-content.ts'
import type { SelectedImage } from './selection.ts'
import type { Workspace } from './workspace.ts'

/** What oc-mirror builds on. In an enclave registries.conf leads to a mirror of it. */
export const graphImageBase = parseReference('registry.access.redhat.com/ubi9/ubi:latest')

const reference: Reference = { registry: madeRegistry, repository: 'openshift/graph-image', tag: 'latest' }
const dataDirectory = 'var/lib/cincinnati-graph-data'
/** Where the operator mounts the volume that the update service reads (openshift/cincinnati-operator `controllers/new.go`). */
const mountPath = '/var/lib/cincinnati/graph-data'

export interface GraphImageOptions {
  readonly graphData: GraphData
  readonly base: { readonly source: ContentSource; readonly reference: Reference }
  /** As images name them, or `multi` for all that the base has: those of the nodes that the update service may run on. */
  readonly architectures: readonly string[]
  readonly workspace: Workspace
  readonly signal: AbortSignal
}

/** True for the image that `graphImageSelected` wants, whatever its digest. */
export function isGraphImage({ registry, repository }: Reference): boolean {
  return registry === reference.registry && repository === reference.repository
}

/** The graph image as it is wanted at a target (name: openshift/oc-mirror `internal/pkg/release/const.go`). */
export function graphImageSelected(target: MirrorTarget): SelectedImage {
  const { repository, tag } = reference
  const destination = { ...targetRepository(target, repository), ...(tag !== undefined && { tag }) }
  return { source: reference, class: 'release', destination, why: 'platform.graph' }
}

/**
 * Makes the graph image and keeps it in the workspace. With one architecture it is an image, with several an index.
 *
 * @throws KnownError GRAPH_DATA_INVALID, MANIFEST_UNKNOWN where the base, or the base for an architecture, is not there,
 * MANIFEST_INVALID and the REGISTRY_ codes
 */
export async function makeGraphImage(options: GraphImageOptions): Promise<MadeImage> {
  const { graphData, base, workspace } = options
  const tar = Buffer.concat([...writeTar(await graphDataEntries(graphData, dataDirectory))])
  const packed = Buffer.concat([...storedGzip([tar])])
  const layer = { diffId: digestOf(tar), digest: digestOf(packed), size: packed.byteLength }
  const { digest, listType, images } = await readBase(base, options)
  const made = images.map((image) => graphImageOver(image, layer, { name: formatReference(base.reference), digest }))
  const manifests = made.map(({ manifest }) => manifest)
  return keepMadeImage(directoryIn(workspace), {
    reference,
    base: byDigest(base.reference, digest),
    manifests: made.length > 1 ? [...manifests, indexOf(made, listType)] : manifests,
    blobs: new Map<Digest, Uint8Array>([
      [layer.digest, packed],
      ...made.map(({ config }): [Digest, Uint8Array] => [digestOf(config), config]),
    ]),
  })
}

/** The graph image that was made last, with nothing asked of anybody; undefined where there is none. */
export function readGraphImage(workspace: Workspace): Promise<MadeImage | undefined> {
  return readMadeImage(directoryIn(workspace))
}

function directoryIn({ state }: Workspace): string {
  return join(state, 'made', 'graph-image')
}

interface MadeManifest {
  readonly platform: Platform
  readonly config: Uint8Array
  readonly manifest: RawManifest
}

function graphImageOver(
  { manifest: base, config: baseConfig, platform }: BaseImage,
  layer: { readonly diffId: Digest; readonly digest: Digest; readonly size: number },
  from: { readonly name: string; readonly digest: Digest },
): MadeManifest {
  const isDocker = base.mediaType === mediaTypes.dockerManifest
  const config = configOver(baseConfig, {
    diffId: layer.diffId,
    command: ['/bin/bash', '-c', `exec cp -rp /${dataDirectory}/* ${mountPath}`],
    labels: {
      'org.opencontainers.image.base.digest': from.digest,
      'org.opencontainers.image.base.name': from.name,
      'org.opencontainers.image.source': 'https://github.com/openshift/cincinnati-graph-data',
      'org.opencontainers.image.title': 'openshift/graph-image',
    },
  })
  const manifest = rawManifest({
    schemaVersion: 2,
    mediaType: base.mediaType,
    config: { mediaType: base.config.mediaType, digest: digestOf(config), size: config.byteLength },
    layers: [
      ...base.layers,
      {
        mediaType: isDocker ? mediaTypes.dockerLayerGzip : mediaTypes.ociLayerGzip,
        digest: layer.digest,
        size: layer.size,
      },
    ],
  })
  return { platform, config, manifest }
}

function indexOf(images: readonly MadeManifest[], mediaType: string): RawManifest {
  const manifests = images.map(({ manifest, platform }): Descriptor => ({ ...manifest.descriptor, platform }))
  return rawManifest({ schemaVersion: 2, mediaType, manifests })
}

function rawManifest(document: Readonly<Record<string, unknown>> & { readonly mediaType: string }): RawManifest {
  const bytes = Buffer.from(JSON.stringify(document))
  return { descriptor: { mediaType: document.mediaType, digest: digestOf(bytes), size: bytes.byteLength }, bytes }
}
