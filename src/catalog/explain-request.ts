/** What one entry of a configuration does to a package: the selection, what it requires, and the way of what is installed. */
import type { SemVer } from 'semver'
import { channelGraph } from './channel-graph.ts'
import { type Dependency, dependencyPolicy, resolveDependencies } from './dependencies.ts'
import { explainPackage, type PackageExplanation } from './explain.ts'
import type { Catalog, CatalogPackage, ChannelEntry } from './meta.ts'
import { selectBundles } from './select-bundles.ts'
import { versionsOf } from './select-package.ts'
import type { OperatorRequest } from './select-request.ts'
import { writtenVersion } from './select-versions.ts'
import { upgradePath } from './upgrade-path.ts'

/** How an installed version gets to the head of a channel. */
export interface UpdateExplanation {
  readonly channel: string
  /** In the catalog. */
  readonly way: UpdateWay
  /** With what is kept of the channel; absent where nothing is. */
  readonly keptWay?: UpdateWay
}

export interface UpdateWay {
  /** Bundles, in the order in which they are installed. None where the head itself is installed. */
  readonly steps: readonly string[]
  readonly reachesHead: boolean
}

export interface RequestExplanation {
  readonly explanation: PackageExplanation
  /** Of the kept bundles of this package. */
  readonly dependencies: readonly Dependency[]
  readonly updates: readonly UpdateExplanation[]
}

interface ExplainOptions {
  /** For messages. */
  readonly catalogName: string
  readonly request: Pick<OperatorRequest, 'packages' | 'full' | 'dependencies' | 'skipDependencies'>
  readonly releases: readonly string[]
  /** A version of the operator. */
  readonly installed?: string | undefined
}

/** @throws KnownError CATALOG_PACKAGE_UNKNOWN */
export function explainRequest(catalog: Catalog, name: string, options: ExplainOptions): RequestExplanation {
  const { request, releases, catalogName } = options
  const selection = selectBundles(catalog, request, { onProblem: 'leave-out' })
  // Only `take` changes what is kept; the others are told of, and here nothing is refused.
  const policy = dependencyPolicy(request) === 'take' ? 'take' : 'warn'
  const resolved = resolveDependencies([{ name: catalogName, catalog, selection, policy }])
  const [final = selection] = resolved.selections
  const explanation = explainPackage(catalog, name, {
    request,
    releases,
    // Of a package that is left out, the request alone tells why.
    ...(final.kept.has(name) && { selection: final }),
  })
  const of = catalog.packages.get(name)
  const installed = writtenVersion(options.installed)
  const kept = new Map(final.kept.get(name)?.channels.map((channel) => [channel.name, channel.entries]))
  return {
    explanation,
    dependencies: resolved.dependencies.filter(({ from }) => from.package === name),
    updates: of && installed ? updatesOf(of, installed, kept) : [],
  }
}

function updatesOf(
  of: CatalogPackage,
  installed: SemVer,
  kept: ReadonlyMap<string, readonly ChannelEntry[]>,
): UpdateExplanation[] {
  const versions = versionsOf(of)
  const names = [...versions].flatMap(([name, version]) => (version.compare(installed) === 0 ? [name] : []))
  const wayIn = (entries: readonly ChannelEntry[]): UpdateWay =>
    upgradePath(channelGraph(entries), { version: installed, names }, (bundle) => versions.get(bundle))
  return [...of.channels.values()].map(({ name, entries }) => {
    const own = kept.get(name)
    return { channel: name, way: wayIn(entries), ...(own && { keptWay: wayIn(own) }) }
  })
}
