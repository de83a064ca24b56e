import { formatPlatform } from './platform-choice.ts'
import type { SelectedImage } from './selection.ts'

/** What files that are kept say of a selected image, beside where it comes from and where it goes. */
export function describeSelected({ class: content, why, isReleaseImage, isCatalog, platforms }: SelectedImage) {
  return {
    class: content,
    why,
    ...(isReleaseImage && { isReleaseImage }),
    ...(isCatalog && { isCatalog }),
    ...(platforms && { platforms: platforms.map(formatPlatform) }),
  }
}
