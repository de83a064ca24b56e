/**
 * An update service on loopback that answers as the real one does (openshift/cincinnati `policy-engine`, `commons`).
 *
 *     const graphs = await startGraphServer(t, { graphs: { amd64: graph } })
 *     process: UPDATE_URL_OVERRIDE=graphs.graphUrl
 *     graphs.fault({ path: /graph/, times: 1, status: 503 })
 */
import { type ScriptedWeb, startScriptedWeb, type WebReply, type WebRequestSeen } from './scripted-web.ts'
import type { Cleanup } from './temp-dir.ts'

/** As an update service serves it. */
export interface ServedGraph {
  readonly version?: number
  readonly nodes: readonly {
    readonly version: string
    readonly payload: string
    readonly metadata: Readonly<Record<string, string>>
  }[]
  readonly edges: readonly (readonly number[])[]
  readonly conditionalEdges?: readonly {
    readonly edges: readonly { readonly from: string; readonly to: string }[]
    readonly risks: readonly object[]
  }[]
}

export interface GraphServerOptions {
  /** Everything that is known, by architecture; what an answer holds is decided by the channels of the nodes. */
  readonly graphs: Readonly<Record<string, ServedGraph>>
  /** The tar.gz of `/api/upgrades_info/graph-data`. */
  readonly graphData?: Uint8Array
  /** PEM. Without it the service speaks plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface GraphServer extends ScriptedWeb {
  /** What UPDATE_URL_OVERRIDE is set to. */
  readonly graphUrl: string
  readonly graphDataUrl: string
}

export const channelsKey = 'io.openshift.upgrades.graph.release.channels'
const mediaType = 'application/vnd.redhat.cincinnati.v1+json'
const accepted = ['application/json', mediaType, 'application/*', '*/*']
const graphPath = '/api/upgrades_info/v1/graph'
const graphDataPath = '/api/upgrades_info/graph-data'

/** A service on a free port of 127.0.0.1, closed when `t` ends. */
export async function startGraphServer(t: Cleanup, options: GraphServerOptions): Promise<GraphServer> {
  const web = await startScriptedWeb(t, options)
  for (const path of [graphPath, '/api/upgrades_info/graph', '/graph']) {
    web.routes.set(path, (seen) => answer(options.graphs, seen))
  }
  if (options.graphData !== undefined) web.files.set(graphDataPath, options.graphData)
  return { ...web, graphUrl: `${web.url}${graphPath}`, graphDataUrl: `${web.url}${graphDataPath}` }
}

/** Releases that all are in these channels, with payloads made up from their versions. */
export function releaseNodes(versions: readonly string[], channels: readonly string[]): ServedGraph['nodes'] {
  return versions.map((version) => ({
    version,
    payload: `quay.io/openshift-release-dev/ocp-release@sha256:${Buffer.from(version).toString('hex').padEnd(64, '0')}`,
    metadata: { [channelsKey]: channels.join(','), url: `https://errata.invalid/${version}` },
  }))
}

function answer(graphs: GraphServerOptions['graphs'], { query, headers }: WebRequestSeen): WebReply {
  const wanted = (headers.accept ?? '').split(',').map((type) => type.replace(/;.*$/, '').trim())
  if (!wanted.some((type) => accepted.includes(type))) {
    return refusal(406, 'invalid_content_type', 'invalid Content-Type requested')
  }
  const channel = query.get('channel')
  if (channel === null) return refusal(400, 'missing_params', 'mandatory client parameters missing: channel')
  if (!/^[0-9a-z.-]+$/i.test(channel)) return refusal(400, 'invalid_params', `invalid channel name: ${channel}`)
  const graph = graphs[query.get('arch') ?? 'amd64'] ?? { nodes: [], edges: [] }
  return json(200, inChannel(graph, channel), mediaType)
}

/** The internal channel filter: releases of the channel, and the edges between them. */
function inChannel(graph: ServedGraph, channel: string): ServedGraph {
  const nodes = graph.nodes.filter(({ metadata }) => metadata[channelsKey]?.split(',').includes(channel))
  const places = graph.nodes.map((node) => nodes.indexOf(node))
  const isThere = (version: string) => nodes.some((node) => node.version === version)
  return {
    version: graph.version ?? 1,
    nodes,
    edges: graph.edges
      .map((edge) => edge.map((end) => places[end] ?? -1))
      .filter((edge) => edge.every((end) => end >= 0)),
    conditionalEdges: (graph.conditionalEdges ?? [])
      .map(({ edges, risks }) => ({ edges: edges.filter(({ from, to }) => isThere(from) && isThere(to)), risks }))
      .filter(({ edges }) => edges.length > 0),
  }
}

function refusal(status: number, kind: string, value: string): WebReply {
  return json(status, { kind, value }, 'application/json')
}

function json(status: number, document: object, contentType: string): WebReply {
  return { status, headers: { 'content-type': contentType }, body: JSON.stringify(document) }
}
