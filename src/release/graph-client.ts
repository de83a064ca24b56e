/**
 * Asks an update service.
 *
 * Source: openshift/cincinnati `docs/design/openshift.md` and `policy-engine/src/openapiv3.json`; endpoints and
 * UPDATE_URL_OVERRIDE: openshift/oc-mirror `internal/pkg/release/cincinnati.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import { randomUuid } from '../host/random.ts'
import { channelsOf, parseUpdateGraph } from '../openshift/graph/update-graph.ts'
import type { WebClient } from '../remote/web-client.ts'
import { describeQuery } from './graph-document.ts'
import type { GraphQuery, GraphSource } from './graph-source.ts'

const endpoints = {
  ocp: 'https://api.openshift.com/api/upgrades_info/v1/graph',
  okd: 'https://origin-release.ci.openshift.org/graph',
} as const

/** A whole channel has 1 to 2 MB. */
const maxAnswerBytes = 64 * 1024 * 1024

export interface GraphClientOptions {
  readonly web: WebClient
  /** The service for every type of release (UPDATE_URL_OVERRIDE); `file://` names one answer for everything. */
  readonly override?: string | undefined
  /** Who asks, in the form of a UUID: one for every run unless it is given. */
  readonly id?: string
}

/** Each question is asked once, however often it is put. */
export class GraphClient implements GraphSource {
  readonly #web: WebClient
  readonly #override: URL | undefined
  readonly #id: string
  readonly #answers = new Map<string, Promise<Uint8Array>>()

  /** @throws KnownError USAGE where the override is no URL */
  constructor({ web, override, id = randomUuid() }: GraphClientOptions) {
    this.#web = web
    this.#override = override === undefined || override === '' ? undefined : parseOverride(override)
    this.#id = id
  }

  /** @throws KnownError GRAPH_UNAVAILABLE, GRAPH_INVALID, GRAPH_CHANNEL_UNKNOWN where the answer is empty */
  async readAnswer(query: GraphQuery, signal: AbortSignal): Promise<Uint8Array> {
    const answer = await this.#ask(query, signal)
    if (parseUpdateGraph(answer, this.#describe(query)).releases.length > 0) return answer
    throw await this.#unknownChannel(query, signal)
  }

  #ask(query: GraphQuery, signal: AbortSignal): Promise<Uint8Array> {
    const url = this.#urlOf(query)
    const known = this.#answers.get(url.href)
    if (known !== undefined) return known
    const asked = this.#fetch(url, query, signal)
    this.#answers.set(url.href, asked)
    asked.catch(() => this.#answers.delete(url.href))
    return asked
  }

  async #fetch(url: URL, query: GraphQuery, signal: AbortSignal): Promise<Uint8Array> {
    const what = describeQuery(query)
    try {
      const document = await this.#web.read(url, {
        what,
        signal,
        maxBytes: maxAnswerBytes,
        headers: { accept: 'application/json' },
        isFileAllowed: this.#override !== undefined,
      })
      if (document !== undefined) return document.bytes
    } catch (error) {
      throw error instanceof KnownError ? unavailable(error, query) : error
    }
    throw new KnownError('GRAPH_UNAVAILABLE', `${what}: there is no update service at ${url.origin}${url.pathname}`, {
      details: { channel: query.channel, architecture: query.architecture, host: url.host },
    })
  }

  #urlOf({ type, channel, architecture }: GraphQuery): URL {
    const url = new URL(this.#override ?? endpoints[type])
    if (url.protocol === 'file:') return url
    for (const [name, value] of Object.entries({ arch: architecture, channel, id: this.#id })) {
      url.searchParams.set(name, value)
    }
    return url
  }

  #describe(query: GraphQuery): string {
    const { origin, pathname, protocol } = this.#urlOf(query)
    return `the ${describeQuery(query)} from ${protocol === 'file:' ? pathname : `${origin}${pathname}`}`
  }

  async #unknownChannel(query: GraphQuery, signal: AbortSignal): Promise<KnownError> {
    const { channel, architecture } = query
    const likely = await this.#likelyChannels(query, signal)
    return new KnownError(
      'GRAPH_CHANNEL_UNKNOWN',
      `the update service knows no channel ${channel} for ${architecture}`,
      {
        details: { channel, architecture, ...(likely.length > 0 && { likely: likely.join(', ') }) },
        ...(likely.length > 0 && { hint: `Name one that there is: ${likely.join(', ')}.` }),
      },
    )
  }

  /** What the candidates of the same minor version say about the channels that they are in. */
  async #likelyChannels(query: GraphQuery, signal: AbortSignal): Promise<readonly string[]> {
    const minor = /(\d+\.\d+)$/.exec(query.channel)?.[1]
    const candidate = { ...query, channel: `candidate-${minor}` }
    if (minor === undefined || query.channel === candidate.channel) return []
    const { releases } = parseUpdateGraph(await this.#ask(candidate, signal), this.#describe(candidate))
    const names = new Set(releases.flatMap((release) => channelsOf(release) ?? []))
    return [...names].filter((name) => name.endsWith(`-${minor}`)).toSorted()
  }
}

function parseOverride(text: string): URL {
  if (URL.canParse(text)) return new URL(text)
  throw new KnownError('USAGE', `UPDATE_URL_OVERRIDE is no URL: ${text}`, {
    hint: 'Name the whole URL of the graph: https://osus.example/api/upgrades_info/v1/graph',
  })
}

function unavailable(cause: KnownError, { channel, architecture }: GraphQuery): KnownError {
  return new KnownError('GRAPH_UNAVAILABLE', cause.message, {
    details: { ...cause.details, channel, architecture, reason: cause.code },
    hint: `${cause.hint} Another update service is named with UPDATE_URL_OVERRIDE.`,
    cause,
  })
}
