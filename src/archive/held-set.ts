/**
 * A set of content in a few bytes, for a reader who knows a little more than the set: both sides of a gap know what was carried
 * (the indexes of the archives), and only exceptions have to be told.
 *
 * An exception is told by a prefix of its digest that fits nothing else that was carried. Prefixes need not be trusted: the
 * digest of the whole set proves that both sides mean the same.
 */
import { type Digest, hasherFor, hexOf } from '../oci/digest.ts'

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

/** sha256 of the digests of a set in ascending order, each with a line feed behind it. */
export function digestOfSet(digests: Iterable<Digest>): Digest {
  const hash = hasherFor('sha256')
  for (const digest of [...digests].sort()) hash.update(`${digest}\n`)
  return `sha256:${hash.digest('hex')}`
}

/** @param known everything that was carried; `held` is a part of it */
export function claimHeld(known: ReadonlySet<Digest>, held: ReadonlySet<Digest>): HeldClaim {
  const sorted = [...known].map(hexOf).sort()
  const except: string[] = []
  for (const digest of known) if (!held.has(digest)) except.push(shortestPrefix(sorted, hexOf(digest)))
  return { count: held.size, digest: digestOfSet(held), except: except.sort() }
}

/** The set that is claimed, or why it cannot be the one. */
export function resolveClaim(known: ReadonlySet<Digest>, claim: HeldClaim): ReadonlySet<Digest> | string {
  const sorted = [...known].map((digest) => ({ hex: hexOf(digest), digest })).sort((a, b) => (a.hex < b.hex ? -1 : 1))
  const hexes = sorted.map(({ hex }) => hex)
  const held = new Set(known)
  for (const prefix of claim.except) {
    const at = lowerBound(hexes, prefix)
    const digest = hexes[at]?.startsWith(prefix) ? sorted[at]?.digest : undefined
    if (digest === undefined) return `it excepts ${prefix}…, which was never carried`
    if (hexes[at + 1]?.startsWith(prefix)) return `it excepts ${prefix}…, which fits several of what was carried`
    held.delete(digest)
  }
  if (held.size !== claim.count) return `it counts ${claim.count} blobs and manifests, and ${held.size} are known here`
  const digest = digestOfSet(held)
  return digest === claim.digest ? held : `the content that it stands for is ${claim.digest}, and here it is ${digest}`
}

function shortestPrefix(sorted: readonly string[], hex: string): string {
  const at = lowerBound(sorted, hex)
  const shared = Math.max(commonLength(sorted[at - 1] ?? '', hex), commonLength(sorted[at + 1] ?? '', hex))
  return hex.slice(0, Math.max(minPrefix, shared + 1))
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

/** The place of the first that is not less than `text`. */
function lowerBound(sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
