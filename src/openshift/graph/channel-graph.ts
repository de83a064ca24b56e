/**
 * What an update service answers for a channel, computed from graph data and from what releases say of themselves.
 *
 * Source: openshift/cincinnati `graph_builder/release.rs`, `openshift_secondary_metadata_parser`, `edge_add_remove.rs`,
 * `node_remove.rs`, `channel_filter.rs`, `arch_filter.rs` (below `cincinnati/src/plugins/internal`). Where several files
 * without a risk block the way to one release, the service reads the last of them; here all of them hold.
 */
import * as semver from 'semver'
import { compileBlockedVersions } from './blocked-versions.ts'
import { GraphBuilder } from './graph-builder.ts'
import type { BlockedEdges, GraphData } from './graph-data.ts'
import type { UpdateGraph } from './update-graph.ts'

/** `release-manifests/release-metadata` of a release image, and the image. */
export interface DescribedRelease {
  /** Without the architecture. */
  readonly version: string
  readonly payload: string
  /** Versions that may be updated to this one. */
  readonly previous: readonly string[]
  /** Versions that this one may be updated to. */
  readonly next: readonly string[]
  /** `url`, and whatever begins with `io.openshift.upgrades.graph.` */
  readonly metadata: Readonly<Record<string, string>>
}

interface ChannelOptions {
  readonly channel: string
  /** As the service calls it: `amd64`, `arm64`, `ppc64le`, `s390x`, `multi`. */
  readonly architecture: string
  /** All releases of that architecture that are known, of this channel or not. */
  readonly releases: readonly DescribedRelease[]
}

const prefix = 'io.openshift.upgrades.graph'

/** Releases from the lowest, so that the same input gives the same graph. */
export function graphOfChannel(data: GraphData, { channel, architecture, releases }: ChannelOptions): UpdateGraph {
  const described = releases.map((release) => withRawMetadata(data, release))
  const channels = channelsByVersion(data, architecture)
  const builder = new GraphBuilder()
  for (const release of described.toSorted((a, b) => semver.compareBuild(a.version, b.version))) {
    const own = channels.get(release.version) ?? []
    const isRemoved = release.metadata[`${prefix}.release.remove`] === 'true'
    if (own.includes(channel) && !isRemoved) builder.add(asAnswered(release, own))
  }
  const blocked = blockedByTarget(data, architecture)
  const rules = new EdgeRules(described, architecture)
  for (const [to, sources] of edgesInto(described)) {
    const target = builder.indexOf(to)
    if (target === undefined) continue
    for (const from of sources) {
      const blocking = (blocked.get(to) ?? []).filter((one) => one.from.test(`${from}+${architecture}`))
      const risks = blocking.flatMap(({ risk }) => risk ?? [])
      const isRemoved = blocking.length > 0 || rules.isRemoved(from, to)
      if (risks.length > 0 || !isRemoved) builder.connect(builder.indexOf(from), target, risks)
    }
  }
  return builder.build()
}

function withRawMetadata({ rawMetadata }: GraphData, release: DescribedRelease): DescribedRelease {
  const metadata: Record<string, string> = { ...release.metadata }
  for (const [key, value] of Object.entries(rawMetadata.get(release.version) ?? {})) {
    metadata[key] = metadata[key] === undefined ? value : `${metadata[key]},${value}`
  }
  return { ...release, metadata }
}

/** Sorted as the service sorts them: by what comes after the first dash, then by name. */
function channelsByVersion({ channels }: GraphData, architecture: string): ReadonlyMap<string, readonly string[]> {
  const byVersion = new Map<string, Set<string>>()
  for (const [name, versions] of channels) {
    for (const listed of versions) {
      const version = nameFor(listed, architecture)
      if (version === undefined) continue
      const names = byVersion.get(version) ?? new Set()
      byVersion.set(version, names.add(name))
    }
  }
  const rest = (name: string) => name.slice(name.indexOf('-') + 1)
  const order = (a: string, b: string) => (a < b ? -1 : Number(a > b))
  const sorted = (names: Set<string>) => [...names].toSorted((a, b) => order(rest(a), rest(b)) || order(a, b))
  return new Map([...byVersion].map(([version, names]) => [version, sorted(names)]))
}

/** The version that a name stands for; undefined where it is of another architecture. `4.2.14` is of all of them. */
function nameFor(name: string, architecture: string): string | undefined {
  const [version, build] = name.split('+')
  return build === undefined || build === architecture ? version : undefined
}

function blockedByTarget(data: GraphData, architecture: string): ReadonlyMap<string, readonly BlockedEdges[]> {
  const byTarget = Map.groupBy(data.blockedEdges, ({ to }) => nameFor(to, architecture) ?? '')
  byTarget.delete('')
  return byTarget
}

function asAnswered({ version, payload, metadata }: DescribedRelease, channels: readonly string[]) {
  const { [`${prefix}.release.arch`]: _, ...rest } = metadata
  return { version, payload, metadata: { ...rest, [`${prefix}.release.channels`]: channels.join(',') } }
}

/** By the release that they lead to: what both ends, and metadata on both ends, say. */
function edgesInto(described: readonly DescribedRelease[]): ReadonlyMap<string, ReadonlySet<string>> {
  const into = new Map<string, Set<string>>()
  const connect = (from: string, to: string) => into.set(to, (into.get(to) ?? new Set()).add(from))
  for (const { version, previous, next, metadata } of described) {
    for (const from of [...previous, ...listed(metadata, 'previous.add')]) connect(withoutBuild(from), version)
    for (const to of [...next, ...listed(metadata, 'next.add')]) connect(version, withoutBuild(to))
  }
  return into
}

function listed(metadata: Readonly<Record<string, string>>, key: string): readonly string[] {
  const names = (metadata[`${prefix}.${key}`] ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

function withoutBuild(version: string): string {
  return version.split('+')[0] ?? version
}

interface RemovedSources {
  readonly versions: readonly string[]
  readonly pattern: RegExp | undefined
}

/** What releases themselves say of edges that are not to be. */
class EdgeRules {
  readonly #architecture: string
  readonly #previous = new Map<string, RemovedSources>()
  readonly #next = new Map<string, readonly string[]>()

  constructor(described: readonly DescribedRelease[], architecture: string) {
    this.#architecture = architecture
    for (const { version, metadata } of described) {
      const text = metadata[`${prefix}.previous.remove_regex`]
      const versions = listed(metadata, 'previous.remove').map(withoutBuild)
      this.#previous.set(version, { versions, pattern: text === undefined ? undefined : compileBlockedVersions(text) })
      this.#next.set(version, listed(metadata, 'next.remove').map(withoutBuild))
    }
  }

  isRemoved(from: string, to: string): boolean {
    const { versions = [], pattern } = this.#previous.get(to) ?? {}
    const isOutOfTarget = versions.includes('*') || versions.includes(from)
    return (
      isOutOfTarget || pattern?.test(`${from}+${this.#architecture}`) || this.#next.get(from)?.includes(to) || false
    )
  }
}
