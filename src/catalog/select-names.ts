/** Names that the catalog does not have: what was probably meant, and the error that says so. */
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Catalog, CatalogPackage } from './meta.ts'

const mostNames = 3

/** Up to three candidates: those within a few slips of the word, then those that have it in them or stand in it. */
export function nearestNames(word: string, candidates: readonly string[]): string[] {
  const found: string[] = []
  while (found.length < mostNames) {
    const next = nearest(
      word,
      candidates.filter((candidate) => !found.includes(candidate)),
    )
    if (next === undefined) break
    found.push(next)
  }
  const lower = word.toLowerCase()
  const within = candidates.filter((candidate) => {
    const other = candidate.toLowerCase()
    return !found.includes(candidate) && lower.length > 2 && (other.includes(lower) || lower.includes(other))
  })
  return [...found, ...within].slice(0, mostNames)
}

export function unknownPackage(name: string, catalog: Catalog): KnownError {
  const names = [...catalog.packages.keys()]
  const near = nearestNames(name, names)
  const message = `The catalog has no package "${name}"${near.length > 0 ? `; the nearest: ${near.join(', ')}` : `; it has ${names.length} others`}`
  return new KnownError('CATALOG_PACKAGE_UNKNOWN', message, { details: { package: name, packages: names.length } })
}

export function unknownChannel(name: string, of: CatalogPackage): KnownError {
  const names = [...of.channels.keys()]
  const near = nearestNames(name, names)
  const others = near.length > 0 && names.length > 8 ? `the nearest: ${near.join(', ')}` : `it has ${names.join(', ')}`
  return new KnownError('CATALOG_CHANNEL_UNKNOWN', `Package "${of.meta.name}" has no channel "${name}"; ${others}`, {
    details: { package: of.meta.name, channel: name },
  })
}
