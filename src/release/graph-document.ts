/** Answers of the update graph as files: in a workspace, in an archive. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { parseUpdateGraph } from '../openshift/graph/update-graph.ts'
import type { GraphQuery, GraphSource } from './graph-source.ts'

/** Where an archive keeps the answer to a question. */
export function documentName({ type, channel, architecture }: GraphQuery): string {
  return `graph/${type}-${channel}-${architecture}.json`
}

/** Answers out of the documents of an archive. */
export function graphsFromDocuments(documents: ReadonlyMap<string, Uint8Array>): GraphSource {
  return {
    async readAnswer(query) {
      const answer = documents.get(documentName(query))
      if (answer !== undefined) return answer
      const { channel, architecture } = query
      throw new KnownError(
        'GRAPH_CHANNEL_UNKNOWN',
        `the archive carries no update graph of ${channel} (${architecture})`,
        {
          details: { channel, architecture },
          hint: 'Have the archive made with this channel in its configuration: both sides have to use the same one.',
        },
      )
    },
  }
}

export interface RecordingGraphs extends GraphSource {
  /** The answers that were given so far, by their name in an archive. */
  readonly documents: () => ReadonlyMap<string, Uint8Array>
}

/** Remembers what `source` answers, in the form in which it travels. */
export function recordingGraphs(source: GraphSource): RecordingGraphs {
  const answers = new Map<string, Uint8Array>()
  return {
    async readAnswer(query, signal) {
      const answer = canonicalAnswer(await source.readAnswer(query, signal), describeQuery(query))
      answers.set(documentName(query), answer)
      return answer
    },
    documents: () => new Map([...answers].toSorted(([one], [other]) => byText(one, other))),
  }
}

/** `update graph of stable-4.18 (amd64)`, for messages. */
export function describeQuery({ channel, architecture }: GraphQuery): string {
  return `update graph of ${channel} (${architecture})`
}

const Answer = z.looseObject({
  nodes: z.array(z.looseObject({ version: z.string() })),
  edges: z.array(z.tuple([z.int(), z.int()])),
  conditionalEdges: z
    .array(z.looseObject({ edges: z.array(z.looseObject({ from: z.string(), to: z.string() })) }))
    .nullish(),
})

/**
 * The answer with everything in a fixed order: a service gives the same graph in another order every time, and an archive
 * of the same content has to be the same bytes.
 *
 * @throws KnownError GRAPH_INVALID
 */
export function canonicalAnswer(answer: Uint8Array, origin: string): Uint8Array {
  parseUpdateGraph(answer, origin)
  const { nodes, edges, conditionalEdges, ...rest } = Answer.parse(JSON.parse(Buffer.from(answer).toString('utf8')))
  const order = [...nodes.keys()].toSorted((one, other) =>
    byText(nodes[one]?.version ?? '', nodes[other]?.version ?? ''),
  )
  const places = new Map(order.map((from, to) => [from, to]))
  const placeOf = (index: number) => places.get(index) ?? index
  const document = {
    ...rest,
    nodes: order.map((index) => nodes[index]),
    edges: edges
      .map(([from, to]): [number, number] => [placeOf(from), placeOf(to)])
      .toSorted((one, other) => one[0] - other[0] || one[1] - other[1]),
    ...(conditionalEdges && { conditionalEdges: sorted(conditionalEdges.map(withSortedEdges)) }),
  }
  return Buffer.from(`${JSON.stringify(withSortedKeys(document))}\n`)
}

function withSortedEdges<Group extends { readonly edges: readonly object[] }>(group: Group): Group {
  return { ...group, edges: sorted(group.edges) }
}

function sorted<Item>(items: readonly Item[]): Item[] {
  const texts = items.map((item) => ({ item, text: JSON.stringify(withSortedKeys(item)) }))
  return texts.toSorted((one, other) => byText(one.text, other.text)).map(({ item }) => item)
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => byText(one, other))
  return Object.fromEntries(entries.map(([key, part]) => [key, withSortedKeys(part)]))
}

function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
