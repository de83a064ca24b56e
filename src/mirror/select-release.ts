/**
 * From a release image to the images it names.
 *
 * The payload is found in the layers of the release image; a layer from afar is kept until it is transferred, so that its
 * bytes cross once, and what it says is kept for good, so that a later run asks nobody.
 */
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findLayerFiles } from '../archive/tar/layer-files.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import { type Digest, hexOf } from '../oci/digest.ts'
import { childrenOf, type ImageManifest, type Manifest, parseManifest } from '../oci/manifest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import {
  bootImagesFile,
  parseReleasePayload,
  payloadFiles,
  type ReleaseComponent,
  type ReleasePayload,
} from '../openshift/release-payload.ts'
import { byDigest } from './closure.ts'
import { type MirrorTarget, releaseRepositories, tagFor, targetRepository } from './destination.ts'
import type { LocalContent } from './local-content.ts'
import type { SelectedImage } from './selection.ts'
import { readIfPresent, type Workspace, writeIfChanged, writeWhole } from './workspace.ts'

/** A release to be mirrored. */
export interface WantedRelease {
  readonly image: Reference
  /** Its tag at the target, also the first part of the tags of its components. */
  readonly tag: string
  /** For people: what asks for it. */
  readonly why: string
}

/**
 * @param source where the release is from: its signatures may be there too
 * @returns what the release is called by who signed it, where that is known
 */
export type CheckRelease = (
  release: Reference,
  digest: Digest,
  context: { readonly source: ContentSource; readonly signal: AbortSignal },
) => Promise<string | undefined>

export interface SelectOptions {
  readonly source: ContentSource
  /** Where layers from afar are kept; none where the source is on this machine. */
  readonly local?: LocalContent
  readonly workspace: Workspace
  readonly signal: AbortSignal
  /**
   * Is asked before anything of a release is read; throws where it is not to be mirrored.
   *
   * @param release by digest
   */
  readonly checkRelease?: CheckRelease | undefined
}

/** The release that `platform.release` names. */
export function namedRelease(image: Reference): WantedRelease {
  return { image, tag: tagFor(image, 'release'), why: `platform.release ${formatReference(image)}` }
}

export interface SelectedRelease {
  /** As it is called at the target. */
  readonly release: WantedRelease
  readonly images: readonly SelectedImage[]
}

/**
 * The release image and its components.
 *
 * @throws KnownError MANIFEST_UNKNOWN, PAYLOAD_INVALID, LAYER_UNSAFE, the REGISTRY_ codes, and what `checkRelease` throws
 */
export async function selectRelease(
  wanted: WantedRelease,
  target: MirrorTarget,
  options: SelectOptions,
): Promise<SelectedRelease> {
  const { image } = wanted
  const name = await options.checkRelease?.(image, await digestAt(image, options), options)
  const release = calledAs(wanted, name)
  const { tag } = release
  const payload = await readRelease(image, { ...options, tag })
  return { release, images: [releaseImage(release, target), ...releaseComponents(payload, tag, target)] }
}

/**
 * A release that is named by nothing but its digest gets the tag that its signer gave it: scripts look for
 * `4.18.9-x86_64` (openshift/oc-mirror `internal/pkg/release/signature.go:GenerateReleaseSignatures`).
 */
function calledAs(release: WantedRelease, name: string | undefined): WantedRelease {
  const isByDigest = release.image.tag === undefined && release.tag === tagFor(release.image, 'release')
  const [, tag] = (isByDigest && /^[^@]*\/[^/:@]+:(\w[\w.-]{0,127})$/.exec(name ?? '')) || []
  return tag === undefined ? release : { ...release, tag }
}

export function releaseComponents({ version, components }: ReleasePayload, tag: string, target: MirrorTarget) {
  return components.map(({ name, reference }): SelectedImage => {
    const destination = { ...targetRepository(target, releaseRepositories.components), tag: `${tag}-${name}` }
    return { source: reference, class: 'release', destination, why: `component ${name} of release ${version}` }
  })
}

export function releaseImage({ image, tag, why }: WantedRelease, target: MirrorTarget): SelectedImage {
  const destination = { ...targetRepository(target, releaseRepositories.images), tag }
  return { source: image, class: 'release', destination, why, isReleaseImage: true }
}

async function digestAt(release: Reference, { source, signal }: SelectOptions): Promise<Digest> {
  const digest = release.digest ?? (await source.resolve(release, signal))?.digest
  if (!digest) throw unknownManifest(formatReference(release))
  return digest
}

export interface ReadReleaseOptions extends SelectOptions {
  /** The tag under which oc-mirror keeps the payload in the workspace. Default: that of the image. */
  readonly tag?: string
  /** Reads the release again where a workspace of an earlier version kept its payload without the boot images. */
  readonly withBootImages?: boolean
}

