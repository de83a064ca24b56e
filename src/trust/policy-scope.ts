/**
 * Scopes of policy.json and of registries.d: from an image to all that is said about it, the closest first.
 *
 * Source: containers/image `docker/policyconfiguration/naming.go`.
 */
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import { named } from './policy-identity.ts'

/**
 * The image itself, its repository, every namespace above it, the host with its port, and then wildcards of the host
 * without its port: `*.example.com`, `*.com`.
 */
export function scopesOf(image: Reference): readonly string[] {
  const parts = repositoryName(image).split('/')
  const namespaces = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
  const labels = (image.registry.split(':')[0] ?? '').split('.')
  const wildcards = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)
  return [formatReference(named(image)), ...namespaces, ...wildcards]
}
