/** The files of a release image itself: manifests, and what it says of its components. */

import * as z from 'zod'
import { readLayerFolder } from '../archive/tar/layer-files-folder.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { childrenOf, parseManifest } from '../oci/manifest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { parseReleasePayload, payloadFiles, type ReleasePayload } from '../openshift/release-payload.ts'
import { manifestFolder } from './extract-manifests.ts'
import { payloadManifests, type ReadOptions } from './payload-image.ts'

export interface PayloadFolder {
  /** Of the image that was read, as Go names it; undefined where its config does not say. */
  readonly architecture: string | undefined
  readonly payload: ReleasePayload
  /** By path below `release-manifests/`, in order. */
  readonly files: ReadonlyMap<string, Buffer>
}

/**
 * Reads the folder of manifests, from the top layer to the one that holds `image-references`: `oc adm release new` writes the
 * whole folder as one layer (openshift/oc `pkg/cli/admin/release/new.go`).
 *
 * @throws KnownError PAYLOAD_INVALID, MANIFEST_UNKNOWN, LAYER_UNSAFE, RELEASE_ABSENT, BLOB_DIGEST_MISMATCH and the REGISTRY_ codes
 */
export async function readPayloadFolder(reference: Reference, options: ReadOptions): Promise<PayloadFolder> {
  const { source, signal } = options
  const { manifests } = await payloadManifests(reference, options)
  const origin = formatReference(reference)
  const [first] = manifests
  if (!first) throw new KnownError('PAYLOAD_INVALID', `${origin} is an index without images`)
  const image = { registry: reference.registry, repository: reference.repository, digest: first.digest }
  const open = (blob: Descriptor) =>
    verified(source.fetchBlob(image, blob, signal ? { signal } : {}), blob, `${origin}: ${blob.digest}`)
  const { layers, config } = first.manifest
  const found = await readLayerFolder(manifestFolder, { layers, open, origin, lastAt: payloadFiles.imageReferences })
  const payload = parseReleasePayload(found, origin)
  const files = new Map([...found].map(([path, bytes]) => [path.slice(manifestFolder.length + 1), bytes]))
  return { payload, files, architecture: await architectureIn(open(config), origin) }
}

const ImageConfig = z.object({ architecture: z.string().optional() })

async function architectureIn(config: AsyncIterable<Uint8Array>, origin: string): Promise<string | undefined> {
  const text = Buffer.concat(await Array.fromAsync(config)).toString('utf8')
  try {
    return ImageConfig.parse(JSON.parse(text)).architecture
  } catch (cause) {
    throw new KnownError('PAYLOAD_INVALID', `${origin}: its config is no JSON document of an image`, { cause })
  }
}

/**
 * Which image of a release for several architectures to read: the first of `preferred` that is there, else the first.
 *
 * @returns undefined where there is but one image
 */
export async function architectureAmong(
  reference: Reference,
  preferred: readonly (string | undefined)[],
  { source, signal }: Pick<ReadOptions, 'source' | 'signal'>,
): Promise<string | undefined> {
  const raw = await source.fetchManifest(reference, signal)
  if (!raw) return undefined
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(reference))
  const there = childrenOf(manifest).flatMap(({ platform }) =>
    platform && platform.os !== 'unknown' ? [platform.architecture] : [],
  )
  return preferred.find((one) => one !== undefined && there.includes(one)) ?? there[0]
}
