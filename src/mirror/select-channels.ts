/** From the channels of a configuration to releases, by the answers of the update graph. */
import type { PlatformContent } from '../config/image-set-content.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { parseReference } from '../oci/reference.ts'
import {
  type ChannelRequest,
  type ChosenRelease,
  chooseReleases,
  type TakenRisk,
} from '../openshift/graph/choose-releases.ts'
import { releaseTag } from '../openshift/release-tag.ts'
import { readRequestedGraph } from '../release/graph-channels.ts'
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
  readonly channel: Channel
  readonly architecture: string
}

/** Channels of which nothing can be learned do not keep the others from being read. */
export async function chooseByChannel(
  { channels = [], architectures, platforms }: PlatformContent,
  options: ChannelOptions,
): Promise<ChannelChoice> {
  const asked = channels.flatMap((channel) =>
    // Single platforms can be taken from a payload for several only.
    (platforms?.length ? ['multi'] : (architectures ?? ['amd64'])).map((architecture) => ({ channel, architecture })),
  )
  const choices = await mapConcurrently(asked, 4, (one) => chooseOne(one, options))
  const releases = new Map<string, WantedRelease>()
  for (const release of choices.flatMap((choice) => choice.releases)) {
    const key = `${release.image.digest} ${release.tag}`
    if (!releases.has(key)) releases.set(key, release)
  }
  return {
    releases: [...releases.values()],
    findings: choices.flatMap((choice) => choice.findings),
    unreadable: choices.flatMap((choice) => choice.unreadable),
  }
}

async function chooseOne(asked: AskedChannel, options: ChannelOptions): Promise<ChannelChoice> {
  const request = requestOf(asked.channel)
  try {
    const { graphs, signal } = options
    const graph = await readRequestedGraph(request, { graphs, architecture: asked.architecture, signal })
    const { releases, risks } = chooseReleases(graph, request, {
      ...(options.versionFilter && { filter: options.versionFilter }),
    })
    return {
      releases: releases.map((release) => wantedRelease(release, request, asked.architecture)),
      findings: risks.map((risk) => riskFinding(risk, request)),
      unreadable: [],
    }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError) || !/^(?:GRAPH|RELEASE|UPDATE|WEB|REGISTRY)_/.test(error.code)) throw error
    return { releases: [], findings: [], unreadable: [{ image: channelImage(asked, options.target), error }] }
  }
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

function riskFinding({ from, to, risk }: TakenRisk, { name }: ChannelRequest): Finding {
  return finding({
    id: 'release.known-risk',
    severity: 'warning',
    summary: `channel ${name}: the update from ${from} to ${to} has a known risk, and no way around it: ${risk.name}: ${risk.message}`,
    remedy: `Read ${risk.url} before the update; what is mirrored does not change by it.`,
  })
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
