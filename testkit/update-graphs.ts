/** Small update graphs for tests, and answers of an update service that say the same. */
import type { UpdateGraph, UpdateRisk } from '../src/openshift/graph/update-graph.ts'

/** By the release that they leave: versions, or a version with the names of its risks. */
export type GraphSketch = Readonly<Record<string, readonly (string | readonly [string, ...string[]])[]>>

interface SketchOptions {
  /** By version; those that are not here are in no listed channel. */
  readonly channels?: Readonly<Record<string, readonly string[]>>
}

export function risk(name: string): UpdateRisk {
  return { name, message: `${name} can happen.`, url: `https://issues.example.com/${name}` }
}

export function sketchedGraph(sketch: GraphSketch, { channels = {} }: SketchOptions = {}): UpdateGraph {
  const versions = [
    ...new Set(Object.entries(sketch).flatMap(([from, to]) => [from, ...to.map((one) => [one].flat()[0] ?? '')])),
  ]
  const releases = versions.map((version) => {
    const listed = channels[version]
    const metadata: Record<string, string> = listed
      ? { 'io.openshift.upgrades.graph.release.channels': listed.join(',') }
      : {}
    return { version, payload: payloadOf(version), metadata }
  })
  const edges = versions.map((version) =>
    (sketch[version] ?? []).map((one) => {
      const [to = '', ...names] = [one].flat()
      return { to: versions.indexOf(to), risks: names.map(risk) }
    }),
  )
  return { releases, edges }
}

/** The answer of a service, as JSON: edges with risks are conditional. */
export function answerOf({ releases, edges }: UpdateGraph): string {
  const nodes = releases.map(({ version, payload, metadata }) => ({ version, payload, metadata }))
  const plain = edges.flatMap((leaving, from) =>
    leaving.flatMap(({ to, risks }) => (risks.length > 0 ? [] : [[from, to]])),
  )
  const conditionalEdges = edges.flatMap((leaving, from) =>
    leaving.flatMap(({ to, risks }) => {
      if (risks.length === 0) return []
      const edge = { from: releases[from]?.version, to: releases[to]?.version }
      return [{ edges: [edge], risks: risks.map((one) => ({ ...one, matchingRules: [{ type: 'PromQL' }] })) }]
    }),
  )
  return JSON.stringify({ version: 1, nodes, edges: plain, conditionalEdges })
}

function payloadOf(version: string): string {
  const hex = Buffer.from(version).toString('hex').padEnd(64, '0').slice(0, 64)
  return `quay.io/openshift-release-dev/ocp-release@sha256:${hex}`
}
