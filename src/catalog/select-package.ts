/** What is kept of one package: its channels, its default channel, and the reason for every bundle. */

import type { SemVer } from 'semver'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { flawText } from './channel-flaws.ts'
import { channelGraph } from './channel-graph.ts'
import type { CatalogPackage, ChannelMeta, DeprecationEntry } from './meta.ts'
import { type BundleVersions, type ChannelChoice, chooseEntries } from './select-channel.ts'
import { unknownChannel } from './select-names.ts'
import { channelWish, type PackageRequest, unknownBundle } from './select-request.ts'
import { bundleVersion } from './select-versions.ts'
import type { BundleReason, KeptPackage } from './selection.ts'

interface PackageOptions {
  /** Undefined where no package is named, and so all are wanted. */
  readonly request: PackageRequest | undefined
  readonly isFull: boolean
}

export interface PackageChoice {
  readonly kept: KeptPackage
  /** For every channel that is asked for, also one of which nothing is kept. */
  readonly channels: ReadonlyMap<string, ChannelChoice>
  /** For every bundle of the package. */
  readonly reasons: ReadonlyMap<string, BundleReason>
  readonly findings: readonly Finding[]
}

/** @throws KnownError CATALOG_CHANNEL_UNKNOWN, CATALOG_SELECTION_INVALID */
export function selectPackage(of: CatalogPackage, options: PackageOptions): PackageChoice {
  const { request } = options
  for (const { name } of request?.bundles ?? []) if (!of.bundles.has(name)) throw unknownBundle(name, of)
  const versions = versionsOf(of)
  const channels = new Map<string, ChannelChoice>()
  for (const channel of wantedChannels(of, request)) {
    const wish = channelWish(channel.name, of, options)
    channels.set(channel.name, chooseEntries({ channel, wish, versions }))
  }
  const defaultChannel = defaultOf(of, request, channels)
  const keptChannels = [...channels].flatMap(([name, { entries }]) => (entries.length > 0 ? [{ name, entries }] : []))
  const reasons = bundleReasons(of, channels)
  for (const { name } of request?.bundles ?? []) if (reasons.get(name)?.isKept !== true) throw unlistedBundle(name, of)
  const bundles = [...of.bundles.keys()].filter((name) => reasons.get(name)?.isKept === true).sort()
  const kept = { name: of.meta.name, defaultChannel, channels: keptChannels, bundles }
  return {
    kept: { ...kept, deprecations: deprecationsOf(of, kept) },
    channels,
    reasons,
    findings: choiceFindings({ of, channels, versions, request }),
  }
}

/** The versions of the bundles that have one, a strict semantic version. */
export function versionsOf(of: CatalogPackage): Map<string, SemVer> {
  const versions = new Map<string, SemVer>()
  for (const { name, version: text } of of.bundles.values()) {
    const version = bundleVersion(text)
    if (version !== undefined) versions.set(name, version)
  }
  return versions
}

/** What the catalog says against the package itself, the channels and the bundles that are kept. */
export function deprecationsOf(
  of: CatalogPackage,
  kept: Pick<KeptPackage, 'channels' | 'bundles'>,
): DeprecationEntry[] {
  const channels = new Set(kept.channels.map(({ name }) => name))
  const bundles = new Set(kept.bundles)
  return (of.deprecations?.entries ?? []).filter(({ reference: { schema, name = '' } }) => {
    if (schema === 'olm.channel') return channels.has(name)
    return schema === 'olm.bundle' ? bundles.has(name) : true
  })
}

function wantedChannels(of: CatalogPackage, request: PackageRequest | undefined): ChannelMeta[] {
  const named = request?.channels ?? []
  for (const { name } of named) if (!of.channels.has(name)) throw unknownChannel(name, of)
  const names = new Set(named.map(({ name }) => name))
  return [...of.channels.values()].filter(({ name }) => names.size === 0 || names.has(name))
}

/**
 * The one that the request names, else the catalog's own; either must be kept.
 *
 * catalog-filter looks whether the range leaves something of the catalog's own default channel, also where another one is
 * named; here what counts is the channel that becomes the default.
 */
function defaultOf(
  of: CatalogPackage,
  request: PackageRequest | undefined,
  channels: ReadonlyMap<string, ChannelChoice>,
): string {
  const own = of.meta.defaultChannel
  const name = request?.defaultChannel ?? own
  if (name === '') return name
  if (!of.channels.has(name)) throw request?.defaultChannel === undefined ? absentDefault(of) : unknownChannel(name, of)
  const choice = channels.get(name)
  if (choice !== undefined && choice.entries.length > 0) return name
  const others = [...channels].flatMap(([other, { entries }]) => (entries.length > 0 ? [other] : []))
  const where = `Package "${of.meta.name}": ${request?.defaultChannel === undefined ? 'its' : 'the named'} default channel "${name}"`
  const message =
    choice === undefined
      ? `${where} is not among the channels asked for`
      : `${where} would be empty: ${choice.nothing ?? 'nothing of it is kept'}`
  const choose = others.length > 0 ? `defaultChannel: ${others[0]} (kept are ${others.join(', ')})` : undefined
  const include = choice === undefined ? `add "${name}" to channels` : 'ask for versions that it has'
  throw new KnownError('CATALOG_SELECTION_INVALID', message, {
    hint: `Subscriptions that name no channel follow the default one, so it must be carried: ${include}${choose === undefined ? '' : `, or write ${choose}`}.`,
    details: { package: of.meta.name, channel: name },
  })
}

