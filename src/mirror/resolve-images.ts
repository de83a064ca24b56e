import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import { type ResolvedImage, resolveImage } from './closure.ts'
import type { OnMirrorEvent } from './events.ts'
import type { Failures } from './failures.ts'
import { isMade } from './made-content.ts'
import type { SelectedImage } from './selection.ts'

export interface ResolveOptions {
  readonly source: ContentSource
  readonly signal: AbortSignal
  readonly onEvent: OnMirrorEvent
  /** Takes the images that cannot be resolved; the others go on. */
  readonly failures: Failures
  /** Leave out signatures and whatever else is attached. */
  readonly withoutAttached?: boolean
  /** Throws where an image is not to be mirrored: it then fails like one that cannot be had. */
  readonly check?: CheckImage | undefined
}

/** @param source where the image is from: its signatures are there too */
export type CheckImage = (image: ResolvedImage, source: ContentSource, signal: AbortSignal) => Promise<void>

/** Every image with all that belongs to it: each image first, then what is attached to it. */
export async function resolveImages(
  images: readonly SelectedImage[],
  { source, signal, onEvent, failures, withoutAttached = false, check }: ResolveOptions,
): Promise<ResolvedImage[]> {
  let done = 0
  const resolved = await mapConcurrently(images, 16, async (image) => {
    try {
      const resolved = await resolveImage(image, { source, signal, withoutAttached })
      // What is made here has no signature; a file is proven by its checksum.
      if (check && resolved[0] && !isMade(image.source)) await check(resolved[0], source, signal)
      return resolved
    } catch (error) {
      signal.throwIfAborted()
      failures.add(image, error)
      return []
    } finally {
      done += 1
      onEvent({ type: 'mirror.resolving', done, total: images.length })
    }
  })
  return resolved.flat()
}

export interface ImageGroup {
  readonly image: ResolvedImage
  readonly attached: readonly ResolvedImage[]
}

/** What `resolveImages` gives, each image with what is attached to it. */
export function groupAttached(resolved: readonly ResolvedImage[]): ImageGroup[] {
  const groups: { image: ResolvedImage; attached: ResolvedImage[] }[] = []
  for (const image of resolved) {
    if (image.attachedTo === undefined) groups.push({ image, attached: [] })
    else groups.at(-1)?.attached.push(image)
  }
  return groups
}
