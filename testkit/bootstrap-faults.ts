/**
 * What can be wrong with a bootstrap, one fault at a time: how it comes about, and what a rehearsal must call it.
 *
 * The names of the findings are in `bootstrap-findings.ts`. `section` is the number of the failure in the catalogue of
 * failures that are known from the field, or what the fault is about where it has none there.
 */
import type { BootstrapFindingId } from './bootstrap-findings.ts'
import type { BootstrapSite } from './bootstrap-site.ts'
import type { IgnitionDocument } from './ignition-document.ts'

/** What a fault may change. */
export interface FaultyBootstrap {
  readonly site: BootstrapSite
  /** The bootstrap.ign of the site. */
  readonly document: IgnitionDocument
  /** Address by host name; what is taken out of it is resolved by nobody. */
  readonly via: Map<string, string>
  /** How far the clock of the machine that rehearses is ahead of the site's, in milliseconds. */
  clockOffsetMs: number
}

/** Where the scripts get stuck: the unit, and the stage where its record has one. */
export interface FailingStage {
  /** Without `.service`. */
  readonly service: 'node-image-pull' | 'release-image' | 'crio-configure' | 'kubelet' | 'bootkube'
  readonly stage?: string
}

export interface BootstrapFault {
  readonly id: string
  readonly title: string
  readonly section: string
  /** The finding that must be named, whatever else is. */
  readonly expect: BootstrapFindingId
  /** Absent where the scripts run through all the same, or cannot be started at all. */
  readonly expectedStage?: FailingStage
  readonly inject: (bootstrap: FaultyBootstrap) => void | Promise<void>
}
