/**
 * Image references: `HOST[:PORT]/PATH[:TAG][@DIGEST]`.
 *
 * Source: distribution `reference/reference.go` (grammar) and `reference/normalize.go` (Docker Hub's short names), as
 * containers/image uses them.
 */
import { KnownError } from '../errors/known-error.ts'
import { type Digest, isDigest } from './digest.ts'

export interface Reference {
  /** `host` or `host:port`, as credentials and certificates are looked up. */
  readonly registry: string
  /** The path within the registry, without the host. */
  readonly repository: string
  readonly tag?: string
  readonly digest?: Digest
}

const pathComponent = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const domain =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/

export function isTag(text: string): boolean {
  return tagPattern.test(text)
}

/** True for the path of a repository, without a host (distribution-spec, "Pulling manifests": `<name>`). */
export function isRepositoryPath(text: string): boolean {
  return text.length <= 255 && text.split('/').every((component) => pathComponent.test(component))
}

/**
 * Reads a reference as podman and docker do: `ubi9` is `docker.io/library/ubi9`. Neither tag nor digest is added.
 *
 * @throws KnownError REFERENCE_INVALID
 */
export function parseReference(text: string): Reference {
  const invalid = (why: string) =>
    new KnownError('REFERENCE_INVALID', `"${text}" is not an image reference: ${why}`, { details: { reference: text } })
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  if (digest !== undefined && !isDigest(digest)) throw invalid(`"${digest}" is not a sha256 or sha512 digest`)
  const named = at < 0 ? text : text.slice(0, at)
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const tag = colon < 0 ? undefined : named.slice(colon + 1)
  if (tag !== undefined && !isTag(tag)) throw invalid(`"${tag}" is not a tag`)
  const { registry, repository } = splitName(colon < 0 ? named : named.slice(0, colon))
  if (!domain.test(registry)) throw invalid(`"${registry}" is not a host name`)
  if (!isRepositoryPath(repository))
    throw invalid(`"${repository}" is not a repository path (lower case, digits, . _ - and /)`)
  return { registry, repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) }
}

/** The first component is a host only if it looks like one (distribution `reference/normalize.go:splitDockerDomain`). */
function splitName(name: string): { registry: string; repository: string } {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase()
  if (!isHost) return { registry: 'docker.io', repository: slash < 0 ? `library/${name}` : name }
  const registry = first === 'index.docker.io' ? 'docker.io' : first
  const repository = name.slice(slash + 1)
  const isOfficial = registry === 'docker.io' && !repository.includes('/')
  return { registry, repository: isOfficial ? `library/${repository}` : repository }
}

/** `HOST/PATH`, what registries.conf prefixes and mirror sets are matched against. */
export function repositoryName(reference: Reference): string {
  return `${reference.registry}/${reference.repository}`
}

export function formatReference(reference: Reference): string {
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`
  return `${repositoryName(reference)}${tag}${digest}`
}
