/** Images for demonstrations and tests: valid manifests, configs and layers, determined by their options. */
import type { RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { Platform } from '../oci/platform.ts'
import { blobOf, type SampleBlob, type SampleLayer } from './sample-layer.ts'

/** The two families of media types that registries hold. */
export type MediaTypeFamily = 'oci' | 'docker'

export interface TaggedManifest extends RawManifest {
  readonly tag?: string
}

/** Everything that one repository needs to hold an image. */
export interface SampleImage {
  /** The digest that pulls this image. */
  readonly digest: Digest
  /** What an index writes down for this image. */
  readonly descriptor: Descriptor
  /** Children before parents; the last is the image itself. */
  readonly manifests: readonly TaggedManifest[]
  readonly blobs: readonly SampleBlob[]
}

interface SampleImageOptions {
  readonly layers: readonly SampleLayer[]
  /** Default: OCI. */
  readonly mediaTypes?: MediaTypeFamily
  /** Default: linux/amd64. */
  readonly platform?: Platform
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly tag?: string
}

/** An image manifest over `layers`, with a config that tools accept. */
export function sampleImage(options: SampleImageOptions): SampleImage {
  const family = options.mediaTypes ?? 'oci'
  const isDocker = family === 'docker'
  const platform = options.platform ?? { os: 'linux', architecture: 'amd64' }
  const configType = isDocker ? mediaTypes.dockerConfig : mediaTypes.ociConfig
  const config = blobOf(jsonBytes(imageConfig(options, platform)), configType)
  const manifest = manifestOf(
    {
      schemaVersion: 2,
      mediaType: isDocker ? mediaTypes.dockerManifest : mediaTypes.ociManifest,
      config: config.descriptor,
      layers: options.layers.map(({ descriptor }) => descriptor),
      ...(options.annotations && { annotations: options.annotations }),
    },
    options.tag,
  )
  return {
    digest: manifest.descriptor.digest,
    descriptor: { ...manifest.descriptor, platform },
    manifests: [manifest],
    blobs: [...options.layers, config],
  }
}

function imageConfig({ layers, labels }: SampleImageOptions, platform: Platform): object {
  return {
    architecture: platform.architecture,
    os: platform.os,
    ...(platform.variant !== undefined && { variant: platform.variant }),
    created: '2024-01-01T00:00:00Z',
    config: { Entrypoint: ['/usr/bin/sample'], ...(labels && { Labels: labels }) },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: '2024-01-01T00:00:00Z', created_by: 'sample layer' })),
  }
}

interface ManifestDocument extends Readonly<Record<string, unknown>> {
  readonly mediaType: string
}

/** The bytes of a manifest document, with the descriptor that names them. */
export function manifestOf(document: ManifestDocument, tag?: string): TaggedManifest {
  const bytes = jsonBytes(document)
  return {
    descriptor: { mediaType: document.mediaType, digest: digestOf(bytes), size: bytes.byteLength },
    bytes,
    ...(tag !== undefined && { tag }),
  }
}

export function jsonBytes(document: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(document, undefined, 3))
}
