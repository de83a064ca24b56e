/** From two versions to the updates between them, and to the channel that has them. */
import { KnownError } from '../errors/known-error.ts'
import { type ChannelRequest, chooseReleases } from '../openshift/graph/choose-releases.ts'
import { subgraph, type UpdateGraph } from '../openshift/graph/update-graph.ts'
import { shortestUpdatePath, type UpdatePath } from '../openshift/graph/update-path.ts'

export interface PathQuestion {
  readonly type: 'ocp' | 'okd'
  readonly from: string
  readonly to: string
  /** Absent: the first of the usual ones that has a way. */
  readonly channel?: string | undefined
}

/** Where graphs come from: a service, a workspace, files. */
export type ReadGraph = (request: ChannelRequest) => Promise<UpdateGraph>

export interface PassedOver {
  readonly channel: string
  readonly why: string
}

export interface FoundPath {
  readonly channel: string
  readonly path: UpdatePath
  /** The usual channels that have no way. */
  readonly passedOver: readonly PassedOver[]
}

/** What another channel may make good. */
const otherChannelMayHelp: readonly string[] = ['GRAPH_CHANNEL_UNKNOWN', 'RELEASE_UNKNOWN', 'UPDATE_PATH_UNKNOWN']

/**
 * The way that `mirror` takes with `minVersion`, `maxVersion` and `shortestPath` in the same channel.
 *
 * @throws KnownError RELEASE_UNKNOWN, UPDATE_PATH_UNKNOWN, GRAPH_CHANNEL_UNKNOWN: those of the first channel where no
 * other has a way; USAGE where the versions are the wrong way round; and what `read` throws
 */
export async function findUpdatePath(question: PathQuestion, read: ReadGraph): Promise<FoundPath> {
  const passedOver: PassedOver[] = []
  let first: KnownError | undefined
  for (const channel of channelsToTry(question)) {
    try {
      return { channel, path: await pathIn(channel, question, read), passedOver }
    } catch (error) {
      if (!(error instanceof KnownError) || !otherChannelMayHelp.includes(error.code)) throw error
      first ??= error
      passedOver.push({ channel, why: error.message })
    }
  }
  throw first === undefined || passedOver.length < 2 ? first : nowhere(first, passedOver)
}

/** The order in which a release comes to them, backwards. EUS channels are of even minors. */
function channelsToTry({ type, to, channel }: PathQuestion): readonly string[] {
  if (channel !== undefined) return [channel]
  const [, major = '', minor = ''] = /^(\d+)\.(\d+)\./.exec(to) ?? []
  if (minor === '') throw new KnownError('USAGE', `"${to}" is no version of a release: write it as 4.18.9`)
  if (type === 'okd') return [`stable-${major}`, `stable-scos-${major}`]
  const prefixes = Number(minor) % 2 === 0 ? ['stable', 'eus', 'fast', 'candidate'] : ['stable', 'fast', 'candidate']
  return prefixes.map((prefix) => `${prefix}-${major}.${minor}`)
}

async function pathIn(channel: string, { type, from, to }: PathQuestion, read: ReadGraph): Promise<UpdatePath> {
  const request = { type, name: channel, minVersion: from, maxVersion: to, shortestPath: true }
  const graph = await read(request)
  const { releases } = choose(graph, request)
  const ends = { from: releases[0]?.version ?? from, to: releases.at(-1)?.version ?? to }
  const path = shortestUpdatePath(graph, ends)
  const isSame = path.releases.map(({ version }) => version).join() === releases.map(({ version }) => version).join()
  return isSame ? path : shortestUpdatePath(subgraph(graph, releases), ends)
}

function choose(graph: UpdateGraph, request: ChannelRequest) {
  try {
    return chooseReleases(graph, request)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'CONFIG_INVALID') throw error
    throw new KnownError(
      'USAGE',
      `${request.minVersion} comes after ${request.maxVersion}: updates lead upwards only`,
      {
        details: { ...error.details },
        hint: 'Exchange --from and --to.',
      },
    )
  }
}

function nowhere(first: KnownError, [, ...others]: readonly PassedOver[]): KnownError {
  return new KnownError(first.code, first.message, {
    details: { ...first.details },
    hint: `${first.hint} ${others.map(({ channel, why }) => `${channel}: ${why}.`).join(' ')}`,
    cause: first,
  })
}
