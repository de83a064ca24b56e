import { formatReference } from '../oci/reference.ts'
import type { ResolvedImage } from './closure.ts'
import { describeSelected } from './described-image.ts'
import type { DoneImage } from './done.ts'

/** For the record, once it is at the target with all that is attached to it. */
export function doneImage({ selected, digest }: ResolvedImage, attached: readonly ResolvedImage[]): DoneImage {
  return {
    source: formatReference(selected.source),
    destination: formatReference(selected.destination),
    digest,
    ...describeSelected(selected),
    attached: attached.map((image) => ({
      destination: formatReference(image.selected.destination),
      digest: image.digest,
    })),
  }
}
