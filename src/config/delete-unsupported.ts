/** Which parts of a DeleteImageSetConfiguration this version cannot turn into images, and what to do instead. */
import type { DeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import type { LoadedFile } from './image-set-file.ts'
import { InvalidConfiguration } from './invalid-config.ts'
import { unsupportedParts } from './unsupported-parts.ts'

const remedies = {
  release:
    'name each release by its image in delete.platform.release, one file for each: the tags of openshift/release-images at the target are the releases there',
  operator:
    'take the section out and name the images in delete.additionalImages; or let oc-mirror delete --generate write the list, which sallyport delete --delete-yaml-file carries out',
  additional: 'leave it out: the image is deleted with all its platforms',
  helm: 'take the section out, and name the images of the charts in delete.additionalImages',
} as const

/** Fields of images that have a name of their own at the target, or are named by the release there. */
const deletable: ReadonlySet<string> = new Set(['delete.platform.graph', 'delete.platform.kubeVirtContainer'])

/** @throws KnownError CONFIG_INVALID that names every part that cannot be told, at its line and column */
export function requireDeletable(loaded: LoadedFile<DeleteImageSetConfiguration>): void {
  const parts = unsupportedParts(loaded).filter(({ field }) => !deletable.has(field))
  if (parts.length === 0) return
  throw new InvalidConfiguration(
    parts.map((part) => ({ ...part, remedy: remedies[part.class] })),
    { hint: 'Do what is said there; nothing was written and nothing deleted.' },
  )
}
