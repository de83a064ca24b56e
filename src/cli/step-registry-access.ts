/** The options by which every `steps` command finds its registry. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { loadRegistry } from '../workflow/step-registry/load-registry.ts'
import type { Registered, Registry, RegistryKind } from '../workflow/step-registry/registry.ts'
import type { CliContext } from './context.ts'
import { count } from './render/quantities.ts'

export interface StepRegistryOptions {
  readonly registry: string
  readonly flat?: boolean
  readonly withoutScripts?: boolean
}

export function addStepRegistryOptions(command: Command): Command {
  return command
    .requiredOption('--registry <dir>', 'ci-operator/step-registry of openshift/release, or one that is made like it')
    .option('--flat', 'all files are in one directory, as a ConfigMap has them')
    .option('--without-scripts', 'do not read the scripts: they need not be there')
}

/**
 * What loads of the registry; what does not is told on stderr, since it need not matter for what was asked.
 *
 * @throws KnownError FILE_UNREADABLE, STEP_REGISTRY_INVALID where nothing of it loads
 */
export function openStepRegistry(
  options: StepRegistryOptions,
  { cwd, log }: Pick<CliContext, 'cwd' | 'log'>,
): Registry {
  const registry = readStepRegistry(options, { cwd })
  if (registryParts(registry).length === 0) throw nothingLoaded(options.registry, registry.findings)
  if (registry.findings.length > 0) {
    log.warn(
      `${count(registry.findings.length, 'fault')} in files of the registry; sallyport steps validate lists them`,
    )
  }
  return registry
}

const shownFaults = 5

function nothingLoaded(directory: string, findings: readonly Finding[]): KnownError {
  const faults = findings.slice(0, shownFaults).map(({ summary }) => `  ${summary}`)
  const more = findings.length > shownFaults ? [`  and ${findings.length - shownFaults} more`] : []
  const lines = [`${directory} holds no step, chain, workflow or observer that loads`, ...faults, ...more]
  return new KnownError('STEP_REGISTRY_INVALID', lines.join('\n'), {
    details: { directory, findings: findings.length },
  })
}

/** @throws KnownError FILE_UNREADABLE */
export function readStepRegistry(options: StepRegistryOptions, { cwd }: Pick<CliContext, 'cwd'>): Registry {
  const { registry, flat = false, withoutScripts = false } = options
  return loadRegistry(resolve(cwd, registry), { flat, withoutScripts })
}

export interface FoundPart {
  readonly kind: RegistryKind
  readonly part: Registered
}

/** Everything of the registry, by kind and name. */
export function registryParts({ references, chains, workflows, observers }: Registry): readonly FoundPart[] {
  const of = (kind: RegistryKind, parts: ReadonlyMap<string, Registered>) =>
    [...parts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((part) => ({ kind, part }))
  return [...of('ref', references), ...of('chain', chains), ...of('workflow', workflows), ...of('observer', observers)]
}
