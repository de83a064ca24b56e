/**
 * The update graph: which releases there are, and which leads to which.
 *
 * Source: openshift/cincinnati `docs/design/cincinnati.md`, `docs/design/openshift.md`; openshift/enhancements
 * `enhancements/update/targeted-update-edge-blocking.md` for conditional edges.
 */
import { KnownError } from '../../errors/known-error.ts'
import { GraphAnswer } from './graph-answer.ts'
import { GraphBuilder } from './graph-builder.ts'

export interface UpdateRelease {
  /** A semantic version: `4.18.9`, `4.15.0-0.okd-2024-03-10-010116`. */
  readonly version: string
  /** The release image, by digest: `quay.io/openshift-release-dev/ocp-release@sha256:…`. */
  readonly payload: string
  /** As the service says it: `io.openshift.upgrades.graph.release.channels`, `url`, … */
  readonly metadata: Readonly<Record<string, string>>
}

/** Why an update is not recommended to every cluster. */
export interface UpdateRisk {
  /** One word in CamelCase: `AzureDefaultVMType`. */
  readonly name: string
  readonly message: string
  readonly url: string
  /** True where the service says that it applies to every cluster; else some condition decides in the cluster. */
  readonly everyCluster?: boolean
}

export interface UpdateEdge {
  /** Index in `releases`. */
  readonly to: number
  /** Empty: recommended to everybody. */
  readonly risks: readonly UpdateRisk[]
}

/** Circles may be in it: nothing here relies on there being none. */
export interface UpdateGraph {
  readonly releases: readonly UpdateRelease[]
  /** By the index of the release that they leave; at most one to each release. */
  readonly edges: readonly (readonly UpdateEdge[])[]
}

/**
 * Reads what an update service answered.
 *
 * Edges to releases that the answer has no image of are left out: nobody who follows this channel gets there.
 *
 * @param origin names the answer in messages: a URL, a file
 * @throws KnownError GRAPH_INVALID
 */
export function parseUpdateGraph(text: string | Uint8Array, origin: string): UpdateGraph {
  const answer = new GraphAnswer(text, origin)
  const builder = new GraphBuilder()
  const places = answer.releases().map((release) => release && builder.add(release))
  for (const { from, to } of answer.edges()) builder.connect(places[from], places[to], [])
  for (const { edges, risks } of answer.conditionalEdges()) {
    for (const { from, to } of edges) builder.connect(builder.indexOf(from), builder.indexOf(to), risks)
  }
  return builder.build()
}

/** The release's channels as the service lists them; undefined where it lists none. */
export function channelsOf(release: UpdateRelease): readonly string[] | undefined {
  const listed = release.metadata[channelsKey]?.split(',').map((name) => name.trim())
  return listed?.filter((name) => name !== '')
}

const channelsKey = 'io.openshift.upgrades.graph.release.channels'

/**
 * One graph of several answers for one architecture: releases by version, with all their edges.
 *
 * @throws KnownError GRAPH_INVALID where two answers name different images for one version
 */
export function mergeGraphs(graphs: readonly UpdateGraph[]): UpdateGraph {
  const builder = new GraphBuilder()
  for (const graph of graphs) {
    const places = graph.releases.map((release) => mergeRelease(builder, release))
    for (const [from, edges] of graph.edges.entries()) {
      for (const { to, risks } of edges) builder.connect(places[from], places[to], risks)
    }
  }
  return builder.build()
}

function mergeRelease(builder: GraphBuilder, release: UpdateRelease): number {
  const index = builder.indexOf(release.version)
  const known = index === undefined ? undefined : builder.releases[index]
  if (index === undefined || !known) return builder.add(release)
  if (known.payload !== release.payload)
    throw new KnownError(
      'GRAPH_INVALID',
      `two answers of the update service disagree: ${release.version} is ${known.payload} in one, ${release.payload} in the other`,
      {
        details: { version: release.version },
        hint: 'Answers for several architectures cannot be one graph; ask for one architecture.',
      },
    )
  const channels = new Set([...(channelsOf(known) ?? []), ...(channelsOf(release) ?? [])])
  const metadata = { ...release.metadata, ...known.metadata }
  if (channels.size > 0) metadata[channelsKey] = [...channels].join(',')
  builder.replace(index, { ...known, metadata })
  return index
}

/** Some releases of a graph, and the edges between them. */
export function subgraph(graph: UpdateGraph, releases: readonly UpdateRelease[]): UpdateGraph {
  const builder = new GraphBuilder()
  for (const release of releases) builder.add(release)
  for (const [from, edges] of graph.edges.entries()) {
    const place = builder.indexOf(graph.releases[from]?.version ?? '')
    for (const { to, risks } of edges) builder.connect(place, builder.indexOf(graph.releases[to]?.version ?? ''), risks)
  }
  return builder.build()
}
