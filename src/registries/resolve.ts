/**
 * Which endpoints a node would try for an image, in order: what podman, CRI-O, skopeo and the bootstrap host do.
 *
 * Pure; nothing is asked over the network. The first endpoint whose manifest answers serves all of an image; any
 * failure, of whatever kind, moves on to the next.
 *
 * A reference with both tag and digest is taken by its digest, as podman and CRI-O do; skopeo 1.9 refuses it. One with
 * neither means `latest`.
 *
 * Source: containers/image `pkg/sysregistriesv2/system_registries_v2.go:FindRegistry, PullSourcesFromReference`,
 * `docker/docker_image_src.go:newImageSource`, `docker/docker_client.go:newDockerClient`.
 */
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { RegistriesConf, RegistryEntry, RegistryMirror } from './registries-conf.ts'

export interface Endpoint {
  /** The physical reference: what is asked for over the network. */
  readonly reference: Reference
  readonly isMirror: boolean
  /** True where HTTP, and certificates nobody vouches for, are accepted. */
  readonly insecure: boolean
  /** The prefix of the entry that forbids this endpoint; it is then passed over with an error. */
  readonly blockedBy?: string
  /** One line for a person. */
  readonly why: string
}

export interface Resolution {
  /** The logical reference, by digest or else by tag, never by both. */
  readonly reference: Reference
  /** In the order they are tried, blocked ones included. */
  readonly endpoints: readonly Endpoint[]
  /** Mirrors that this kind of reference does not use. */
  readonly skipped: readonly { readonly location: string; readonly why: string }[]
  /** The prefix of the entry that decided; absent where none matches. */
  readonly matchedPrefix?: string
}

/**
 * @throws KnownError REFERENCE_REWRITE_INVALID: one location that makes no reference of it ends the whole pull, even
 * where other mirrors would answer
 */
export function resolveEndpoints(conf: RegistriesConf, asked: Reference): Resolution {
  const reference = pulledAs(asked)
  const entry = findRegistry(conf, repositoryName(reference))
  if (entry === undefined) {
    const why = 'no entry matches this name: it is read from where the name says'
    return { reference, endpoints: [{ reference, isMirror: false, insecure: false, why }], skipped: [] }
  }
  const isUnused = (mirror: RegistryMirror) => whyUnused(entry, mirror, reference)
  const used = entry.mirrors.filter((mirror) => isUnused(mirror) === undefined)
  const mirrors = used.map((mirror, index): Endpoint => {
    const why = `mirror ${index + 1} of ${used.length} for ${entry.prefix}`
    return withBlock(conf, {
      reference: rewrite(reference, entry, mirror),
      isMirror: true,
      insecure: mirror.insecure,
      why,
    })
  })
  const own = withBlock(conf, {
    reference: rewrite(reference, entry, entry),
    isMirror: false,
    insecure: entry.insecure,
    why: whyOwn(entry, mirrors.length),
  })
  const skipped = entry.mirrors.flatMap((mirror) => {
    const why = isUnused(mirror)
    return why === undefined ? [] : [{ location: mirror.location, why }]
  })
  return { reference, endpoints: [...mirrors, own], skipped, matchedPrefix: entry.prefix }
}

/**
 * The entry with the longest prefix of `name` (`HOST/PATH`, or `HOST` alone). There is no falling through to a
 * shorter one. A wildcard counts with all its characters.
 */
function findRegistry(conf: RegistriesConf, name: string): RegistryEntry | undefined {
  return conf.registries.reduce<RegistryEntry | undefined>((longest, entry) => {
    if (matchedLength(name, entry.prefix) === undefined) return longest
    return entry.prefix.length > (longest?.prefix.length ?? 0) ? entry : longest
  }, undefined)
}

function pulledAs({ registry, repository, tag, digest }: Reference): Reference {
  return digest === undefined ? { registry, repository, tag: tag ?? 'latest' } : { registry, repository, digest }
}

/** How many characters of `text` the prefix covers; undefined where it does not match. */
function matchedLength(text: string, prefix: string): number | undefined {
  const isWildcard = prefix.startsWith('*.')
  const suffix = isWildcard ? prefix.slice(1) : prefix
  // The first occurrence decides, also where a later one would match: so does containers/image.
  const start = isWildcard ? text.indexOf(suffix) : 0
  if (start < 0 || text.slice(0, start).includes('/') || !text.startsWith(suffix, start)) return undefined
  const end = start + suffix.length
  return end === text.length || ':/@'.includes(text.charAt(end)) ? end : undefined
}

function whyOwn({ prefix, mirrors }: RegistryEntry, usedCount: number): string {
  if (usedCount > 0) return 'the source itself, after its mirrors'
  return mirrors.length > 0
    ? 'the source itself: none of its mirrors is used'
    : `the source itself: ${prefix} names no mirror`
}

function whyUnused(entry: RegistryEntry, mirror: RegistryMirror, reference: Reference): string | undefined {
  const isByDigest = reference.digest !== undefined
  if (entry.mirrorByDigestOnly && !isByDigest) return 'mirror-by-digest-only = true, and the image is asked for by tag'
  if (mirror.pullFromMirror === 'digest-only' && !isByDigest)
    return 'pull-from-mirror = "digest-only", and the image is asked for by tag'
  if (mirror.pullFromMirror === 'tag-only' && isByDigest)
    return 'pull-from-mirror = "tag-only", and the image is asked for by digest'
  return undefined
}

function rewrite(reference: Reference, entry: RegistryEntry, { location }: { readonly location: string }): Reference {
  if (location === '') return reference
  const text = formatReference(reference)
  const rewritten = location + text.slice(matchedLength(text, entry.prefix))
  try {
    const parsed = parseReference(rewritten)
    if (formatReference(parsed) === rewritten) return parsed
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    throw rewriteInvalid(entry, { from: text, to: rewritten }, error)
  }
  throw rewriteInvalid(entry, { from: text, to: rewritten }, new Error('repository name must be canonical'))
}

function rewriteInvalid(entry: RegistryEntry, { from, to }: { from: string; to: string }, cause: Error): KnownError {
  return new KnownError(
    'REFERENCE_REWRITE_INVALID',
    `rewriting reference: ${from} becomes ${to}, which is no reference (entry "${entry.prefix}" in ${entry.origin})`,
    { details: { reference: from, rewritten: to, prefix: entry.prefix, file: entry.origin }, cause },
  )
}

/** Blocking is looked up anew for the physical place: a mirror may be blocked by an entry of its own. */
function withBlock(conf: RegistriesConf, endpoint: Endpoint): Endpoint {
  const entry = findRegistry(conf, repositoryName(endpoint.reference))
  if (entry?.blocked !== true) return endpoint
  return {
    ...endpoint,
    blockedBy: entry.prefix,
    why: `${endpoint.why}; registry ${entry.prefix} is blocked in ${entry.origin}`,
  }
}
