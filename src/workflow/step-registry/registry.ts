/** What the files of a step registry say, each thing under its kind and name: a chain and a step may share a name. */
import type { Finding } from '../../errors/finding.ts'
import type {
  ClusterProfile,
  DnsConfig,
  ImageStreamTag,
  LiteralStep,
  StepLease,
  StepParameter,
  StepResources,
} from './model.ts'

export type RegistryKind = 'ref' | 'chain' | 'workflow' | 'observer'

/** What is common to everything that has a file of its own. */
export interface Registered {
  /** `as`; of an observer `name`. */
  readonly name: string
  /** The YAML, as a path that can be opened. */
  readonly file: string
  readonly documentation?: string
}

export interface Reference extends Registered {
  readonly step: LiteralStep
  /** The file of its script, as a path that can be opened. */
  readonly script: string
}

/** A place in a list of steps. Exactly one of the three, or it is a fault. */
export interface TestStep {
  readonly ref?: string
  readonly chain?: string
  readonly literal?: LiteralStep
}

export interface Chain extends Registered {
  readonly steps: readonly TestStep[]
  readonly env?: readonly StepParameter[]
  readonly leases?: readonly StepLease[]
}

/** `steps` of a test or a workflow (openshift/ci-tools: pkg/api/types.go `MultiStageTestConfiguration`). */
export interface TestConfiguration {
  readonly cluster_profile?: string
  readonly workflow?: string
  readonly pre?: readonly TestStep[]
  readonly test?: readonly TestStep[]
  readonly post?: readonly TestStep[]
  readonly env?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly dependency_overrides?: Readonly<Record<string, string>>
  readonly dnsConfig?: DnsConfig
  readonly leases?: readonly StepLease[]
  readonly allow_skip_on_success?: boolean
  readonly allow_best_effort_post_steps?: boolean
  readonly observers?: { readonly enable?: readonly string[]; readonly disable?: readonly string[] }
  readonly node_architecture?: string
  readonly node_architecture_overrides?: Readonly<Record<string, string>>
}

export interface RegisteredWorkflow extends Registered {
  readonly steps: TestConfiguration
}

export interface Observer {
  readonly name: string
  readonly from?: string
  readonly from_image?: ImageStreamTag
  readonly commands: string
  readonly resources?: StepResources
  readonly timeout?: string | number
  readonly grace_period?: string | number
  readonly env?: readonly StepParameter[]
}

export interface RegisteredObserver extends Registered {
  readonly observer: Observer
  readonly script: string
}

export interface Registry {
  readonly root: string
  readonly references: ReadonlyMap<string, Reference>
  readonly chains: ReadonlyMap<string, Chain>
  readonly workflows: ReadonlyMap<string, RegisteredWorkflow>
  readonly observers: ReadonlyMap<string, RegisteredObserver>
  /** undefined: the registry says nothing of profiles, so none can be unknown. */
  readonly clusterProfiles: ReadonlyMap<string, ClusterProfile> | undefined
  /** False: scripts were left out on purpose, and `commands` still names the file. */
  readonly hasScripts: boolean
  /** What kept files from being loaded. Only what loaded is in the maps. */
  readonly findings: readonly Finding[]
}
