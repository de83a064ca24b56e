/**
 * A plan for an archive is a plan for a registry that does not exist: everything is planned below `archive.invalid`, and
 * the side that loads the archive puts it below its own target.
 */
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { type MirrorTarget, targetRepository } from './destination.ts'

/** RFC 2606 keeps `.invalid` for names that no host has. */
export const archiveTarget: MirrorTarget = { registry: 'archive.invalid', path: '' }

/** `REPOSITORY:TAG`, or `REPOSITORY@DIGEST`, of a destination below `archiveTarget`. */
export function relativeDestination(destination: Reference): string {
  return formatReference(destination).slice(archiveTarget.registry.length + 1)
}

/** Where an image of an archive goes below a target. */
export function destinationAt(target: MirrorTarget, relative: string): Reference {
  const { repository, tag, digest } = parseReference(`${archiveTarget.registry}/${relative}`)
  return { ...targetRepository(target, repository), ...(tag !== undefined && { tag }), ...(digest && { digest }) }
}
