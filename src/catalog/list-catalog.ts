/** What a catalog has to offer: its packages, the channels of one, the versions of a channel. */
import * as semver from 'semver'
import { flawText } from './channel-flaws.ts'
import { channelGraph, type GraphFlaw } from './channel-graph.ts'
import type { BundleMeta, Catalog, CatalogPackage } from './meta.ts'
import { unknownChannel, unknownPackage } from './select-names.ts'

export interface ListedPackage {
  readonly name: string
  /** As the newest bundle of the package says; empty where it says nothing. */
  readonly displayName: string
  /** Empty where the package names none. */
  readonly defaultChannel: string
  readonly channels: number
  /** What the catalog says where the package is deprecated. */
  readonly deprecated?: string
}

export interface ListedChannel {
  readonly name: string
  /** Undefined where the channel has no one newest bundle. */
  readonly head?: string
  /** Why there is no head. */
  readonly flaw?: string
  readonly entries: number
  readonly isDefault: boolean
  readonly deprecated?: string
}

export interface ListedVersion {
  /** Undefined where the catalog does not tell it. */
  readonly version?: string
  readonly bundle: string
  readonly isHead: boolean
  readonly deprecated?: string
}

/** By name. */
export function listPackages(catalog: Catalog): ListedPackage[] {
  return [...catalog.packages.values()].map((one) => ({
    name: one.meta.name,
    displayName: newestBundle(one)?.displayName ?? '',
    defaultChannel: one.meta.defaultChannel,
    channels: one.channels.size,
    ...deprecation(one, 'olm.package'),
  }))
}

/**
 * By name.
 *
 * @throws KnownError CATALOG_PACKAGE_UNKNOWN
 */
export function listChannels(catalog: Catalog, packageName: string): ListedChannel[] {
  const one = packageOf(catalog, packageName)
  const channels = [...one.channels.values()].map(({ name, entries }): ListedChannel => {
    const { heads, flaws } = channelGraph(entries)
    const [head] = heads
    const isClear = heads.length === 1 && flaws.length === 0
    return {
      name,
      ...(isClear && head !== undefined ? { head } : { flaw: flaws.map(shortFlaw).join('; ') }),
      entries: entries.length,
      isDefault: name === one.meta.defaultChannel,
      ...deprecation(one, 'olm.channel', name),
    }
  })
  return channels.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Lowest version first; bundles without a version before them.
 *
 * @throws KnownError CATALOG_PACKAGE_UNKNOWN, CATALOG_CHANNEL_UNKNOWN
 */
export function listVersions(catalog: Catalog, packageName: string, channelName: string): ListedVersion[] {
  const one = packageOf(catalog, packageName)
  const channel = one.channels.get(channelName)
  if (!channel) throw unknownChannel(channelName, one)
  const { heads, entries } = channelGraph(channel.entries)
  const listed = [...entries.keys()].map((bundle): ListedVersion => {
    const version = one.bundles.get(bundle)?.version
    return {
      ...(version !== undefined && { version }),
      bundle,
      isHead: heads.includes(bundle),
      ...deprecation(one, 'olm.bundle', bundle),
    }
  })
  return listed.sort((a, b) => compareVersions(a.version, b.version) || (a.bundle < b.bundle ? -1 : 1))
}

/** @throws KnownError CATALOG_PACKAGE_UNKNOWN */
function packageOf(catalog: Catalog, name: string): CatalogPackage {
  const found = catalog.packages.get(name)
  if (found) return found
  throw unknownPackage(name, catalog)
}

function newestBundle({ bundles }: CatalogPackage): BundleMeta | undefined {
  let newest: BundleMeta | undefined
  for (const bundle of bundles.values()) {
    if (newest === undefined || compareVersions(bundle.version, newest.version) > 0) newest = bundle
  }
  return newest
}

function compareVersions(one: string | undefined, other: string | undefined): number {
  const [a, b] = [semver.parse(one), semver.parse(other)]
  if (a && b) return semver.compareBuild(a, b)
  return Number(a !== null) - Number(b !== null)
}

/** As `oc-mirror list operators` words it (operator-framework/operator-registry `alpha/model/model.go`, Channel.Head). */
function shortFlaw(flaw: GraphFlaw): string {
  switch (flaw.kind) {
    case 'several-heads':
      return `multiple channel heads found in graph: ${flaw.heads.join(', ')}`
    case 'no-head':
      return 'no channel head found in graph'
    default:
      return flawText(flaw)
  }
}

function deprecation(of: CatalogPackage, schema: string, name?: string): { deprecated?: string } {
  const found = of.deprecations?.entries.find(
    ({ reference }) => reference.schema === schema && (name === undefined || reference.name === name),
  )
  return found ? { deprecated: found.message } : {}
}
