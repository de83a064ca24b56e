/** From the channels of a configuration to releases, by the answers of the update graph. */
import type { PlatformContent } from '../config/image-set-content.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { parseReference } from '../oci/reference.ts'
import { type AnsweredRequest, channelsBetween, chooseBetween } from '../openshift/graph/choose-between.ts'
import {
  type ChannelRequest,
  type ChosenRelease,
  chooseReleases,
  type TakenRisk,
} from '../openshift/graph/choose-releases.ts'
import { releaseTag } from '../openshift/release-tag.ts'
import { readChannel, readRequestedGraph } from '../release/graph-channels.ts'
import type { GraphSource } from '../release/graph-source.ts'
import { type MirrorTarget, releaseRepositories, targetRepository } from './destination.ts'
import type { WantedRelease } from './select-release.ts'
import type { SelectedImage, UnreadableImage } from './selection.ts'

export interface ChannelOptions {
  readonly graphs: GraphSource
  /** Only versions that match (`VERSION_FILTER`). */
  readonly versionFilter?: RegExp | undefined
  readonly target: MirrorTarget
  readonly signal: AbortSignal
}

export interface ChannelChoice {
  /** Each release image once. */
  readonly releases: readonly WantedRelease[]
  /** The known risks that a path takes. */
  readonly findings: readonly Finding[]
  /** Channels of which nothing could be learned. */
  readonly unreadable: readonly UnreadableImage[]
}

type Channel = NonNullable<PlatformContent['channels']>[number]

interface AskedChannel {
  readonly channel: Pick<Channel, 'name' | 'type'>
  readonly architecture: string
}

interface Answered extends AnsweredRequest {
  readonly architecture: string
}

/** Channels of which nothing can be learned do not keep the others from being read. */
export async function chooseByChannel(
  { channels = [], architectures, platforms }: PlatformContent,
  options: ChannelOptions,
): Promise<ChannelChoice> {
  // Single platforms can be taken from a payload for several only.
  const wanted = platforms?.length ? ['multi'] : (architectures ?? ['amd64'])
  const choices = await mapConcurrently(wanted, 4, async (architecture) => {
    const answered = await mapConcurrently(channels, 4, (channel) => ask({ channel, architecture }, options))
    const known = answered.flatMap(({ answer }) => (answer ? [answer] : []))
    return [
      ...answered.map(({ choice }) => choice),
      ...known.map((answer) => chooseOne(answer, known, options)),
      await chooseAcross(known, architecture, options),
    ]
  })
  const all = choices.flat()
  const releases = new Map<string, WantedRelease>()
  for (const release of all.flatMap((choice) => choice.releases)) {
    const key = `${release.image.digest} ${release.tag}`
    if (!releases.has(key)) releases.set(key, release)
  }
  return {
    releases: [...releases.values()],
    findings: distinctFindings(all.flatMap((choice) => choice.findings)),
    unreadable: all.flatMap((choice) => choice.unreadable),
  }
}

const nothing: ChannelChoice = { releases: [], findings: [], unreadable: [] }

async function ask(
  asked: AskedChannel & { readonly channel: Channel },
  options: ChannelOptions,
): Promise<{ readonly choice: ChannelChoice; readonly answer?: Answered }> {
  const { graphs, signal } = options
  const { architecture } = asked
  const request = requestOf(asked.channel)
  try {
    const graph = await readRequestedGraph(request, { graphs, architecture, signal })
    return { choice: nothing, answer: { request, graph, architecture } }
  } catch (error) {
    signal.throwIfAborted()
    return { choice: unreadable(asked, error, options) }
  }
}

function chooseOne(
  { request, graph, architecture }: Answered,
  known: readonly Answered[],
  options: ChannelOptions,
): ChannelChoice {
  const { versionFilter: filter } = options
  try {
    const others = known.map((answer) => answer.graph).filter((other) => other !== graph)
    const { releases, risks, absent = [] } = chooseReleases(graph, request, { others, ...(filter && { filter }) })
    return {
      releases: releases.map((release) => wantedRelease(release, request, architecture)),
      findings: [...absent.map((version) => absentFinding(version, request)), ...riskFindings(risks)],
      unreadable: [],
    }
  } catch (error) {
    return unreadable({ channel: request, architecture }, error, options)
  }
}

