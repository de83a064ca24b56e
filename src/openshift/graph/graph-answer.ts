/** The JSON that an update service answers with, checked part by part, so that each fault has a message of its own. */
import * as semver from 'semver'
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { UpdateRelease, UpdateRisk } from './update-graph.ts'

const Release = z.object({
  version: z.string(),
  payload: z.string().min(1).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
})
const Index = z.int().min(0)
const Edge = z.tuple([Index, Index])
const Risk = z.object({
  url: z.string(),
  name: z.string().min(1),
  message: z.string(),
  matchingRules: z.array(z.object({ type: z.string() })).nullish(),
})
const ConditionalEdges = z.object({
  edges: z.array(z.object({ from: z.string(), to: z.string() })),
  risks: z.array(Risk).min(1),
})
/** What is empty may be null: so Go writes it. */
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullable()
    .transform((items) => items ?? [])
const Answer = z.object({
  nodes: list(Release),
  edges: list(Edge),
  conditionalEdges: z.array(ConditionalEdges).nullish(),
})
/** openshift/cincinnati `commons/src/lib.rs`, GraphError */
const Refusal = z.object({ kind: z.string(), value: z.string() })

type Answered = z.infer<typeof Answer>

export class GraphAnswer {
  readonly #answer: Answered
  readonly #origin: string

  /** @throws KnownError GRAPH_INVALID */
  constructor(text: string | Uint8Array, origin: string) {
    this.#origin = origin
    const document = this.#json(typeof text === 'string' ? text : this.#decode(text))
    const refusal = Refusal.safeParse(document)
    if (refusal.success) throw this.#invalid(`the service refuses: ${refusal.data.kind}: ${refusal.data.value}`)
    const result = Answer.safeParse(document)
    if (!result.success) {
      const [issue] = result.error.issues
      throw this.#invalid(`${issue?.path.join('.') || 'the answer'}: ${issue?.message}`)
    }
    this.#answer = result.data
  }

  /** By the index that edges know; undefined where there is no image: such a release is named only because edges begin there. */
  releases(): readonly (UpdateRelease | undefined)[] {
    const seen = new Map<string, number>()
    return this.#answer.nodes.map(({ version, payload, metadata }, index) => {
      if (!semver.valid(version))
        throw this.#invalid(`node ${index} has the version "${version}", which is no semantic version`)
      const first = seen.get(version)
      if (first !== undefined) throw this.#invalid(`nodes ${first} and ${index} both have the version ${version}`)
      seen.set(version, index)
      return payload ? { version, payload, metadata: metadata ?? {} } : undefined
    })
  }

  edges(): readonly { readonly from: number; readonly to: number }[] {
    const { nodes, edges } = this.#answer
    return edges.map(([from, to], index) => {
      for (const end of [from, to]) {
        if (end >= nodes.length)
          throw this.#invalid(`edge ${index} names node ${end}, but there are ${nodes.length} nodes`)
      }
      if (from === to) throw this.#invalid(`edge ${index} leads from ${nodes[from]?.version} to itself`)
      return { from, to }
    })
  }

  conditionalEdges(): readonly {
    readonly edges: readonly { from: string; to: string }[]
    readonly risks: readonly UpdateRisk[]
  }[] {
    return (this.#answer.conditionalEdges ?? []).map(({ edges, risks }, index) => {
      const loop = edges.find(({ from, to }) => from === to)
      if (loop) throw this.#invalid(`conditional edges ${index} lead from ${loop.from} to itself`)
      return { edges, risks: risks.map(riskOf) }
    })
  }

  #decode(bytes: Uint8Array): string {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch (cause) {
      throw this.#invalid('it is not UTF-8', cause)
    }
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      if (text.trim() === '') throw this.#invalid('it is empty', cause)
      if (isCutShort(text)) throw this.#invalid(`it is cut short after ${Buffer.byteLength(text)} bytes`, cause)
      throw this.#invalid(`it is not JSON, but begins with ${JSON.stringify(text.slice(0, 40))}`, cause)
    }
  }

  #invalid(why: string, cause?: unknown): KnownError {
    return new KnownError('GRAPH_INVALID', `${this.#origin} is no update graph: ${why}`, {
      details: { origin: this.#origin },
      cause,
    })
  }
}

function riskOf({ name, message, url, matchingRules }: z.infer<typeof Risk>): UpdateRisk {
  const isEvery = matchingRules?.some(({ type }) => type === 'Always') === true
  return { name, message: message.trim(), url, ...(isEvery && { everyCluster: true }) }
}

/** True where a bracket that was opened is open at the end. */
function isCutShort(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (isInString) {
      if (letter === '\\') at += 1
      else if (letter === '"') isInString = false
    } else if (letter === '"') isInString = true
    else if (letter === '{' || letter === '[') depth += 1
    else if (letter === '}' || letter === ']') depth -= 1
  }
  return depth > 0
}
