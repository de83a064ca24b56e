/** Values that are given and that no step takes (openshift/ci-tools: pkg/registry/stack.go `checkUnused`). */
import type { LiteralStep } from './model.ts'
import { type ParameterStack, recordNames, type StackRecord } from './parameter-stack.ts'
import type { Registry, TestStep } from './registry.ts'
import type { StepError } from './step-error.ts'

/**
 * What `record` gives and no step takes.
 *
 * @param replaced lists of the workflow that a test put its own in the place of: what their steps take is no fault
 */
export function unusedErrors(
  { registry, stack }: { readonly registry: Registry; readonly stack: ParameterStack },
  record: StackRecord,
  replaced: readonly (readonly TestStep[])[] = [],
): readonly StepError[] {
  if (record.unusedEnv.size === 0 && record.unusedDependencies.size === 0) return []
  const taken = { env: new Set<string>(), dependencies: new Set<string>() }
  const unknown: string[] = []
  for (const step of replaced.flatMap((steps) => leavesOf(registry, steps, { above: [], unknown }))) {
    for (const { name } of step.env ?? []) taken.env.add(name)
    for (const { env } of step.dependencies ?? []) taken.dependencies.add(env)
  }
  if (unknown.length > 0) {
    return unknown.map((name) => ({
      kind: 'dangling',
      above: [],
      message: `invalid reference: ${name}`,
      subject: name,
    }))
  }
  const complain = (what: string, name: string, gives: (one: StackRecord) => boolean): StepError => {
    const where = recordNames({ records: stack.records.filter(gives) }).join(' ')
    const message = `${what} "${name}" is overridden in [${where}] but not declared in any step`
    return { kind: 'unused', above: recordNames(stack), message, subject: name }
  }
  return [
    ...[...record.unusedEnv]
      .filter((name) => !taken.env.has(name))
      .map((name) => complain('parameter', name, ({ env }) => env.has(name))),
    ...[...record.unusedDependencies]
      .filter((name) => !taken.dependencies.has(name))
      .map((name) => complain('dependency', name, ({ dependencies }) => dependencies.has(name))),
  ]
}

interface LeafWalk {
  readonly above: readonly string[]
  /** Names that lead nowhere. */
  readonly unknown: string[]
}

/** Every step that a list leads to, once for each time that it does. */
function leavesOf(registry: Registry, steps: readonly TestStep[], walk: LeafWalk): readonly LiteralStep[] {
  const { above, unknown } = walk
  return steps.flatMap(({ ref, chain, literal }) => {
    const inner = chain === undefined || above.includes(chain) ? undefined : registry.chains.get(chain)
    if (chain !== undefined && inner !== undefined) {
      return leavesOf(registry, inner.steps, { unknown, above: [...above, chain] })
    }
    const step = chain !== undefined ? undefined : ref === undefined ? literal : registry.references.get(ref)?.step
    if (step !== undefined) return [step]
    unknown.push(...[chain ?? ref].filter((name) => name !== undefined))
    return []
  })
}
