import { formatReference } from '../oci/reference.ts'
import type { DoneImage } from './done.ts'
import { coversPlatforms } from './platform-choice.ts'
import type { SelectedImage } from './selection.ts'

/** Images whose tag at the target proves nothing: they were found broken, or brought for fewer platforms than are wanted now. */
export function doubtfulImages(recorded: readonly DoneImage[], wanted: readonly SelectedImage[]): DoneImage[] {
  const images = new Map(wanted.map((image) => [formatReference(image.destination), image]))
  return recorded.filter((done) => isDoubtful(done, images.get(done.destination)))
}

export function isDoubtful({ suspect, platforms }: DoneImage, wanted: SelectedImage | undefined): boolean {
  return suspect !== undefined || (wanted !== undefined && !coversPlatforms(platforms, wanted.platforms))
}
