/** A release by its version, or what is nearest to it. */
import * as semver from 'semver'
import { KnownError } from '../../errors/known-error.ts'
import { channelsOf, type UpdateGraph, type UpdateRelease } from './update-graph.ts'

interface FindOptions {
  /** What was searched, for the message: `stable-4.18`. */
  readonly where?: string
  /** Answers of other channels: where one of them has the release, the message says so. */
  readonly others?: readonly UpdateGraph[] | undefined
}

/**
 * The index of a release. Build metadata (`+amd64`) may be left out.
 *
 * @throws KnownError RELEASE_UNKNOWN
 */
export function findRelease(graph: UpdateGraph, version: string, options: FindOptions = {}): number {
  const index = indexOfVersion(graph.releases, version)
  if (index === -1) throw unknownRelease(graph.releases, version, options)
  return index
}

/** -1 where there is none. */
export function indexOfVersion(releases: readonly UpdateRelease[], version: string): number {
  const exact = releases.findIndex((release) => release.version === version)
  if (exact !== -1 || !semver.valid(version)) return exact
  return releases.findIndex((release) => semver.compare(release.version, version) === 0)
}

/** Why there is no such release here, and what was probably meant. */
export function unknownRelease(releases: readonly UpdateRelease[], version: string, options: FindOptions): KnownError {
  const { where = 'the update graph', others = [] } = options
  const details = { version, channel: where }
  if (!semver.valid(version))
    return new KnownError('RELEASE_UNKNOWN', `"${version}" is no version of a release: write it as 4.18.9`, { details })
  const elsewhere = [...new Set(others.flatMap((other) => channelsWith(other, version)))]
  const near = nearestVersions(releases, version)
  const facts = [
    ...(elsewhere.length > 0 ? [`it is in ${elsewhere.join(', ')}`] : []),
    ...(near.length > 0 ? [`nearest here: ${near.join(' and ')}`] : ['no release is here at all']),
  ]
  return new KnownError('RELEASE_UNKNOWN', `${where} has no release ${version} (${facts.join('; ')})`, { details })
}

function channelsWith({ releases }: UpdateGraph, version: string): readonly string[] {
  const release = releases[indexOfVersion(releases, version)]
  return release ? (channelsOf(release) ?? ['another answer']) : []
}

/** The last version before, and the first one after. */
function nearestVersions(releases: readonly UpdateRelease[], version: string): readonly string[] {
  const sorted = releases.map((release) => release.version).toSorted(semver.compareBuild)
  const before = sorted.findLast((one) => semver.lt(one, version))
  const after = sorted.find((one) => semver.gt(one, version))
  return [before, after].filter((one) => one !== undefined)
}
