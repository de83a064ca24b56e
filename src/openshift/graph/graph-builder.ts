import type { UpdateGraph, UpdateRelease, UpdateRisk } from './update-graph.ts'

/** A graph while it is put together: each release and each edge once. */
export class GraphBuilder {
  readonly #releases: UpdateRelease[] = []
  readonly #indexes = new Map<string, number>()
  readonly #edges: Map<number, readonly UpdateRisk[]>[] = []

  get releases(): readonly UpdateRelease[] {
    return this.#releases
  }

  indexOf(version: string): number | undefined {
    return this.#indexes.get(version)
  }

  /** The index of a release whose version is not there yet. */
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
   * An edge that is said more than once has every risk that was named. So one that is said both with and without a risk
   * has it: as the cluster sees it (openshift/cluster-version-operator `pkg/cincinnati/cincinnati.go`).
   */
  connect(from: number | undefined, to: number | undefined, risks: readonly UpdateRisk[]): void {
    const edges = from === undefined ? undefined : this.#edges[from]
    if (!edges || to === undefined) return
    const known = edges.get(to)
    edges.set(to, known?.length ? distinctRisks([...known, ...risks]) : risks)
  }

  build(): UpdateGraph {
    const edges = this.#edges.map((bySource) => [...bySource].map(([to, risks]) => ({ to, risks })))
    return { releases: this.#releases, edges }
  }
}

function distinctRisks(risks: readonly UpdateRisk[]): readonly UpdateRisk[] {
  return [...new Map(risks.map((risk) => [JSON.stringify([risk.name, risk.url, risk.message]), risk])).values()]
}
