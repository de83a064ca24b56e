/** What came of running the scripts of a bootstrap host. Plain and serialisable. */
import type { ServiceRecordEntry } from '../service-records.ts'

export type UnitOutcome =
  /** Ended with 0. */
  | 'succeeded'
  /** Ended with another status: systemd would start it again, or give up. */
  | 'failed'
  /** Did the same thing without success until the rehearsal stopped it: on the machine it would go on for ever. */
  | 'looping'
  /** Still at work when the time of the rehearsal was up. */
  | 'timed-out'
  /** Runs as long as the machine does. */
  | 'running'
  /** Not started, since something that it needs did not come up. */
  | 'not-started'
  /** A condition of the unit does not hold. */
  | 'condition-failed'

export interface RehearsedUnit {
  /** `bootkube.service` */
  readonly name: string
  readonly outcome: UnitOutcome
  /** The stage that was open when it ended badly, as its service record says it. */
  readonly stage?: string
  /** Stages that ended well, in order. */
  readonly stagesDone: readonly string[]
  /** The last lines that it printed: what an administrator would see in the journal. */
  readonly journal: readonly string[]
  /** The genuine record of the service, where it left one. */
  readonly record?: readonly ServiceRecordEntry[]
  readonly durationMs: number
  /** What was asked of stand-ins that failed, in the words of the scripts: `podman pull …`. */
  readonly failedCalls: readonly { readonly command: string; readonly status: number }[]
  /** For `not-started`: the unit that did not come up. */
  readonly because?: string
}

export interface LevelTwoReport {
  /** Why the scripts could not be run here; nothing else is there then. */
  readonly unavailable?: string
  /** In the order in which they were started. */
  readonly units: readonly RehearsedUnit[]
  /** True where bootkube came to its end. */
  readonly isComplete: boolean
  /** Programs that scripts called and that nobody stood in for: taken as successful. */
  readonly unknownPrograms: readonly string[]
  readonly durationMs: number
}
