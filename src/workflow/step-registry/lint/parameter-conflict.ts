/**
 * One name, several values. Each step takes its own default unless something around it gives a value, so two steps of one
 * workflow can be told different things: three zones for the VPC, two for the cluster in it.
 */
import type { ResolvedStep, ResolvedWorkflow } from '../model.ts'
import type { Registry } from '../registry.ts'
import { type LintFinding, lintFinding } from './lint-finding.ts'

export interface ParameterConflict {
  readonly name: string
  /** Each value with the first step that has it. */
  readonly values: ReadonlyMap<string, string>
}

/** Different values that steps of a workflow really get. */
export function conflictingValues(workflow: ResolvedWorkflow): readonly ParameterConflict[] {
  const seen = new ValuesByName()
  for (const { literal, parameters } of everyStep(workflow))
    for (const { name, value } of parameters) seen.add(name, value, literal.as)
  return seen.conflicts()
}

/** Names with more than one default in the registry: information, and a warning where two of them meet in a workflow. */
export function lintDefaults(registry: Registry, workflows: readonly ResolvedWorkflow[]): readonly LintFinding[] {
  const seen = new ValuesByName()
  for (const { name: step, step: literal } of registry.references.values())
    for (const { name, default: value } of literal.env ?? []) seen.add(name, value, step)
  const meetings = new Map<string, Meeting[]>()
  for (const workflow of workflows)
    for (const conflict of conflictingValues(workflow)) {
      const others = meetings.get(conflict.name) ?? []
      meetings.set(conflict.name, [...others, { workflow: workflow.name, conflict }])
    }
  const met = (name: string) => meetings.get(name) ?? []
  return seen
    .conflicts()
    .toSorted((a, b) => met(b.name).length - met(a.name).length)
    .map((conflict) => {
      const file = registry.references.get([...conflict.values.values()][0] ?? '')?.file
      return defaultsFinding(conflict, met(conflict.name), file)
    })
}

interface Meeting {
  readonly workflow: string
  readonly conflict: ParameterConflict
}

function defaultsFinding({ name, values }: ParameterConflict, met: readonly Meeting[], file?: string): LintFinding {
  const [first] = met
  const many = met.length === 1 ? 'one workflow hands' : `${met.length} workflows hand`
  return lintFinding('steps.conflicting-defaults', {
    severity: first === undefined ? 'info' : 'warning',
    summary: `${name} has ${values.size} defaults${first ? `; ${many} several of them to its steps` : ''}`,
    evidence: first ? `${first.workflow}: ${valuesText(first.conflict.values)}` : valuesText(values),
    remedy: `Set ${name} in the workflow, or give the steps one default.`,
    occurrences: values.size,
    ...(file !== undefined && { where: { file } }),
  })
}

/** The same for one workflow alone. */
export function lintWorkflowValues(workflow: ResolvedWorkflow, file?: string): readonly LintFinding[] {
  return conflictingValues(workflow).map(({ name, values }) =>
    lintFinding('steps.conflicting-defaults', {
      summary: `${workflow.name}: steps get ${values.size} different values of ${name}`,
      evidence: valuesText(values),
      remedy: `Set ${name} in the workflow.`,
      occurrences: values.size,
      ...(file !== undefined && { where: { file } }),
    }),
  )
}

class ValuesByName {
  readonly #names = new Map<string, Map<string, string>>()

  add(name: string, value: string | undefined, by: string): void {
    if (value === undefined) return
    const values = this.#names.get(name) ?? new Map<string, string>()
    this.#names.set(name, values)
    if (!values.has(value)) values.set(value, by)
  }

  conflicts(): ParameterConflict[] {
    return [...this.#names].flatMap(([name, values]) => (values.size > 1 ? [{ name, values }] : []))
  }
}

function everyStep({ pre, test, post }: ResolvedWorkflow): readonly ResolvedStep[] {
  return [...pre, ...test, ...post]
}

function valuesText(values: ReadonlyMap<string, string>): string {
  return [...values].map(([value, by]) => `${JSON.stringify(value)} in ${by}`).join(', ')
}
