/** The whole of a rehearsal, for people, for programs and for a file. Plain and serialisable. */
import type { Finding } from '../errors/finding.ts'
import type { LevelOneReport } from './level-one/level-one-report.ts'
import type { LevelTwoReport } from './level-two/level-two-report.ts'

export interface RehearsalReport {
  /** As it was named. */
  readonly file: string
  /** ISO 8601, UTC: by the clock of the machine that rehearsed. */
  readonly rehearsedAt: string
  readonly verdict: Verdict
  /** Absent where the file is no config. */
  readonly bootstrap?: RehearsedBootstrap
  /** Errors first. */
  readonly findings: readonly Finding[]
  /** Ids of findings that somebody took upon himself: they count as notes. */
  readonly accepted: readonly string[]
  readonly levelOne?: Omit<LevelOneReport, 'findings'>
  /** Absent where only level 1 was asked for, or the config is none. */
  readonly levelTwo?: LevelTwoReport
  readonly notProven: readonly string[]
  readonly durationMs: number
}

export interface Verdict {
  /** True where no finding is an error. */
  readonly isSound: boolean
  /** What would happen, in one line. */
  readonly headline: string
  /** What to do about it. */
  readonly next: string
  /** Where the scripts get stuck, as far as they were run. */
  readonly stoppedAt?: { readonly unit: string; readonly stage?: string }
}

export interface RehearsedBootstrap {
  /** Of Ignition. */
  readonly specification: string
  readonly releaseImage?: string
  readonly distribution: 'ocp' | 'okd'
  /** `CLUSTER.BASE` */
  readonly domain?: string
  readonly platform?: string
  /** What the control plane was taken for. */
  readonly architecture: string
  /** `4.18`, where the config tells. */
  readonly minor?: string
}
