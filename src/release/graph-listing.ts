/** What there is to mirror: minor versions, their channels, the releases of a channel. */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { chooseReleases } from '../openshift/graph/choose-releases.ts'
import { channelsOf, type UpdateGraph, type UpdateRelease } from '../openshift/graph/update-graph.ts'
import { type AskedChannels, readChannel } from './graph-channels.ts'

export interface ListedChannel {
  readonly name: string
  readonly releases: number
  readonly first: string
  readonly last: string
}

export interface ListedMinor {
  /** `4.18` */
  readonly version: string
  /** The channel that says so: a minor that is not released yet has `candidate-` alone. */
  readonly channel: string
  /** Its highest release in that channel. */
  readonly last: string
}

/** OpenShift 4 begins with 4.1. */
const firstMajor = 4
/** Minor versions that are asked for at once; where none of them is known, there are no more of this major. */
const batch = 4
/** Where a service of one's own begins late, it is found up to here. */
const mostUnknown = 40

/**
 * The minor versions of OpenShift, the lowest first.
 *
 * A service has no list of its channels, so they are asked for one after another until four in a row are unknown, and the
 * next major likewise: no version has to be known here.
 */
export async function listMinors(asked: AskedChannels): Promise<readonly ListedMinor[]> {
  const found: ListedMinor[] = []
  for (let major = firstMajor; ; major += 1) {
    const own = await minorsOf(major, found.length > 0 ? batch : mostUnknown, asked)
    if (own.length === 0) return found
    found.push(...own)
  }
}

async function minorsOf(major: number, mostBefore: number, asked: AskedChannels): Promise<readonly ListedMinor[]> {
  const found: ListedMinor[] = []
  for (let first = 0; found.length > 0 || first < mostBefore; first += batch) {
    const minors = Array.from({ length: batch }, (_, index) => `${major}.${first + index}`)
    const known = (await mapConcurrently(minors, batch, (version) => lookUpMinor(version, asked))).flat()
    if (known.length === 0 && found.length > 0) return found
    found.push(...known)
  }
  return found
}

async function lookUpMinor(version: string, asked: AskedChannels): Promise<readonly ListedMinor[]> {
  for (const channel of [`stable-${version}`, `candidate-${version}`]) {
    const graph = await readIfKnown(channel, asked)
    const last = graph && releasesOf(graph, channel).findLast((release) => release.version.startsWith(`${version}.`))
    if (last) return [{ version, channel, last: last.version }]
  }
  return []
}

/**
 * Every channel that releases of this minor are in, by name.
 *
 * Candidates come first in time, and every other channel takes its releases from them, so their answer names all channels.
 *
 * @throws KnownError GRAPH_CHANNEL_UNKNOWN
 */
export async function listChannels(version: string, asked: AskedChannels): Promise<readonly ListedChannel[]> {
  const candidates = await readIfKnown(`candidate-${version}`, asked)
  const graph = candidates ?? (await readChannel(`stable-${version}`, 'ocp', asked))
  const channels = new Map<string, ListedChannel>()
  for (const release of releasesOf(graph, `candidate-${version}`)) {
    if (!release.version.startsWith(`${version}.`)) continue
    for (const name of channelsOf(release) ?? []) {
      const { first = release.version, releases = 0 } = channels.get(name) ?? {}
      channels.set(name, { name, releases: releases + 1, first, last: release.version })
    }
  }
  return [...channels.values()].toSorted((one, other) => byName.compare(one.name, other.name))
}

const byName = new Intl.Collator('en', { numeric: true })

/**
 * The releases of a channel, the lowest first.
 *
 * @throws KnownError GRAPH_UNAVAILABLE, GRAPH_INVALID, GRAPH_CHANNEL_UNKNOWN
 */
export async function listReleases(channel: string, asked: AskedChannels): Promise<readonly UpdateRelease[]> {
  return releasesOf(await readChannel(channel, 'ocp', asked), channel)
}

async function readIfKnown(channel: string, asked: AskedChannels): Promise<UpdateGraph | undefined> {
  try {
    return await readChannel(channel, 'ocp', asked)
  } catch (error) {
    if (error instanceof KnownError && error.code === 'GRAPH_CHANNEL_UNKNOWN') return undefined
    throw error
  }
}

function releasesOf(graph: UpdateGraph, name: string): readonly UpdateRelease[] {
  return chooseReleases(graph, { type: 'ocp', name, full: true }).releases
}
