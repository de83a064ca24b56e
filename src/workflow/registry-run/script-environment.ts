import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { LiteralStep, ResolvedWorkflow, StepLease } from '../step-registry/model.ts'
import type { RegistryRunOptions } from './run-options.ts'

type Variables = Readonly<Record<string, string>>

/** A workflow with what was given for it. */
export interface RegistryRun {
  readonly resolved: ResolvedWorkflow
  readonly options: RegistryRunOptions
}

/** Paths as the script is to see them. */
export interface ScriptPlaces {
  readonly run: string
  readonly shared: string
  readonly artifacts: string
  readonly temporary: string
  readonly home: string
  readonly undoRecorder: string
  /** Its own, to write to. */
  readonly kubeconfig: string
  readonly clusterProfile?: string
  readonly cli?: string
}

/** Variables whose values a workflow decides, or its user: what makes the success of a step stale when it changes. */
export function givenVariables(literal: LiteralStep, { resolved, options }: RegistryRun): Variables {
  const { releaseImages = {} } = options
  const releases = Object.entries(releaseImages).flatMap(([name, image]) => [
    [`RELEASE_IMAGE_${name.toUpperCase()}`, image],
    [`ORIGINAL_RELEASE_IMAGE_${name.toUpperCase()}`, image],
  ])
  const parameters = (literal.env ?? []).map(({ name, default: value = '' }) => [name, value])
  const dependencies = (literal.dependencies ?? []).map((dependency) => [
    dependency.env,
    dependencyValue(dependency, { resolved, options }) ?? '',
  ])
  return {
    ...options.proxy,
    ...Object.fromEntries(releases),
    ...options.leases,
    ...Object.fromEntries([...parameters, ...dependencies]),
  }
}

/** undefined where nobody gives it. `release:latest` is that release, where it is given. */
export function dependencyValue(
  { name, env }: { readonly name: string; readonly env: string },
  { resolved, options: { dependencies = {}, releaseImages = {} } }: RegistryRun,
): string | undefined {
  const [, release = ''] = /^release:(.+)$/.exec(name) ?? []
  return dependencies[env] ?? dependencies[name] ?? resolved.dependencyOverrides[env] ?? releaseImages[release]
}

/** Leases of the workflow and of its steps, each variable once. */
export function wantedLeases({ pre, test, post, leases, clusterProfileLiteral }: ResolvedWorkflow): StepLease[] {
  const ofProfile =
    clusterProfileLiteral?.lease_type === undefined
      ? []
      : [{ resource_type: clusterProfileLiteral.lease_type, env: 'LEASED_RESOURCE' }]
  const ofSteps = [...pre, ...test, ...post].flatMap(({ literal }) => literal.leases ?? [])
  const all: StepLease[] = [...ofProfile, ...leases, ...ofSteps]
  return [...new Map(all.map((lease) => [lease.env, lease])).values()]
}

/**
 * All of the environment of a script but PATH (openshift/ci-tools: pkg/steps/multi_stage/gen.go, cmd/entrypoint-wrapper).
 *
 * The later of two of the same name wins, as there.
 */
export function scriptEnvironment(literal: LiteralStep, run: RegistryRun, places: ScriptPlaces): Variables {
  const { shared, artifacts, temporary, home, undoRecorder, kubeconfig, cli } = places
  return {
    ...jobVariables(run, places.run),
    ...givenVariables(literal, run),
    ...(literal.no_kubeconfig !== true && {
      KUBECONFIG: kubeconfig,
      KUBECONFIGMINIMAL: join(shared, 'kubeconfig-minimal'),
      KUBEADMIN_PASSWORD_FILE: join(shared, 'kubeadmin-password'),
    }),
    ...profileVariables(run, places.clusterProfile),
    ...(cli !== undefined && { CLI_DIR: cli }),
    SHARED_DIR: shared,
    ARTIFACT_DIR: artifacts,
    HOME: home,
    TMPDIR: temporary,
    SALLYPORT_UNDO: undoRecorder,
  }
}

function jobVariables({ resolved, options }: RegistryRun, run: string): Variables {
  const jobName = options.jobName ?? resolved.name
  const hash = createHash('sha256').update(jobName).digest('hex').slice(0, 5)
  return {
    NAMESPACE: options.namespace ?? `ci-op-${createHash('sha256').update(run).digest('hex').slice(0, 8)}`,
    JOB_NAME: jobName,
    JOB_NAME_SAFE: resolved.name.replaceAll('_', '-'),
    JOB_NAME_HASH: hash,
    UNIQUE_HASH: hash,
    BUILD_ID: buildId(run),
  }
}

/** Nineteen digits, as scripts know it, that sort as the runs do. */
function buildId(run: string): string {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})/.exec(run) ?? []
  const rest = Number.parseInt(createHash('sha256').update(run).digest('hex').slice(0, 8), 16)
  return `${date}${time}`.padEnd(14, '0') + String(rest % 100_000).padStart(5, '0')
}

function profileVariables({ resolved, options }: RegistryRun, directory: string | undefined): Variables {
  const { clusterProfile, clusterProfileLiteral } = resolved
  const clusterType = options.clusterType ?? clusterProfileLiteral?.cluster_type
  const given = options.clusterProfileDir === undefined ? undefined : basename(options.clusterProfileDir)
  const name = clusterProfile ?? given
  return {
    ...(name !== undefined && { CLUSTER_PROFILE_NAME: name }),
    ...(clusterType !== undefined && { CLUSTER_TYPE: clusterType }),
    ...(directory !== undefined && { CLUSTER_PROFILE_DIR: directory }),
  }
}
