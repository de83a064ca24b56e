/** A resolved workflow of a step registry, as something to export, with what is lost on the way. */
import { type Finding, finding } from '../../errors/finding.ts'
import { goDurationMs } from '../step-registry/go-duration.ts'
import type { LiteralStep, ResolvedStep, ResolvedWorkflow } from '../step-registry/model.ts'
import type { ExportableStep, ExportableVariable, ExportableWorkflow, SecretMount } from './exportable-workflow.ts'

export interface RegistryExport {
  readonly workflow: ExportableWorkflow
  readonly findings: readonly Finding[]
}

export interface RegistryExportOptions {
  /** Pull specifications for the names that `from` uses: `cli`, `upi-installer`. */
  readonly images?: Readonly<Record<string, string>>
  /** Values for what the workflow leaves open: dependencies and leases. */
  readonly env?: Readonly<Record<string, string>>
}

/** Defaults of ci-operator (openshift/test-infra: pkg/apis/prowjobs/v1 `DefaultTimeout`, `DefaultGracePeriod`). */
const defaultTimeoutMs = 2 * 60 * 60 * 1000
const defaultGraceMs = 15_000

/** Best effort and optional steps are those that the workflow allows to be. */
export function exportableFromRegistry(
  resolved: ResolvedWorkflow,
  options: RegistryExportOptions = {},
): RegistryExport {
  const all = [...resolved.pre, ...resolved.test, ...resolved.post]
  const leases = resolved.leases.map(({ env }) => env)
  const steps = all.map((step) => exportableStep(step, { resolved, options, leases }))
  const workflow = {
    name: resolved.name,
    ...(resolved.clusterProfile !== undefined && { clusterProfile: resolved.clusterProfile }),
    steps,
  }
  return { workflow, findings: [...lostWith(resolved, all, options), ...unwritable(steps)] }
}

interface Context {
  readonly resolved: ResolvedWorkflow
  readonly options: RegistryExportOptions
  readonly leases: readonly string[]
}

function exportableStep({ literal, phase }: ResolvedStep, { resolved, options, leases }: Context): ExportableStep {
  return {
    id: literal.as,
    phase,
    script: literal.commands,
    isProgram: literal.run_as_script === true,
    image: imageOf(literal, options.images ?? {}),
    env: variablesOf(literal, { resolved, options, leases }),
    secretMounts: (literal.credentials ?? []).flatMap(secretMount),
    timeoutMs: goDurationMs(literal.timeout) ?? defaultTimeoutMs,
    graceMs: goDurationMs(literal.grace_period) ?? defaultGraceMs,
    isBestEffort: literal.best_effort === true && resolved.allowBestEffortPostSteps,
    isOptionalOnSuccess: phase === 'post' && literal.optional_on_success === true && resolved.allowSkipOnSuccess,
    resources: literal.resources ?? {},
  }
}

function imageOf({ from, from_image: image }: LiteralStep, images: Readonly<Record<string, string>>): string {
  if (image !== undefined) {
    const named = `registry.ci.openshift.org/${image.namespace}/${image.name}:${image.tag}`
    return images[`${image.namespace}/${image.name}:${image.tag}`] ?? named
  }
  return images[from ?? ''] ?? from ?? ''
}

function variablesOf(literal: LiteralStep, { resolved, options, leases }: Context): readonly ExportableVariable[] {
  const own = (literal.leases ?? []).map(({ env }) => env)
  const given = [...(literal.dependencies ?? []).map(({ env }) => env), ...leases, ...own].map((name) => {
    const value = options.env?.[name] ?? resolved.dependencyOverrides[name]
    return { name, ...(value !== undefined && { value }) }
  })
  const declared = (literal.env ?? []).map(({ name, default: value }) => ({
    name,
    ...(value !== undefined && { value }),
  }))
  return [...new Map([...declared, ...given].map((variable) => [variable.name, variable])).values()]
}

function secretMount({ name, mount_path: mountPath }: NonNullable<LiteralStep['credentials']>[number]): SecretMount[] {
  return name === undefined || mountPath === undefined ? [] : [{ secret: name, mountPath }]
}

/** What ci-operator does for a step and no export does; one finding for each kind. */
function lostWith(
  resolved: ResolvedWorkflow,
  steps: readonly ResolvedStep[],
  { images = {} }: RegistryExportOptions,
): readonly Finding[] {
  const users = (uses: (step: LiteralStep) => boolean) => [
    ...new Set(steps.filter(({ literal }) => uses(literal)).map(({ literal }) => literal.as)),
  ]
  const observers = resolved.observers.map((observer) => observer.as)
  return [
    lost('observer', observers, 'observers are not exported: nothing runs beside the steps'),
    lost(
      'cli',
      users(({ cli }) => cli !== undefined),
      'ci-operator puts oc into the image of these steps: theirs must have it',
    ),
    lost(
      'dns',
      users(({ dnsConfig }) => dnsConfig !== undefined),
      'the DNS servers of these steps are not exported',
    ),
    lost(
      'architecture',
      users((step) => step.node_architecture !== undefined),
      'the architecture of the node is not exported',
    ),
    lost(
      'podman',
      users((step) => step.nested_podman === true),
      'these steps run podman in their container: no export allows it',
    ),
    lost(
      'secret-store',
      users(({ credentials = [] }) => credentials.some(({ name }) => name === undefined)),
      'credentials of these steps come from a secret store: mount them by hand',
    ),
    lost(
      'image',
      users(({ from }) => from !== undefined && images[from] === undefined),
      'the images of these steps are known to ci-operator only by a tag: give them with --image NAME=PULLSPEC',
    ),
  ].flatMap((one) => one ?? [])
}

function lost(what: string, names: readonly string[], summary: string): Finding | undefined {
  if (names.length === 0) return undefined
  return finding({ id: `export.${what}-lost`, severity: 'warning', summary: `${summary} (${names.join(', ')})` })
}

const readOnlyInBash =
  /^(?:UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO|RANDOM|SRANDOM|SECONDS|LINENO|BASHPID|GROUPS|OPTIND)$/

/** What no shell, and no container, takes as it is. */
function unwritable(steps: readonly ExportableStep[]): readonly Finding[] {
  return steps.flatMap(({ id, env, script }) => {
    const names = env
      .map(({ name }) => name)
      .filter((name) => !/^[A-Za-z_]\w*$/.test(name) || readOnlyInBash.test(name))
    const isBinary = script.includes('\0') || env.some(({ value }) => value?.includes('\0'))
    return [
      ...names.map((name) =>
        finding({
          id: 'export.variable-name',
          severity: 'error',
          summary: `${id}: ${name} cannot be a variable of a shell script`,
        }),
      ),
      ...(isBinary
        ? [
            finding({
              id: 'export.binary',
              severity: 'error',
              summary: `${id} has a zero byte in its script or values`,
            }),
          ]
        : []),
    ]
  })
}
