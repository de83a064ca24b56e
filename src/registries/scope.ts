/**
 * Scopes: what an entry of registries.conf, and of the cluster's image configuration, speaks about. A host, a host and
 * a path, or `*.DOMAIN`.
 *
 * Source: openshift/runtime-utils `pkg/registries/registries.go`.
 */

/** True where everything in `inner` is also in `outer`. Other than a prefix, a scope never spans ports. */
export function isNestedScope(inner: string, outer: string): boolean {
  if (inner === outer || inner.startsWith(`${outer}/`)) return true
  if (!outer.startsWith('*.')) return false
  const suffix = outer.slice(1)
  if (!inner.includes(':')) return (inner.split('/')[0] ?? '').endsWith(suffix)
  const host = inner.split(':')[0] ?? ''
  return host.endsWith(suffix) && !host.includes('/')
}

/** A wildcard stands for whole labels at the beginning of a host, and for nothing else. */
export function isScope(text: string): boolean {
  if (text === '') return false
  return !text.includes('*') || (text.startsWith('*.') && !/[/@:*]/.test(text.slice(2)))
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const place = `${label}(?:\\.${label})*(?::[0-9]+)?(?:/${component})*`
// The same words as the patterns of the CRDs, written so that no input takes exponential time.
const mirrorPattern = new RegExp(`^${place}$`)
const sourcePattern = new RegExp(`^(?:\\*(?:\\.${label})+|${place})$`)

/** What `mirrors` of an ImageDigestMirrorSet may hold: openshift/api `config/v1`, the pattern of `ImageMirror`. */
export function isMirrorLocation(text: string): boolean {
  return mirrorPattern.test(text)
}

/** What `source` may hold: as a mirror, or a wildcard. */
export function isMirrorSource(text: string): boolean {
  return sourcePattern.test(text)
}
