/** Everything that decides about the bundles of one package, for a person to read: `sallyport catalog explain PACKAGE`. */
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { flawText } from './channel-flaws.ts'
import { type ChannelGraph, channelGraph } from './channel-graph.ts'
import { requirementText } from './dependencies-requirement.ts'
import { drawChannel } from './draw-channel.ts'
import type { BundleMeta, Catalog, CatalogPackage } from './meta.ts'
import { type SelectionRequest, selectOne } from './select-bundles.ts'
import { type LimitBreach, limitBreaches, limitFindings } from './select-limits.ts'
import { unknownPackage } from './select-names.ts'
import { type PackageChoice, versionsOf } from './select-package.ts'
import type { BundleReason, CatalogSelection, KeptPackage } from './selection.ts'

export interface PackageExplanation {
  readonly package: string
  /** Of the catalog; empty where it names none. */
  readonly defaultChannel: string
  /** What becomes of it; absent where nothing of the package is kept. */
  readonly kept?: Pick<KeptPackage, 'defaultChannel' | 'bundles'>
  /** Why nothing can be selected. */
  readonly problem?: Pick<KnownError, 'code' | 'message' | 'hint'>
  readonly deprecated?: string
  /** In the order of the catalog. */
  readonly channels: readonly ChannelExplanation[]
  /** From the newest version to the oldest; those without a version last. */
  readonly bundles: readonly BundleExplanation[]
  readonly findings: readonly Finding[]
}

export interface ChannelExplanation {
  readonly name: string
  readonly isDefault: boolean
  readonly isKept: boolean
  /** Absent where the graph has flaws. */
  readonly head?: string
  readonly entries: number
  readonly keptEntries: number
  /** Lines for a terminal (`drawChannel`). */
  readonly drawing: readonly string[]
  /** Why the graph cannot be followed. */
  readonly flaws: readonly string[]
  /** Why nothing of a channel that was asked for is kept. */
  readonly nothing?: string
  readonly deprecated?: string
}

export interface BundleExplanation {
  readonly name: string
  readonly version?: string
  readonly image: string
  /** Channels that have it, in the order of the catalog. */
  readonly channels: readonly string[]
  /** Absent where nothing can be selected. */
  readonly reason?: BundleReason
  /** `the package cert-manager in >=1.12.2` */
  readonly requires: readonly string[]
  /** As the bundle has them. */
  readonly limits: Pick<BundleMeta, 'maxOpenShiftVersion' | 'minKubeVersion'>
  /** Of these limits, against the releases. */
  readonly breaches: readonly LimitBreach[]
  readonly deprecated?: string
}

interface ExplainOptions {
  /** An entry of `operators:`. Default: what an entry without packages asks for, the head of every channel. */
  readonly request?: SelectionRequest
  /** Of the whole run, with the dependencies taken: where it keeps more of the package, that is what is explained. */
  readonly selection?: CatalogSelection
  /** Versions of the mirrored releases. */
  readonly releases?: readonly string[]
}

/** @throws KnownError CATALOG_PACKAGE_UNKNOWN */
export function explainPackage(catalog: Catalog, name: string, options: ExplainOptions = {}): PackageExplanation {
  const of = catalog.packages.get(name)
  if (of === undefined) throw unknownPackage(name, catalog)
  const result = choose(catalog, name, options)
  const kept = options.selection?.kept.get(name) ?? result.choice?.kept
  const parts: Parts = { of, ...result, kept, options }
  const deprecated = deprecationOf(of, 'olm.package')
  return {
    package: name,
    defaultChannel: of.meta.defaultChannel,
    ...(kept && { kept: { defaultChannel: kept.defaultChannel, bundles: kept.bundles } }),
    ...(result.problem && { problem: result.problem }),
    ...(deprecated !== undefined && { deprecated }),
    channels: [...of.channels.keys()].map((channel) => explainChannel(channel, parts)),
    bundles: [...of.bundles.values()].toSorted(newestFirst(parts)).map((bundle) => explainBundle(bundle, parts)),
    findings: [...(result.choice?.findings ?? []), ...limitsOf(catalog, parts)],
  }
}

interface Chosen {
  readonly choice?: PackageChoice
  readonly problem?: PackageExplanation['problem']
}

interface Parts extends Chosen {
  readonly of: CatalogPackage
  readonly kept: KeptPackage | undefined
  readonly options: ExplainOptions
}

