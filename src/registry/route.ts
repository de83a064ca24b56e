/** From a request line to what is asked for (distribution-spec, "Endpoints"). Pure. */
import { type Digest, isDigest } from '../oci/digest.ts'
import { isRepositoryPath, isTag } from '../oci/reference.ts'
import { Refusal } from './refusal.ts'

export type Route =
  | { readonly kind: 'base' }
  | { readonly kind: 'catalog' }
  | { readonly kind: 'tags'; readonly name: string }
  | { readonly kind: 'blob'; readonly name: string; readonly digest: Digest }
  | { readonly kind: 'uploads'; readonly name: string }
  | { readonly kind: 'upload'; readonly name: string; readonly id: string }
  | { readonly kind: 'manifest'; readonly name: string; readonly target: ManifestTarget }
  | { readonly kind: 'referrers'; readonly name: string; readonly digest: Digest }

export type ManifestTarget = { readonly digest: Digest } | { readonly tag: string }

const uploadPath = /^(.+)\/blobs\/uploads(?:\/([^/]*))?$/
const contentPath = /^(.+)\/(blobs|manifests|referrers)\/([^/]+)$/
const tagsPath = /^(.+)\/tags\/list$/
const uploadId = /^[0-9a-f-]{36}$/

/**
 * The route of a path (without its query); undefined where this registry has nothing at such a path.
 *
 * @throws Refusal NAME_INVALID, DIGEST_INVALID, MANIFEST_INVALID, MANIFEST_UNKNOWN, BLOB_UPLOAD_UNKNOWN
 */
export function parseRoute(method: string, path: string): Route | undefined {
  if (path === '/v2/' || path === '/v2') return { kind: 'base' }
  if (!path.startsWith('/v2/')) return undefined
  if (path === '/v2/_catalog') return { kind: 'catalog' }
  const rest = decode(path.slice('/v2/'.length))
  const upload = uploadPath.exec(rest)
  if (upload !== null) return uploadRoute(nameIn(upload), upload[2])
  const content = contentPath.exec(rest)
  if (content !== null) return contentRoute(method, content)
  const tags = tagsPath.exec(rest)
  return tags === null ? undefined : { kind: 'tags', name: nameIn(tags) }
}

function decode(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    throw new Refusal('NAME_INVALID', 'the path is not well encoded')
  }
}

function nameIn(match: RegExpExecArray): string {
  const name = match[1] ?? ''
  if (isRepositoryPath(name)) return name
  throw new Refusal('NAME_INVALID', `"${name}" is not a repository name: lower case, digits, . _ - and /`)
}

function uploadRoute(name: string, id: string | undefined): Route {
  if (id === undefined || id === '') return { kind: 'uploads', name }
  if (uploadId.test(id)) return { kind: 'upload', name, id }
  throw new Refusal('BLOB_UPLOAD_UNKNOWN', `there is no upload "${id}"`)
}

function contentRoute(method: string, match: RegExpExecArray): Route {
  const name = nameIn(match)
  const [, , kind, target = ''] = match
  if (kind === 'manifests') return { kind: 'manifest', name, target: manifestTarget(method, target) }
  const digest = requireDigest(target)
  return kind === 'blobs' ? { kind: 'blob', name, digest } : { kind: 'referrers', name, digest }
}

function manifestTarget(method: string, target: string): ManifestTarget {
  if (target.includes(':')) return { digest: requireDigest(target) }
  if (isTag(target)) return { tag: target }
  // What cannot exist is not there, for a reader; a writer has to be told that it never will.
  const code = method === 'PUT' ? 'MANIFEST_INVALID' : 'MANIFEST_UNKNOWN'
  throw new Refusal(code, `"${target}" is neither a tag nor a digest`)
}

/** @throws Refusal DIGEST_INVALID */
export function requireDigest(text: string): Digest {
  if (isDigest(text)) return text
  throw new Refusal('DIGEST_INVALID', `"${text}" is not a sha256 or sha512 digest`)
}
