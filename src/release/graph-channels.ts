/** The one graph that a request needs, out of the answers of every channel that it touches. */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { type ChannelRequest, channelsFor } from '../openshift/graph/choose-releases.ts'
import { mergeGraphs, parseUpdateGraph, type UpdateGraph } from '../openshift/graph/update-graph.ts'
import { describeQuery } from './graph-document.ts'
import type { GraphSource } from './graph-source.ts'

export interface AskedChannels {
  readonly graphs: GraphSource
  /** `amd64`, `arm64`, `ppc64le`, `s390x` or `multi`. */
  readonly architecture: string
  readonly signal: AbortSignal
}

/**
 * A channel beside the one that is named may be unknown: `stable-4.18` is there before `stable-4.19`.
 *
 * @throws KnownError GRAPH_UNAVAILABLE, GRAPH_INVALID, and GRAPH_CHANNEL_UNKNOWN for the channel that is named
 */
export async function readRequestedGraph(request: ChannelRequest, asked: AskedChannels): Promise<UpdateGraph> {
  const answers = await mapConcurrently(channelsFor(request), 4, async (channel) => {
    try {
      return [await readChannel(channel, request.type, asked)]
    } catch (error) {
      const isBeside = channel !== request.name && error instanceof KnownError && error.code === 'GRAPH_CHANNEL_UNKNOWN'
      if (isBeside) return []
      throw error
    }
  })
  return mergeGraphs(answers.flat())
}

/** @throws KnownError GRAPH_UNAVAILABLE, GRAPH_INVALID, GRAPH_CHANNEL_UNKNOWN */
export async function readChannel(
  channel: string,
  type: ChannelRequest['type'],
  { graphs, architecture, signal }: AskedChannels,
): Promise<UpdateGraph> {
  const query = { type, channel, architecture }
  return parseUpdateGraph(await graphs.readAnswer(query, signal), `the ${describeQuery(query)}`)
}
