/**
 * The step registry of openshift/release, as its files and ci-tools know it.
 *
 * Field names are those of the YAML, so that a resolved step prints as ci-operator's own resolver prints it
 * (openshift/ci-tools: pkg/api/types.go `LiteralTestStep`, `MultiStageTestConfiguration`).
 */

import type { Phase } from '../../journal/events.ts'

export const phases = ['pre', 'test', 'post'] as const satisfies readonly Phase[]

/** A parameter that a step declares. Without `default` somebody has to give a value; `''` is a value. */
export interface StepParameter {
  readonly name: string
  readonly default?: string
  readonly documentation?: string
}

export interface StepCredential {
  readonly namespace?: string
  readonly name?: string
  readonly mount_path?: string
  /** The newer form, of a secret manager. */
  readonly bundle?: string
  readonly collection?: string
  readonly group?: string
  readonly field?: string
  readonly as?: string
}

/** An image that arrives as a pull specification in a variable. */
export interface StepDependency {
  readonly name: string
  readonly env: string
}

export interface StepLease {
  readonly resource_type: string
  readonly env: string
  readonly count?: number
}

export interface DnsConfig {
  readonly nameservers?: readonly string[]
  readonly searches?: readonly string[]
}

export interface ImageStreamTag {
  readonly namespace: string
  readonly name: string
  readonly tag: string
  readonly as?: string
}

export interface StepResources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** One script with what it needs: a reference of the registry, or a step that is written out where it is used. */
export interface LiteralStep {
  readonly as: string
  readonly from?: string
  readonly from_image?: ImageStreamTag
  /** In a loaded registry: the text of the script. */
  readonly commands: string
  readonly run_as_script?: boolean
  readonly resources?: StepResources
  /** Go durations, as they stand in the file. */
  readonly timeout?: string | number
  readonly grace_period?: string | number
  readonly credentials?: readonly StepCredential[]
  readonly env?: readonly StepParameter[]
  readonly dependencies?: readonly StepDependency[]
  readonly dnsConfig?: DnsConfig
  readonly leases?: readonly StepLease[]
  readonly optional_on_success?: boolean
  readonly best_effort?: boolean
  readonly no_kubeconfig?: boolean
  readonly cli?: string
  readonly observers?: readonly string[]
  readonly node_architecture?: string
  readonly nested_podman?: boolean
  readonly [later: string]: unknown
}

/** Where the value of a parameter was decided; the outermost that gives one wins. */
export interface ParameterOrigin {
  readonly name: string
  /** undefined: declared without default, and nobody gives a value. */
  readonly value: string | undefined
  readonly from: 'test' | 'workflow' | 'chain' | 'step'
  /** Of that test, workflow, chain or step. */
  readonly by: string
}

/** A step in the flat list that ci-operator runs, with what its resolver throws away. */
export interface ResolvedStep {
  /** What `resolve --json` prints: `env` has the values that were decided. */
  readonly literal: LiteralStep
  readonly phase: Phase
  /** The chains that it stands in, outermost first. */
  readonly chainPath: readonly string[]
  readonly parameters: readonly ParameterOrigin[]
}

/** An account of a cloud, and what has to be leased of it (openshift/ci-tools: pkg/api/types.go `ClusterProfileLiteral`). */
export interface ClusterProfile {
  readonly name: string
  readonly lease_type?: string
  readonly ip_pool_lease_type?: string
  readonly cluster_type?: string
  readonly secret?: string
}

export interface ResolvedWorkflow {
  readonly name: string
  readonly pre: readonly ResolvedStep[]
  readonly test: readonly ResolvedStep[]
  readonly post: readonly ResolvedStep[]
  /** Run beside `pre` and `test`; `as` is the name of the observer. */
  readonly observers: readonly LiteralStep[]
  readonly clusterProfile?: string
  /** What the registry knows of that profile, where it has a cluster-profiles-config.yaml. */
  readonly clusterProfileLiteral?: ClusterProfile
  readonly leases: readonly StepLease[]
  readonly allowSkipOnSuccess: boolean
  readonly allowBestEffortPostSteps: boolean
  readonly dependencyOverrides: Readonly<Record<string, string>>
}

/** One without a step. */
export function emptyWorkflow(name: string): ResolvedWorkflow {
  return {
    name,
    pre: [],
    test: [],
    post: [],
    observers: [],
    leases: [],
    allowSkipOnSuccess: false,
    allowBestEffortPostSteps: false,
    dependencyOverrides: {},
  }
}
