/** An entry of `operators:` as what is wanted of each package and channel. */

import type { SemVer } from 'semver'
import type { OperatorContent } from '../config/image-set-content.ts'
import { KnownError } from '../errors/known-error.ts'
import type { CatalogPackage } from './meta.ts'
import { nearestNames } from './select-names.ts'
import { bundleVersion, rangeOfBounds, type VersionRange, writtenVersion } from './select-versions.ts'

/** One entry of `operators:`. */
export type OperatorRequest = OperatorContent[number]
export type PackageRequest = NonNullable<OperatorRequest['packages']>[number]
type Steps = Pick<PackageRequest, 'minVersion' | 'maxVersion' | 'minBundle' | 'heads' | 'installed'>

/** What is wanted of one channel. */
export type ChannelWish =
  | { readonly kind: 'head' | 'full' }
  | { readonly kind: 'range'; readonly range: VersionRange }
  /** Both bounds are the same text: this version alone. */
  | { readonly kind: 'version'; readonly version: SemVer; readonly text: string }
  /** The head, and so many below it. */
  | { readonly kind: 'heads'; readonly below: number }
  /** From the installed version to the head. */
  | { readonly kind: 'path'; readonly installed: SemVer }
  | { readonly kind: 'named'; readonly names: ReadonlySet<string> }

interface WishOptions {
  readonly request: PackageRequest | undefined
  readonly isFull: boolean
}

/**
 * What is wanted of a channel: what is said for it, else for its package, else `full`, else the head alone.
 *
 * A range beside `full` counts, as oc-mirror v1 had it; v2alpha1 refuses the two together when it is loaded.
 *
 * @throws KnownError CATALOG_SELECTION_INVALID
 */
export function channelWish(channel: string, of: CatalogPackage, { request, isFull }: WishOptions): ChannelWish {
  const rest: ChannelWish = { kind: isFull ? 'full' : 'head' }
  if (request === undefined) return rest
  const named = request.bundles ?? []
  const own = request.channels?.find(({ name }) => name === channel)
  const wishes = [own, request].flatMap((steps) => {
    const wish = steps === undefined ? undefined : stepsWish(steps, of)
    return wish === undefined ? [] : [wish]
  })
  if (named.length === 0) return wishes[0] ?? rest
  if (wishes.length > 0 || (request.channels?.length ?? 0) > 0 || isFull)
    throw contradiction(request.name, 'bundles stands beside channels, a version range or full', 'keep one of them')
  return { kind: 'named', names: new Set(named.map(({ name }) => name)) }
}

function stepsWish(steps: Steps & { readonly name: string }, of: CatalogPackage): ChannelWish | undefined {
  const { minVersion, maxVersion, minBundle, heads, installed } = steps
  const lowest = minBundle === undefined ? minVersion : versionOfBundle(minBundle, of)
  const range = rangeOfBounds({ minVersion: lowest, maxVersion })
  const given = [range, heads, installed].filter((part) => part !== undefined).length
  if (given > 1 || (minBundle !== undefined && minVersion !== undefined))
    throw contradiction(
      of.meta.name,
      `of minVersion/maxVersion, minBundle, heads and installed several are given for "${steps.name}"`,
      'keep one',
    )
  const only = lowest !== undefined && lowest === maxVersion ? writtenVersion(lowest) : undefined
  if (only !== undefined) return { kind: 'version', version: only, text: String(lowest) }
  if (range !== undefined) return { kind: 'range', range }
  if (heads !== undefined) return { kind: 'heads', below: heads }
  const version = writtenVersion(installed)
  return version === undefined ? undefined : { kind: 'path', installed: version }
}

/** `minBundle` of v1alpha2 stands for the version of that bundle. */
function versionOfBundle(name: string, of: CatalogPackage): string {
  const bundle = of.bundles.get(name)
  if (bundle === undefined) throw unknownBundle(name, of)
  const version = bundleVersion(bundle.version)
  if (version !== undefined) return version.raw
  const message = `Bundle "${name}" of package "${of.meta.name}" is named as minBundle and has no version`
  throw new KnownError('CATALOG_SELECTION_INVALID', message, {
    hint: 'Name the wanted bundles under packages[].bundles instead.',
    details: { package: of.meta.name, bundle: name },
  })
}

export function unknownBundle(name: string, of: CatalogPackage): KnownError {
  const near = nearestNames(name, [...of.bundles.keys()])
  const message = `Package "${of.meta.name}" has no bundle "${name}"${near.length > 0 ? `; the nearest: ${near.join(', ')}` : ''}`
  return new KnownError('CATALOG_SELECTION_INVALID', message, {
    hint: 'Correct the name in the configuration; sallyport catalog explain PACKAGE shows every bundle of a package.',
    details: { package: of.meta.name, bundle: name },
  })
}

function contradiction(of: string, what: string, remedy: string): KnownError {
  return new KnownError('CATALOG_SELECTION_INVALID', `Package "${of}": ${what}; ${remedy}`, {
    details: { package: of },
  })
}
