/** What a release names, without asking its source: from the target, from what a workspace kept, or oc-mirror's copy of it. */
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { Reference } from '../oci/reference.ts'
import { formatReference } from '../oci/reference.ts'
import { bootImagesFile, parseReleasePayload, payloadFiles, type ReleasePayload } from '../openshift/release-payload.ts'
import { type MirrorTarget, tagFor } from './destination.ts'
import {
  type ReadReleaseOptions,
  readRelease,
  releaseComponents,
  releaseImage,
  type WantedRelease,
} from './select-release.ts'
import type { SelectedImage } from './selection.ts'
import { readIfPresent } from './workspace.ts'

/**
 * @param options with a source that reads from the target
 * @throws KnownError MANIFEST_UNKNOWN and what else reading a release throws, where none of these knows it
 */
export async function readKnownRelease(release: Reference, options: ReadReleaseOptions): Promise<ReleasePayload> {
  try {
    return await readRelease(release, options)
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError)) throw error
    const held = await readHeld(release, options)
    if (held) return held
    throw error
  }
}

/** A release named by tag is kept under this tag (oc-mirror `internal/pkg/release/const.go:releaseImageExtractDir`). */
async function readHeld(
  release: Reference,
  { workspace, tag }: ReadReleaseOptions,
): Promise<ReleasePayload | undefined> {
  const directory = join(workspace.root, 'hold-release', 'ocp-release', tag ?? tagFor(release, 'release'))
  const files = new Map<string, Uint8Array>()
  for (const path of [...Object.values(payloadFiles), bootImagesFile]) {
    const text = await readIfPresent(join(directory, path))
    if (text !== undefined) files.set(path, Buffer.from(text))
  }
  return files.has(payloadFiles.imageReferences) ? parseReleasePayload(files, formatReference(release)) : undefined
}

/** The release image and its components, as `selectRelease` names them at the target. */
export function imagesOfRelease(
  release: WantedRelease,
  payload: ReleasePayload,
  target: MirrorTarget,
): SelectedImage[] {
  return [releaseImage(release, target), ...releaseComponents(payload, release.tag, target)]
}
