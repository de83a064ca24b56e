/** Where answers of an update graph come from: the service, a workspace, an archive. */

export interface GraphQuery {
  readonly type: 'ocp' | 'okd'
  /** As the service knows it: `stable-4.18`. */
  readonly channel: string
  /** `amd64`, `arm64`, `ppc64le`, `s390x` or `multi`. */
  readonly architecture: string
}

export interface GraphSource {
  /**
   * The answer as it came: JSON with `nodes`, `edges` and `conditionalEdges` (openshift/cincinnati
   * `docs/design/openshift.md`).
   *
   * @throws KnownError GRAPH_UNAVAILABLE
   */
  readAnswer(query: GraphQuery, signal: AbortSignal): Promise<Uint8Array>
}
