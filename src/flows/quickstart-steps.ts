/** What the quickstart does, step by step, with what was measured in each. */
import type { Finding } from '../errors/finding.ts'
import type { Digest } from '../oci/digest.ts'
import type { Traffic } from './count-traffic.ts'

/** The steps in their order. */
export const quickstartSteps = [
  'upstream',
  'mirror',
  'again',
  'resources',
  'gap',
  'coverage',
  'egress',
  'damage',
  'repair',
  'rehearsal',
] as const
export type QuickstartStep = (typeof quickstartSteps)[number]

export interface UpstreamFacts {
  readonly step: 'upstream'
  readonly version: string
  readonly components: number
  /** Distinct blobs and their bytes. */
  readonly blobs: number
  readonly bytes: number
  readonly address: string
  /** Of the key that signed the release. */
  readonly keyId: string
}

export interface MirrorFacts {
  readonly step: 'mirror'
  readonly images: number
  readonly target: string
  /** Distinct blobs that the manifests name, and their bytes: what has to move at least. */
  readonly blobs: number
  readonly bytes: number
  readonly read: Traffic
  readonly sent: Traffic
  readonly mounted: number
  /** What would have moved if every image were copied by itself. */
  readonly logicalBytes: number
}

export interface AgainFacts {
  readonly step: 'again'
  readonly images: number
  readonly read: Traffic
  readonly sent: Traffic
}

export interface ResourcesFacts {
  readonly step: 'resources'
  readonly files: readonly string[]
  /** Where they send nodes, in the order of the sources. */
  readonly redirects: readonly { readonly source: string; readonly mirror: string }[]
}

export interface GapFacts {
  readonly step: 'gap'
  /** Of the upstream, which does not answer any more. */
  readonly address: string
}

export interface CoverageFacts {
  readonly step: 'coverage'
  readonly images: number
  readonly manifests: number
  readonly blobs: number
  /** Bytes read back from the mirror and hashed. */
  readonly bytes: number
}

export interface EgressFacts {
  readonly step: 'egress'
  /** Images that the release names, as read through the mirror. */
  readonly components: number
  /** References resolved as a node would, each found inside. */
  readonly references: number
}

export interface DamagedImage {
  readonly component: string
  readonly damage: 'layer removed' | 'byte changed'
  readonly digest: Digest
  /** What finds it, and the finding. */
  readonly command: 'verify mirror' | 'verify mirror --deep'
  readonly finding: Finding
}

export interface DamageFacts {
  readonly step: 'damage'
  readonly images: readonly DamagedImage[]
}

export interface RepairFacts {
  readonly step: 'repair'
  readonly sent: Traffic
  /** Images that were verified, every byte, after it. */
  readonly images: number
}

export interface RehearsalFacts {
  readonly step: 'rehearsal'
  /** Images that the bootstrap host and the nodes would pull, each found at the mirror with all its layers. */
  readonly images: number
  /** Stages that the scripts of the bootstrap went through. */
  readonly stages: number
  /** Why the scripts were not run. */
  readonly unavailable?: string
  /** The same without the CA of the mirror in the config. */
  readonly withoutTrust: {
    readonly finding: Finding
    /** Where the bootstrap would get stuck. */
    readonly stoppedAt?: { readonly unit: string; readonly stage?: string }
  }
}

type AnyFacts =
  | UpstreamFacts
  | MirrorFacts
  | AgainFacts
  | ResourcesFacts
  | GapFacts
  | CoverageFacts
  | EgressFacts
  | DamageFacts
  | RepairFacts
  | RehearsalFacts
/** What one step found, and how long it took. */
export type StepFacts = AnyFacts & { readonly elapsedMs: number }
/** What a step returns: the time is taken around it. */
export type FactsOf<Step extends QuickstartStep> = Extract<AnyFacts, { step: Step }>

export type QuickstartEvent =
  | { readonly type: 'quickstart.step-began'; readonly step: QuickstartStep }
  | { readonly type: 'quickstart.step-done'; readonly facts: StepFacts }