/** Nothing at all for a package that the request does not name. */
function choose(catalog: Catalog, name: string, { request = {} }: ExplainOptions): Chosen {
  const isNamed = (request.packages?.length ?? 0) === 0 || request.packages?.some((own) => own.name === name)
  if (!isNamed) return {}
  try {
    return { choice: selectOne(catalog, name, request) }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return { problem: { code: error.code, message: error.message, hint: error.hint } }
  }
}

function explainChannel(name: string, { of, choice, kept }: Parts): ChannelExplanation {
  const graph = channelGraph(of.channels.get(name)?.entries ?? [])
  const entries = kept?.channels.find((channel) => channel.name === name)?.entries ?? []
  const marked = new Set(entries.map((entry) => entry.name))
  const nothing = choice?.channels.get(name)?.nothing
  const deprecated = deprecationOf(of, 'olm.channel', name)
  const head = headOf(graph)
  return {
    name,
    isDefault: name === (kept?.defaultChannel ?? of.meta.defaultChannel),
    isKept: marked.size > 0,
    ...(head !== undefined && { head }),
    entries: graph.entries.size,
    keptEntries: marked.size,
    drawing: drawChannel(graph, { kept: marked, note: (entry) => noteOf(of, entry) }),
    flaws: graph.flaws.map(flawText),
    ...(nothing !== undefined && { nothing }),
    ...(deprecated !== undefined && { deprecated }),
  }
}

function headOf({ flaws, heads }: ChannelGraph): string | undefined {
  return flaws.length === 0 ? heads[0] : undefined
}

/** What a name alone does not tell. */
function noteOf(of: CatalogPackage, entry: string): string | undefined {
  const bundle = of.bundles.get(entry)
  if (bundle === undefined) return '(not in the catalog)'
  const parts = [
    ...(bundle.version !== undefined && !entry.endsWith(bundle.version) ? [bundle.version] : []),
    ...(deprecationOf(of, 'olm.bundle', entry) === undefined ? [] : ['deprecated']),
  ]
  return parts.length === 0 ? undefined : `(${parts.join(', ')})`
}

function explainBundle(bundle: BundleMeta, { of, choice, options, problem }: Parts): BundleExplanation {
  const { name, version, maxOpenShiftVersion, minKubeVersion } = bundle
  const channels = [...of.channels.values()].filter(({ entries }) => entries.some((entry) => entry.name === name))
  const notAsked: BundleReason = { isKept: false, because: 'package', text: 'the package is not asked for' }
  const own = choice?.reasons.get(name) ?? (problem === undefined ? notAsked : undefined)
  const reason = options.selection?.why(of.meta.name, name) ?? own
  const deprecated = deprecationOf(of, 'olm.bundle', name)
  return {
    name,
    ...(version !== undefined && { version }),
    image: bundle.image,
    channels: channels.map((channel) => channel.name),
    ...(reason && { reason }),
    requires: bundle.requires.map(requirementText),
    limits: {
      ...(maxOpenShiftVersion !== undefined && { maxOpenShiftVersion }),
      ...(minKubeVersion !== undefined && { minKubeVersion }),
    },
    breaches: limitBreaches(bundle, options.releases ?? []),
    ...(deprecated !== undefined && { deprecated }),
  }
}

function newestFirst({ of }: Parts): (a: BundleMeta, b: BundleMeta) => number {
  const versions = versionsOf(of)
  return (a, b) => {
    const [first, second] = [versions.get(a.name), versions.get(b.name)]
    if (first !== undefined && second !== undefined) return second.compare(first) || second.compareBuild(first)
    if (first === undefined && second === undefined) return a.name < b.name ? -1 : 1
    return first === undefined ? 1 : -1
  }
}

function deprecationOf(of: CatalogPackage, schema: string, name?: string): string | undefined {
  const entry = of.deprecations?.entries.find(
    ({ reference }) => reference.schema === schema && (name === undefined || reference.name === name),
  )
  return entry?.message.replaceAll(/\s+/g, ' ').trim()
}

function limitsOf(catalog: Catalog, { kept, options }: Parts): Finding[] {
  const releases = options.releases ?? []
  if (kept === undefined || releases.length === 0) return []
  return limitFindings(catalog, { kept: new Map([[kept.name, kept]]) }, releases)
}
