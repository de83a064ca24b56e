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
   * @throws KnownError GRAPH_UNAVAILABLE; GRAPH_INVALID; GRAPH_CHANNEL_UNKNOWN where nothing is known of this channel, which is
   * an answer too: not every channel has its like in every minor version
   */
  readAnswer(query: GraphQuery, signal: AbortSignal): Promise<Uint8Array>
}
