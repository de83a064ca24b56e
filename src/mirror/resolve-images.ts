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

/** @param context `source` is where the image is from: its signatures are there too */
export type CheckImage = (
  group: ImageGroup,
  context: { readonly source: ContentSource; readonly signal: AbortSignal },
) => Promise<void>

/** Every image with all that belongs to it: each image first, then what is attached to it. */
export async function resolveImages(
  images: readonly SelectedImage[],
  { source, signal, onEvent, failures, withoutAttached = false, check }: ResolveOptions,
): Promise<ResolvedImage[]> {
  let done = 0
  const resolved = await mapConcurrently(images, 16, async (image) => {
    try {
      const resolved = await resolveImage(image, { source, signal, withoutAttached })
      for (const group of groupAttached(resolved)) await checkGroup(group, { source, signal, check })
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

type Checking = Pick<ResolveOptions, 'source' | 'signal' | 'check'>

/** What is made here has no signature; a file is proven by its checksum. */
async function checkGroup(group: ImageGroup, { source, signal, check }: Checking): Promise<void> {
  if (!isMade(group.image.selected.source)) await check?.(group, { source, signal })
}

/** Images that were resolved before, by a plan: those that are not to be mirrored fail. */
export async function checkImages(
  resolved: readonly ResolvedImage[],
  { failures, ...checking }: Checking & Pick<ResolveOptions, 'failures'>,
): Promise<void> {
  await mapConcurrently(groupAttached(resolved), 16, async (group) => {
    try {
      await checkGroup(group, checking)
    } catch (error) {
      checking.signal.throwIfAborted()
      failures.add(group.image.selected, error)
    }
  })
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
