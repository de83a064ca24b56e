import { formatReference, parseReference } from '../oci/reference.ts'
import type { DoneImage } from './done.ts'
import type { SelectedImage } from './selection.ts'

/**
 * Images under the names that a workspace gave them, where it gave others than are to be expected: the configuration they
 * were mirrored with may have had a targetTag, or paths were folded for a registry that allows few components.
 *
 * One that was mirrored under its expected name, or never, keeps that; one that has several names comes once for each.
 */
export function asMirrored(images: readonly SelectedImage[], recorded: readonly DoneImage[]): SelectedImage[] {
  const known = new Set(recorded.map(({ destination }) => destination))
  const bySource = Map.groupBy(recorded, ({ source, class: of }) => `${of} ${source}`)
  return images.flatMap((image) => {
    if (known.has(formatReference(image.destination))) return [image]
    const others = bySource.get(`${image.class} ${formatReference(image.source)}`) ?? []
    const places = others.map(({ destination }) => parseReference(destination))
    // A component has a name for each release: those of others are not meant.
    const meant = image.class === 'release' ? places.filter(({ tag }) => tag === image.destination.tag) : places
    return meant.length === 0 ? [image] : meant.map((destination) => ({ ...image, destination }))
  })
}
