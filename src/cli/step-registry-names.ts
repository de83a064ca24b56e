/** Parts of a registry by the names that people type. */
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import { faultsOfName } from '../workflow/step-registry/faulty-files.ts'
import type { Registry } from '../workflow/step-registry/registry.ts'
import { type FoundPart, registryParts } from './step-registry-access.ts'

/** @throws KnownError STEPS_UNKNOWN */
export function findParts(registry: Registry, asked: string): readonly FoundPart[] {
  const [, kind, name = ''] = /^(?:(ref|chain|workflow|observer)\/)?(.*)$/.exec(asked) ?? []
  const found = registryParts(registry).filter(
    ({ kind: own, part }) => part.name === name && (kind === undefined || own === kind),
  )
  if (found.length > 0) return found
  const names = registryParts(registry).flatMap(({ kind: own, part }) =>
    kind === undefined || own === kind ? [part.name] : [],
  )
  throw unknownName(registry, { what: kind ?? 'step, chain, workflow or observer', name, names })
}

/** @throws KnownError STEPS_UNKNOWN */
export function requireWorkflow(registry: Registry, name: string): void {
  if (registry.workflows.has(name)) return
  throw unknownName(registry, { what: 'workflow', name, names: [...registry.workflows.keys()] })
}

interface UnknownName {
  readonly what: string
  readonly name: string
  /** What there is instead. */
  readonly names: readonly string[]
}

function unknownName(registry: Registry, { what, name, names }: UnknownName): KnownError {
  const near = nearest(name, names)
  const absent = `The registry has no ${what} named ${name}${near === undefined ? '' : `; did you mean ${near}?`}`
  return new KnownError('STEPS_UNKNOWN', [absent, ...faultsOfName(registry, name)].join('\n  '), { details: { name } })
}
