/**
 * Where each image goes: the names that oc-mirror v2 gives (openshift/oc-mirror `internal/pkg/{release,additional}`), so
 * that clusters and scripts set up with it go on working.
 */
import { KnownError } from '../errors/known-error.ts'
import { hexOf } from '../oci/digest.ts'
import { isRepositoryPath, parseReference, type Reference } from '../oci/reference.ts'

/** The registry and the path within it under which everything is put. */
export interface MirrorTarget {
  readonly registry: string
  /** Without slashes at its ends; empty when the mirror is at the root of the registry. */
  readonly path: string
}

/**
 * Reads `docker://HOST[:PORT][/PATH]`.
 *
 * @throws KnownError USAGE
 */
export function parseMirrorTarget(text: string): MirrorTarget {
  const match = /^docker:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(text)
  const [, registry = '', path = ''] = match ?? []
  const usage = (why: string) =>
    new KnownError('USAGE', `"${text}" is no destination: ${why}`, {
      hint: 'Write the destination as docker://HOST[:PORT]/PATH, for example docker://registry.lab:8443/ocp.',
    })
  if (!match) throw usage('it does not begin with docker://')
  if (path !== '' && !isRepositoryPath(path))
    throw usage(`"${path}" is no repository path (no tag or digest here; lower case)`)
  try {
    parseReference(`${registry}/x`)
  } catch (cause) {
    throw usage(cause instanceof Error ? cause.message : String(cause))
  }
  return { registry, path }
}

/** `HOST/PATH`, the identity of a target in plans and state. */
export function formatMirrorTarget(target: MirrorTarget): string {
  return [target.registry, target.path].filter(Boolean).join('/')
}

/** A repository below the target. */
export function targetRepository(target: MirrorTarget, repository: string): Reference {
  return { registry: target.registry, repository: [target.path, repository].filter(Boolean).join('/') }
}

export const releaseRepositories = { images: 'openshift/release-images', components: 'openshift/release' } as const

/** The tag of a release image: its own, or the hex of its digest when it was named by digest only. */
export function releaseTag(source: Reference): string {
  return source.tag ?? (source.digest ? hexOf(source.digest) : 'latest')
}

/** The tag of an image that was named by digest only: `sha256-<hex>`. */
export function tagFor(source: Reference): string {
  return source.tag ?? (source.digest?.replace(':', '-') || 'latest')
}
