/**
 * A set of content in a few bytes, for a reader who knows a little more than the set: both sides of a gap know what was carried
 * (the indexes of the archives), and only exceptions have to be told.
 *
 * An exception is told by a prefix of its digest that fits nothing else that was carried. Prefixes need not be trusted: the
 * digest of the whole set proves that both sides mean the same.
 */
import { type Digest, hasherFor, hexOf } from '../../oci/digest.ts'

/** What is held of a larger set. */
export interface HeldClaim {
  readonly count: number
  /** `digestOfSet` of what is held. */
  readonly digest: Digest
  /** Prefixes, in hex, of the digests that are not held. Sorted. */
  readonly except: readonly string[]
}

/** Shorter ones would save nothing that counts, and could be mistaken for a word. */
const minPrefix = 4
/** Digests hashed at a time. */
const batch = 1000

/** sha256 of the digests of a set in ascending order, each with a line feed behind it. */
export function digestOfSet(digests: ReadonlySet<Digest>): Digest {
  const hash = hasherFor('sha256')
  const sorted = [...digests].sort()
  for (let start = 0; start < sorted.length; start += batch) {
    hash.update(`${sorted.slice(start, start + batch).join('\n')}\n`)
  }
  return `sha256:${hash.digest('hex')}`
}

/** @param known everything that was carried; `held` is a part of it */
export function claimHeld(known: ReadonlySet<Digest>, held: ReadonlySet<Digest>): HeldClaim {
  const lacking = [...known].filter((digest) => !held.has(digest))
  const neighbours = neighboursOf(lacking.map(hexOf), known)
  const except = lacking.map((digest) => shortestPrefix(neighbours, digest)).sort()
  return { count: held.size, digest: digestOfSet(held), except }
}

/** The set that is claimed, or why it cannot be the one. */
export function resolveClaim(known: ReadonlySet<Digest>, claim: HeldClaim): ReadonlySet<Digest> | string {
  const neighbours = neighboursOf(claim.except, known)
  const held = new Set(known)
  for (const prefix of claim.except) {
    const near = neighbours.get(prefix.slice(0, minPrefix)) ?? []
    const [digest, ...more] = near.filter((one) => hexOf(one).startsWith(prefix))
    if (digest === undefined) return `it excepts ${prefix}…, which was never carried`
    if (more.length > 0) return `it excepts ${prefix}…, which fits several of what was carried`
    held.delete(digest)
  }
  if (held.size !== claim.count) return `it counts ${claim.count} blobs and manifests, and ${held.size} are known here`
  const digest = digestOfSet(held)
  return digest === claim.digest ? held : `the content that it stands for is ${claim.digest}, and here it is ${digest}`
}

/** Digests that begin like one of `hexes`, by their first digits: all that an exception could be mistaken for. */
function neighboursOf(hexes: readonly string[], digests: ReadonlySet<Digest>): ReadonlyMap<string, readonly Digest[]> {
  const groups = new Map(hexes.map((hex) => [hex.slice(0, minPrefix), [] as Digest[]]))
  if (groups.size > 0) for (const digest of digests) groups.get(hexOf(digest).slice(0, minPrefix))?.push(digest)
  return groups
}

function shortestPrefix(neighbours: ReadonlyMap<string, readonly Digest[]>, digest: Digest): string {
  const hex = hexOf(digest)
  let length = minPrefix
  for (const other of neighbours.get(hex.slice(0, minPrefix)) ?? []) {
    if (other !== digest) length = Math.max(length, commonLength(hexOf(other), hex) + 1)
  }
  return hex.slice(0, length)
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}
