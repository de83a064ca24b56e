/**
 * The update graph: which releases there are, and which leads to which.
 *
 * Source: openshift/cincinnati `docs/design/cincinnati.md`, `docs/design/openshift.md`; openshift/enhancements
 * `enhancements/update/targeted-update-edge-blocking.md` for conditional edges.
 */
import { KnownError } from '../../errors/known-error.ts'
import { GraphAnswer } from './graph-answer.ts'

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

/** A graph while it is put together: edges by the releases that they join, each once. */
export class GraphBuilder {
  readonly #releases: UpdateRelease[] = []
  readonly #indexes = new Map<string, number>()
  readonly #edges: Map<number, readonly UpdateRisk[]>[] = []

  indexOf(version: string): number | undefined {
    return this.#indexes.get(version)
  }

  get releases(): readonly UpdateRelease[] {
    return this.#releases
  }

  add(release: UpdateRelease): number {
    const index = this.#releases.push(release) - 1
    this.#indexes.set(release.version, index)
    this.#edges.push(new Map())
    return index
  }

  replace(index: number, release: UpdateRelease): void {
    this.#releases[index] = release
  }

  /**
   * An edge that is said more than once has every risk that was named. One that is said both with and without a risk has
   * it: so the cluster takes it (openshift/cluster-version-operator `pkg/cincinnati/cincinnati.go`).
   */
  connect(from: number, to: number, risks: readonly UpdateRisk[]): void {
    const edges = this.#edges[from]
    if (!edges) return
    const known = edges.get(to)
    edges.set(to, known ? distinctRisks([...known, ...risks]) : risks)
  }

  build(): UpdateGraph {
    return {
      releases: this.#releases,
      edges: this.#edges.map((edges) => [...edges].map(([to, risks]) => ({ to, risks }))),
    }
  }
}

function distinctRisks(risks: readonly UpdateRisk[]): readonly UpdateRisk[] {
  return [...new Map(risks.map((risk) => [JSON.stringify([risk.name, risk.url, risk.message]), risk])).values()]
}

/**
 * Reads what an update service answered.
 *
 * Conditional edges from or to releases that the answer does not list are left out: nobody who follows this channel gets
 * there.
 *
 * @param origin names the answer in messages: a URL, a file
 * @throws KnownError GRAPH_INVALID
 */
export function parseUpdateGraph(text: string | Uint8Array, origin: string): UpdateGraph {
  const answer = new GraphAnswer(text, origin)
  const builder = new GraphBuilder()
  for (const release of answer.releases()) builder.add(release)
  for (const { from, to } of answer.edges()) builder.connect(from, to, [])
  for (const { edges, risks } of answer.conditionalEdges()) {
    for (const edge of edges) {
      const [from, to] = [builder.indexOf(edge.from), builder.indexOf(edge.to)]
      if (from !== undefined && to !== undefined) builder.connect(from, to, risks)
    }
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
      for (const { to, risks } of edges) builder.connect(places[from] ?? -1, places[to] ?? -1, risks)
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
