/**
 * Where each image goes: the names that oc-mirror v2 gives (openshift/oc-mirror `internal/pkg/{release,additional}`), so
 * that clusters and scripts set up with it go on working.
 */
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, hexOf } from '../oci/digest.ts'
import { isRepositoryPath, parseReference, type Reference } from '../oci/reference.ts'
import { foldPath } from './nested-paths.ts'

/** The registry and the path within it under which everything is put. */
export interface MirrorTarget {
  readonly registry: string
  /** Without slashes at its ends; empty when the mirror is at the root of the registry. */
  readonly path: string
  /** How many components the registry allows in the path of a repository; absent for any number. */
  readonly maxNestedPaths?: number
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
  let read: Reference
  try {
    read = parseReference(`${registry}/x`)
  } catch (cause) {
    throw usage(cause instanceof Error ? cause.message : String(cause))
  }
  // podman and docker would push such a mirror to Docker Hub.
  if (read.registry !== registry)
    throw usage(`"${registry}" alone is a name on ${read.registry}; add its port or domain`)
  return { registry, path }
}

/** `HOST/PATH`, the identity of a target in plans and state. */
export function formatMirrorTarget(target: MirrorTarget): string {
  return [target.registry, target.path].filter(Boolean).join('/')
}

/** A repository below the target. */
export function targetRepository({ registry, path, maxNestedPaths }: MirrorTarget, repository: string): Reference {
  const whole = [path, repository].filter(Boolean).join('/')
  return { registry, repository: maxNestedPaths === undefined ? whole : foldPath(whole, maxNestedPaths) }
}

export const releaseRepositories = { images: 'openshift/release-images', components: 'openshift/release' } as const

/** The tag at the target: the image's own, or the hex of its digest for a release, `sha256-<hex>` for any other. */
export function tagFor({ tag, digest }: Reference, kind: 'release' | 'other'): string {
  if (tag !== undefined) return tag
  if (digest === undefined) return 'latest'
  // A sha512 in full is no tag: it is cut as distribution-spec cuts it for referrers ("Referrers Tag Schema").
  const hex = hexOf(digest).slice(0, 64)
  return kind === 'release' ? hex : `${algorithmOf(digest)}-${hex}`
}
