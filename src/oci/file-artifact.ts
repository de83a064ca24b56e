/**
 * A file as an OCI artifact: a manifest with one layer, the bytes of the file, titled with its name, so that `oras pull`
 * and every other client of such artifacts gives the file back.
 *
 * Source: OCI image-spec 1.1 manifest.md, "Guidelines for Artifact Usage", and annotations.md for the title.
 */
import type { RawManifest } from './content.ts'
import type { Descriptor } from './descriptor.ts'
import { type Digest, digestOf } from './digest.ts'
import type { Manifest } from './manifest.ts'
import { mediaTypes } from './media-type.ts'

/** `artifactType` of the files that are made here. Files that others made are read whatever theirs is. */
const artifactType = 'application/vnd.sallyport.file.v1'
/** Nothing is said of what is in a file. */
const layerType = 'application/octet-stream'
const annotations = { title: 'org.opencontainers.image.title', url: 'org.opencontainers.image.url' } as const

const emptyBytes = Buffer.from('{}')
/** The config of an artifact that has none (image-spec manifest.md, "Guidance for an Empty Descriptor"). */
export const emptyConfig = {
  bytes: emptyBytes,
  descriptor: { mediaType: mediaTypes.ociEmpty, digest: digestOf(emptyBytes), size: emptyBytes.byteLength },
} as const

export interface FileInArtifact {
  /** A plain file name. */
  readonly name: string
  readonly digest: Digest
  /** In bytes. */
  readonly size: number
  /** Where it was fetched from; absent for a file of the machine that carried it. */
  readonly url?: string
}

/** True for what can name a file in any directory, and nothing else: no path, no control character, no `..`. */
export function isFileName(text: string): boolean {
  const isSpecial = text === '' || text === '.' || text === '..'
  return !isSpecial && !/[/\\]|\p{Cc}/u.test(text) && Buffer.byteLength(text) <= 255
}

/** The manifest of a file: the same for the same file, byte for byte. */
export function fileManifest({ name, digest, size, url }: FileInArtifact): RawManifest {
  const layer = { mediaType: layerType, digest, size, annotations: { [annotations.title]: name } }
  const document = {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    artifactType,
    config: { ...emptyConfig.descriptor, data: emptyBytes.toString('base64') },
    layers: [layer],
    ...(url !== undefined && { annotations: { [annotations.url]: url } }),
  }
  const bytes = Buffer.from(JSON.stringify(document))
  return {
    descriptor: { mediaType: mediaTypes.ociManifest, digest: digestOf(bytes), size: bytes.byteLength },
    bytes,
  }
}

/**
 * The file of an artifact; undefined where a manifest is no such artifact, or its title is no plain file name. What `oras
 * push` made of one file is one too.
 */
export function fileOf(manifest: Manifest): (FileInArtifact & { readonly layer: Descriptor }) | undefined {
  if (manifest.kind === 'index' || manifest.layers.length !== 1) return undefined
  const [layer] = manifest.layers
  const name = layer?.annotations?.[annotations.title]
  if (!layer || name === undefined || !isFileName(name)) return undefined
  const url = manifest.annotations?.[annotations.url]
  return { name, digest: layer.digest, size: layer.size, layer, ...(url !== undefined && { url }) }
}

const longestComponent = 128

/**
 * The name of a file as the last component of a repository's path: in lower case, with `-` for whatever may not stand there.
 * Two names may give the same one.
 */
export function repositoryComponent(name: string): string {
  const legal = name
    .toLowerCase()
    .slice(0, longestComponent)
    .replace(/[^a-z0-9]+/g, (separator) => (/^(?:\.|_|__|-+)$/.test(separator) ? separator : '-'))
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return legal === '' ? 'file' : legal
}