/** The payload of a release image; from this machine where the same image was read before. */
export async function readRelease(release: Reference, options: ReadReleaseOptions): Promise<ReleasePayload> {
  const digest = await digestAt(release, options)
  const origin = formatReference(release)
  const directory = join(options.workspace.state, 'payloads', hexOf(digest))
  const known = await readKnown(directory)
  if (known && (!options.withBootImages || known.has(bootImagesFile))) return parseReleasePayload(known, origin)
  const files = await readPayloadFiles(byDigest(release, digest), options)
  // Parsed before it is kept: what is no payload must not be found here next time.
  const payload = parseReleasePayload(files, origin)
  for (const path of keptFiles) {
    const bytes = files.get(path)
    if (bytes) await writeWhole(join(directory, path), bytes)
  }
  await writeHoldRelease(options.workspace, options.tag ?? tagFor(release, 'release'), files)
  return payload
}

/** image-references is written last: where it is, the others are too. */
const keptFiles = [bootImagesFile, payloadFiles.metadata, payloadFiles.imageReferences]

async function readKnown(directory: string): Promise<Map<string, Uint8Array> | undefined> {
  const files = new Map<string, Uint8Array>()
  for (const path of keptFiles) {
    const text = await readIfPresent(join(directory, path))
    if (text !== undefined) files.set(path, Buffer.from(text))
  }
  return files.has(payloadFiles.imageReferences) ? files : undefined
}

/** Where oc-mirror and the scripts around it look for the payload. */
async function writeHoldRelease(
  workspace: Workspace,
  tag: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const directory = join(workspace.root, 'hold-release', 'ocp-release', tag)
  await mkdir(directory, { recursive: true })
  for (const [path, bytes] of files) await writeIfChanged(join(directory, path), Buffer.from(bytes).toString('utf8'))
}

async function readPayloadFiles(release: Reference, options: SelectOptions): Promise<Map<string, Uint8Array>> {
  const manifests = await imageManifests(release, options)
  const [first, ...others] = await mapConcurrently(manifests, 4, async (manifest) => {
    const files = await findLayerFiles({
      wanted: Object.values(payloadFiles),
      beside: [bootImagesFile],
      layers: manifest.layers,
      origin: formatReference(release),
      open: (layer) => openLayer(release, layer, options),
    })
    return { files, payload: parseReleasePayload(files, formatReference(release)) }
  })
  if (!first) throw unknownManifest(formatReference(release))
  return others.length === 0
    ? first.files
    : withComponentsOf(
        first.files,
        others.map(({ payload }) => payload),
      )
}

async function* openLayer(
  release: Reference,
  layer: ImageManifest['layers'][number],
  { source, local, signal }: SelectOptions,
): AsyncGenerator<Uint8Array> {
  if (!local) yield* verified(source.fetchBlob(release, layer, { signal }), layer, formatReference(release))
  else yield* createReadStream(await local.bringBlob(source, release, layer, signal), { highWaterMark: 256 * 1024 })
}

/**
 * The image, or every image of an index that is there: an archive and a mirror may have only some platforms of it.
 * Attestations are left out.
 */
async function imageManifests(reference: Reference, options: SelectOptions): Promise<ImageManifest[]> {
  const root = await fetchParsed(reference, options)
  if (!root) throw unknownManifest(formatReference(reference))
  if (root.kind === 'image') return [root]
  const platforms = childrenOf(root).filter(({ platform }) => platform?.os !== 'unknown')
  const children = await mapConcurrently(platforms, 4, ({ digest }) =>
    fetchParsed(byDigest(reference, digest), options),
  )
  return children.filter((child): child is ImageManifest => child?.kind === 'image')
}

async function fetchParsed(reference: Reference, { source, signal }: SelectOptions): Promise<Manifest | undefined> {
  const raw = await source.fetchManifest(reference, signal)
  return raw && parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(reference))
}

/**
 * The payload of one architecture with the components that only other architectures name.
 *
 * A heterogeneous release names the same manifest lists in each of its images; where one differs, both are mirrored.
 */
function withComponentsOf(files: Map<string, Uint8Array>, others: readonly ReleasePayload[]): Map<string, Uint8Array> {
  const bytes = files.get(payloadFiles.imageReferences) ?? new Uint8Array()
  const stream = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    spec: { tags: { name: string; from: { kind: string; name: string } }[] }
  }
  const known = new Set<string | Digest>(stream.spec.tags.map(({ from }) => from?.name))
  for (const { name, reference } of others.flatMap((payload): readonly ReleaseComponent[] => payload.components)) {
    const pullspec = formatReference(reference)
    if (known.has(pullspec)) continue
    known.add(pullspec)
    const suffix = reference.digest ? hexOf(reference.digest).slice(0, 12) : 'other'
    stream.spec.tags.push({ name: `${name}-${suffix}`, from: { kind: 'DockerImage', name: pullspec } })
  }
  return new Map(files).set(payloadFiles.imageReferences, Buffer.from(JSON.stringify(stream)))
}
