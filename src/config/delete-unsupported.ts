/** Which parts of a DeleteImageSetConfiguration this version cannot turn into images, and what to do instead. */
import type { DeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import type { LoadedFile } from './image-set-file.ts'
import { InvalidConfiguration } from './invalid-config.ts'
import { type UnsupportedPart, unsupportedParts } from './unsupported-parts.ts'

/** Where deleting something else says it better than mirroring. */
const remedies: Partial<Record<UnsupportedPart['class'], string>> = {
  operator:
    'take the section out and name the images in delete.additionalImages; or let oc-mirror delete --generate write the list, which sallyport delete --delete-yaml-file carries out',
  helm: 'take the section out, and name the images of the charts in delete.additionalImages',
}

/** @throws KnownError CONFIG_INVALID that names every part that cannot be told, at its line and column */
export function requireDeletable(loaded: LoadedFile<DeleteImageSetConfiguration>): void {
  const parts = unsupportedParts(loaded)
  if (parts.length === 0) return
  throw new InvalidConfiguration(
    parts.map((part) => ({ ...part, remedy: remedies[part.class] ?? part.remedy ?? '' })),
    { hint: 'Do what is said there; nothing was written and nothing deleted.' },
  )
}