function absentDefault(of: CatalogPackage): KnownError {
  const name = of.meta.defaultChannel
  const there = [...of.channels.keys()].join(', ')
  return new KnownError(
    'CATALOG_SELECTION_INVALID',
    `Package "${of.meta.name}" has the default channel "${name}", and the catalog has no such channel; it has ${there || 'none'}`,
    {
      hint: 'The catalog was published so. Name one of its channels as defaultChannel of the package, or leave the package out.',
      details: { package: of.meta.name, channel: name },
    },
  )
}

function unlistedBundle(name: string, of: CatalogPackage): KnownError {
  return new KnownError(
    'CATALOG_SELECTION_INVALID',
    `Bundle "${name}" of package "${of.meta.name}" stands in none of its channels, so no cluster could install it`,
    {
      hint: 'Take it out of packages[].bundles.',
      details: { package: of.meta.name, bundle: name },
    },
  )
}

/** Of a bundle in several channels, the reason of the first channel that keeps it, else of the first that has it. */
function bundleReasons(of: CatalogPackage, channels: ReadonlyMap<string, ChannelChoice>): Map<string, BundleReason> {
  const reasons = new Map<string, BundleReason>()
  for (const { reasons: own } of channels.values()) {
    for (const [name, reason] of own)
      if (reasons.get(name)?.isKept !== true && (reason.isKept || !reasons.has(name))) reasons.set(name, reason)
  }
  for (const name of of.bundles.keys()) {
    if (reasons.has(name)) continue
    const listing = [...of.channels.values()].filter(({ entries }) => entries.some((entry) => entry.name === name))
    const text =
      listing.length > 0
        ? `only in channels that are not asked for: ${listing.map((channel) => channel.name).join(', ')}`
        : 'no channel has it'
    reasons.set(name, { isKept: false, because: listing.length > 0 ? 'channel' : 'unlisted', text })
  }
  return reasons
}

interface FindingParts {
  readonly of: CatalogPackage
  readonly channels: ReadonlyMap<string, ChannelChoice>
  readonly versions: BundleVersions
  readonly request: PackageRequest | undefined
}

function choiceFindings({ of, channels, versions, request }: FindingParts): Finding[] {
  const where = `package "${of.meta.name}"`
  const findings: Finding[] = []
  for (const [name, { entries, reasons, nothing }] of channels) {
    if (nothing !== undefined && request?.bundles === undefined)
      findings.push(
        finding({
          id: 'catalog.channel-left-out',
          severity: 'warning',
          summary: `Channel "${name}" of ${where} is left out: ${nothing}`,
        }),
      )
    findings.push(...linkFindings(reasons, versions, where))
    const absent = entries.filter((entry) => !of.bundles.has(entry.name)).map((entry) => entry.name)
    if (absent.length > 0)
      findings.push(
        finding({
          id: 'catalog.bundle-absent',
          severity: 'warning',
          summary: `Channel "${name}" of ${where} lists ${absent.join(', ')}, and the catalog has no such bundle`,
        }),
      )
    const { flaws } = channelGraph(entries)
    if (flaws.length > 0 && entries.length > 0)
      findings.push(
        finding({
          id: 'catalog.channel-flawed',
          severity: 'warning',
          summary: `Channel "${name}" of ${where} is carried as it was published, and OLM may refuse it: ${flaws.map(flawText).join('; ')}`,
        }),
      )
  }
  return findings
}

const mostNames = 3

/** One for all the bundles of a channel that are kept only to hold it together. */
function linkFindings(reasons: ChannelChoice['reasons'], versions: BundleVersions, where: string): Finding[] {
  const links = [...reasons].filter(([, reason]) => reason.isKept && reason.because === 'link')
  const text = links[0]?.[1].text
  if (text === undefined) return []
  const names = links.slice(0, mostNames).map(([name]) => {
    const version = versions.get(name)?.raw
    return version === undefined || name.endsWith(version) ? name : `${name} (${version})`
  })
  const rest = links.length - names.length
  const who = `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} of ${where}`
  const summary = `${who} ${links.length > 1 ? 'are' : 'is'} kept: ${text}`
  return [finding({ id: 'catalog.bundle-out-of-range', severity: 'info', summary })]
}
