/** Names in an index become requests to registries: they are what names are, or the archive is refused. */
import { KnownError } from '../../errors/known-error.ts'
import { parseReference } from '../../oci/reference.ts'
import type { ArchiveImage } from './records.ts'

/**
 * @param origin names the archive in messages
 * @throws KnownError ARCHIVE_INVALID
 */
export function checkImages(images: readonly ArchiveImage[], origin: string): void {
  for (const { source, destination } of images) {
    try {
      parseReference(source)
      // What is below the target must not be read as a host.
      const { tag, digest } = parseReference(`archive.invalid/${destination}`)
      if (tag !== undefined || digest !== undefined) continue
    } catch (cause) {
      throw refused(origin, { source, destination }, cause)
    }
    throw refused(origin, { source, destination })
  }
}

function refused(origin: string, names: { source: string; destination: string }, cause?: unknown): KnownError {
  const { source, destination } = names
  return new KnownError(
    'ARCHIVE_INVALID',
    `${origin}: its index names an image "${source}" that goes to "${destination}"`,
    {
      details: { archive: origin, source, destination },
      cause,
    },
  )
}
