/** What a fault of a bootstrap is, and what it may change. */
import type { BootstrapFindingId } from '../bootstrap-findings.ts'
import type { BootstrapSite, BootstrapSiteOptions } from '../bootstrap-site.ts'
import type { IgnitionDocument } from '../ignition-document.ts'
import type { Cleanup } from '../temp-dir.ts'

/** What a fault may change. */
export interface FaultyBootstrap {
  /** Where a fault that starts something leaves its cleaning up. */
  readonly t: Cleanup
  readonly site: BootstrapSite
  /** The bootstrap.ign of the site. */
  readonly document: IgnitionDocument
  /** Address by host name; what is taken out of it is resolved by nobody. */
  readonly via: Map<string, string>
  /** How far the clock of the machine that rehearses is ahead of the site's, in milliseconds. */
  clockOffsetMs: number
}

/** What fails first: the unit, and the stage where its record has one. Names of the API fail theirs and stop nothing. */
export interface FailingStage {
  /** Without `.service`. */
  readonly service: 'node-image-pull' | 'release-image' | 'bootkube'
  readonly stage?: string
}

export interface BootstrapFault {
  readonly id: string
  readonly title: string
  /** The number of the failure in the catalogue of failures known from the field, or what it is about where it has none. */
  readonly section: string
  /** The finding that must be named, whatever else is. */
  readonly expect: BootstrapFindingId
  /** Absent where the scripts come to their end all the same, or cannot be started. */
  readonly expectedStage?: FailingStage
  /** The site that it happens at. Default: a site of 4.21. */
  readonly at?: BootstrapSiteOptions
  readonly inject: (bootstrap: FaultyBootstrap) => void | Promise<void>
}

/** Where a bootstrap of 4.19 and later stands still when it cannot read the release. */
export const nodeImagePull: FailingStage = { service: 'node-image-pull' }

/** Where one of before does. */
export const releaseImagePull: FailingStage = { service: 'release-image', stage: 'pull-release-image' }

export function bootkubeStage(stage: string): FailingStage {
  return { service: 'bootkube', stage }
}

/** Paths that several faults change. */
export const hostPaths = {
  registries: '/etc/containers/registries.conf',
  trustBundle: '/etc/pki/ca-trust/source/anchors/ca.crt',
  pullSecret: '/root/.docker/config.json',
  bootkube: '/usr/local/bin/bootkube.sh',
} as const
