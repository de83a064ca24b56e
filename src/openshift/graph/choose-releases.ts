/** Which releases a channel of the configuration asks for. Source: openshift/oc-mirror `internal/pkg/release/cincinnati.go`. */

import * as semver from 'semver'
import { KnownError } from '../../errors/known-error.ts'
import type { UpdateGraph, UpdateRelease, UpdateRisk } from './update-graph.ts'

export interface ChannelRequest {
  readonly type: 'ocp' | 'okd'
  /** `stable-4.18`, `eus-4.16`; OKD: `stable-4`, `stable-scos-4`. */
  readonly name: string
  readonly minVersion?: string
  readonly maxVersion?: string
  readonly shortestPath?: boolean
  readonly full?: boolean
}

export interface ChosenRelease extends UpdateRelease {
  /** Why it is mirrored, for a person: `head of stable-4.18`. */
  readonly why: string
}

export interface TakenRisk {
  readonly from: string
  readonly to: string
  readonly risk: UpdateRisk
}

export interface ChosenReleases {
  /** From the lowest version to the highest. */
  readonly releases: readonly ChosenRelease[]
  readonly risks: readonly TakenRisk[]
}

/** Every channel whose answer is needed, the lowest minor first. */
export function channelsFor(request: ChannelRequest): readonly string[] {
  return [request.name]
}

export function chooseReleases(
  graph: UpdateGraph,
  request: ChannelRequest,
  options: { filter?: RegExp } = {},
): ChosenReleases {
  const sorted = graph.releases.toSorted((a, b) => semver.compareBuild(a.version, b.version))
  const head = sorted.filter(({ version }) => options.filter?.test(version) !== false).at(-1)
  if (!head) throw new KnownError('RELEASE_UNKNOWN', `no release in ${request.name}`)
  return { releases: [{ ...head, why: `head of ${request.name}` }], risks: [] }
}
