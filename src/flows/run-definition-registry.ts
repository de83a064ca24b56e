import { stat } from 'node:fs/promises'
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import type { Json } from '../journal/events.ts'
import { ifThere } from '../store/presence.ts'
import { preflight } from '../workflow/registry-run/preflight.ts'
import { registryWorkflow } from '../workflow/registry-run/registry-workflow.ts'
import type { ContainerOptions, RegistryRunOptions } from '../workflow/registry-run/run-options.ts'
import { faultsOfName } from '../workflow/step-registry/faulty-files.ts'
import { loadRegistry } from '../workflow/step-registry/load-registry.ts'
import type { ParameterOrigin, ResolvedStep, ResolvedWorkflow } from '../workflow/step-registry/model.ts'
import type { Registry } from '../workflow/step-registry/registry.ts'
import { resolveWorkflow } from '../workflow/step-registry/resolve-test.ts'
import type { DefinitionKind, RunParameter } from './run-definition.ts'

/** A workflow of a step registry, with what its user gave beside it. */
export interface RegistryDefinition {
  readonly kind: 'registry'
  /** Absolute path of the registry. */
  readonly registry: string
  readonly workflow: string
  readonly options: RegistryOptions
  /** With its scripts: what is run where the registry is not there. */
  readonly resolved: ResolvedWorkflow
}

/** What is kept of what a user gives; what is of this machine alone (its PATH) is given anew each time. */
export type RegistryOptions = Omit<RegistryRunOptions, 'path' | 'container'> & {
  /** Values of parameters, above all others. */
  readonly env?: Readonly<Record<string, string>>
  readonly container?: Omit<ContainerOptions, 'env'>
}

/** @throws KnownError FILE_UNREADABLE, STEP_REGISTRY_INVALID, STEPS_UNRESOLVED */
export function defineRegistryRun(registry: string, workflow: string, options: RegistryOptions): RegistryDefinition {
  const loaded = loadRegistry(registry)
  if (!loaded.workflows.has(workflow)) throw unknownWorkflow(loaded, { registry, workflow })
  try {
    const resolved = resolveWorkflow(loaded, workflow, { ...(options.env && { env: options.env }) })
    return { kind: 'registry', registry, workflow, options, resolved }
  } catch (error) {
    throw error instanceof KnownError && error.code === 'STEPS_UNRESOLVED'
      ? notLoaded(error, { registry, workflow })
      : error
  }
}

function unknownWorkflow(
  loaded: Registry,
  { registry, workflow }: Pick<RegistryDefinition, 'registry' | 'workflow'>,
): KnownError {
  const near = nearest(workflow, [...loaded.workflows.keys()])
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  const lines = [`The registry has no workflow ${workflow}${meant}`, ...faultsOfName(loaded, workflow)]
  return new KnownError('WORKFLOW_UNKNOWN', lines.join('\n  '), {
    hint: `List them: sallyport steps ls --kind workflow --registry ${registry}`,
    details: { workflow },
  })
}

const shownFaults = 3

/** What cannot be resolved for want of files that do not load is not the fault of who refers to it: only the files are told. */
function notLoaded(
  error: KnownError,
  { registry, workflow }: Pick<RegistryDefinition, 'registry' | 'workflow'>,
): KnownError {
  const faults = error.message.split('\n').filter((line) => line.startsWith('failed to load'))
  if (faults.length === 0) return error
  const more = faults.length > shownFaults ? [`and ${faults.length - shownFaults} more`] : []
  const first = `${workflow} needs files of ${registry} that do not load`
  return new KnownError('STEP_REGISTRY_INVALID', [first, ...faults.slice(0, shownFaults), ...more].join('\n  '), {
    hint: 'sallyport steps validate lists them all. Where the scripts are not there on purpose, sallyport steps resolve --without-scripts shows what would run.',
    details: { registry, files: faults.length },
  })
}

export const registryKind: DefinitionKind<RegistryDefinition> = {
  identity: ({ registry, workflow, options }) => [registry, workflow, options as unknown as Json],
  async open(kept, { env }, { isCopyWanted = false }) {
    const isThere = !isCopyWanted && ((await ifThere(stat(kept.registry)))?.isDirectory() ?? false)
    const definition = isThere ? defineRegistryRun(kept.registry, kept.workflow, kept.options) : kept
    const options = onThisMachine(definition.options, env)
    const workflow = registryWorkflow(definition.resolved, options)
    const { pre, test, post } = definition.resolved
    const leaves = [...pre, ...test, ...post]
    return {
      workflow,
      definition,
      from: isThere ? 'source' : 'copy',
      secrets: () => Promise.resolve(undefined),
      asksTeardown: false,
      preflight: () => preflight(definition.resolved, options),
      parameters: (id) => parametersOf(leaves[workflow.steps.findIndex(({ outline }) => outline.id === id)]),
    }
  },
}

/** Of the environment of podman everything is given: it needs what it was set up with. */
function onThisMachine({ env: _, container, ...options }: RegistryOptions, env: Env): RegistryRunOptions {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return {
    ...options,
    path: env['PATH'] ?? defaultPath,
    ...(container && { container: { ...container, env: Object.fromEntries(given) } }),
  }
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

function parametersOf(step: ResolvedStep | undefined): readonly RunParameter[] {
  return (step?.parameters ?? []).map(({ name, value, ...origin }) => ({ name, value, by: decidedBy(origin) }))
}

function decidedBy({ from, by }: Pick<ParameterOrigin, 'from' | 'by'>): string {
  if (from === 'step') return 'default of the step'
  return by.startsWith('--') ? by : `${from} ${by}`
}