/** With several channels, also the way from the lowest release of all to the highest, as oc-mirror takes it. */
async function chooseAcross(
  known: readonly Answered[],
  architecture: string,
  { graphs, versionFilter: filter, signal }: ChannelOptions,
): Promise<ChannelChoice> {
  const between = channelsBetween(known.map(({ request }) => request))
  const graphsBetween = await mapConcurrently(between, 4, async (channel) => {
    try {
      return [await readChannel(channel, 'ocp', { graphs, architecture, signal })]
    } catch (error) {
      signal.throwIfAborted()
      if (!isOfGraph(error)) throw error
      return []
    }
  })
  const usable = known.filter((answer) => isChoosable(answer, filter))
  const { releases, risks, unreached } = chooseBetween(usable, graphsBetween.flat(), filter && { filter })
  const request: ChannelRequest = { type: 'ocp', name: between.at(-1) ?? '' }
  return {
    releases: releases.map((release) => wantedRelease(release, request, architecture)),
    findings: [...riskFindings(risks), ...(unreached ? [unreachedFinding(unreached)] : [])],
    unreadable: [],
  }
}

/** What is wrong with one channel was told already, and does not keep the others from being joined. */
function isChoosable({ graph, request }: Answered, filter: RegExp | undefined): boolean {
  try {
    return chooseReleases(graph, request, filter && { filter }).releases.length > 0
  } catch (error) {
    if (isOfGraph(error)) return false
    throw error
  }
}

function isOfGraph(error: unknown): error is KnownError {
  return error instanceof KnownError && /^(?:GRAPH|RELEASE|UPDATE|WEB|REGISTRY)_/.test(error.code)
}

function unreadable(asked: AskedChannel, error: unknown, { target }: ChannelOptions): ChannelChoice {
  if (!isOfGraph(error)) throw error
  return { ...nothing, unreadable: [{ image: channelImage(asked, target), error }] }
}

function requestOf({ name, type, minVersion, maxVersion, shortestPath, full }: Channel): ChannelRequest {
  return {
    type: type ?? 'ocp',
    name,
    ...(minVersion !== undefined && { minVersion }),
    ...(maxVersion !== undefined && { maxVersion }),
    ...(shortestPath !== undefined && { shortestPath }),
    ...(full !== undefined && { full }),
  }
}

function wantedRelease({ version, payload, why }: ChosenRelease, { type }: ChannelRequest, architecture: string) {
  return { image: parseReference(payload), tag: releaseTag(version, architecture, type), why }
}

function riskFindings(risks: readonly TakenRisk[]): Finding[] {
  const hops = Map.groupBy(risks, ({ from, to }) => `from ${from} to ${to}`)
  return [...hops].map(([hop, taken]) => {
    const names = [...new Set(taken.map(({ risk }) => risk.name))]
    return finding({
      id: 'release.known-risk',
      severity: 'warning',
      summary: `the update ${hop} has known risks, and no way leads around them: ${names.join(', ')}`,
      evidence: taken.map(({ risk }) => `${risk.name}: ${risk.message} ${risk.url}`).join('\n'),
      remedy: `What each of them means: sallyport release path ${hop.replace('from', '--from').replace('to', '--to')}.`,
    })
  })
}

function absentFinding(version: string, { name }: ChannelRequest): Finding {
  return finding({
    id: 'release.not-in-channel',
    severity: 'warning',
    summary: `${name} has no release ${version}: what lies beyond it in the range is mirrored`,
    remedy: `See what there is: sallyport list releases --channel ${name}.`,
  })
}

function unreachedFinding({ message, hint }: KnownError): Finding {
  const summary = `no update path joins the channels: ${message}`
  return finding({ id: 'release.channels-apart', severity: 'warning', summary, remedy: hint })
}

/** The same hop may be part of several choices. */
function distinctFindings(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((one) => [one.summary, one])).values()]
}

/** What stands for the releases of a channel where nobody knows which they are. */
function channelImage({ channel, architecture }: AskedChannel, target: MirrorTarget): SelectedImage {
  const tag = releaseTag(channel.name, architecture, channel.type)
  return {
    source: { registry: 'quay.io', repository: 'openshift-release-dev/ocp-release', tag },
    class: 'release',
    destination: { ...targetRepository(target, releaseRepositories.images), tag },
    why: `channel ${channel.name} (${architecture})`,
  }
}
