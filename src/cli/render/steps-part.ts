/** One part of a step registry, for people. */
import { phases, type StepParameter } from '../../workflow/step-registry/model.ts'
import type { Owners } from '../../workflow/step-registry/owners.ts'
import type { TestStep } from '../../workflow/step-registry/registry.ts'
import type { RegistryNode } from '../../workflow/step-registry/registry-graph.ts'
import { tableLines } from './table.ts'

/** One part, with all that is known of it. */
export interface ShownPart extends RegistryNode {
  readonly file: string
  readonly documentation: string | undefined
  /** The fields of the file. */
  readonly content: Readonly<Record<string, unknown>>
  readonly script: string | undefined
  readonly usedBy: readonly RegistryNode[]
  readonly owners: Owners | undefined
}

export function renderStepsPart({ kind, name, file, documentation, ...part }: ShownPart): string {
  const { content, script, usedBy, owners } = part
  const lines = [
    `${kind}/${name}`,
    `  ${file}`,
    ...(documentation ? ['', ...documentation.trimEnd().split('\n')] : []),
    ...factLines(content),
    ...stepLines('steps', content['steps']),
    ...phases.flatMap((phase) => stepLines(phase, content[phase])),
    ...parameterLines(content['env']),
    ...ownerLines(owners),
    ...usedByLines(usedBy),
    ...(script === undefined ? [] : ['', 'script', script.trimEnd()]),
  ]
  return `${lines.join('\n')}\n`
}

const facts = ['from', 'from_image', 'cli', 'timeout', 'grace_period', 'cluster_profile', 'best_effort', 'credentials']

function factLines(content: ShownPart['content']): readonly string[] {
  const known = facts.filter((fact) => content[fact] !== undefined)
  const rows = known.map((fact) => [fact, factText(content[fact])])
  return rows.length === 0 ? [] : ['', ...tableLines([{ title: '' }, { title: '' }], rows).slice(1)]
}

function factText(value: unknown): string {
  if (Array.isArray(value)) return value.map(factText).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  const { namespace, name, tag, mount_path: path } = value as Readonly<Record<string, string | undefined>>
  if (path !== undefined) return `${namespace}/${name} at ${path}`
  return `${namespace}/${name}:${tag}`
}

function stepLines(title: string, steps: unknown): readonly string[] {
  if (!Array.isArray(steps)) return []
  const named = (steps as readonly TestStep[]).map(({ ref, chain, literal }) =>
    chain !== undefined ? `chain/${chain}` : ref !== undefined ? `ref/${ref}` : `${literal?.as} (written out here)`,
  )
  return ['', title, ...named.map((name) => `  ${name}`), ...(named.length === 0 ? ['  nothing'] : [])]
}

/** A list of declarations, or what a workflow sets. */
function parameterLines(env: unknown): readonly string[] {
  if (env === undefined) return []
  const declared = Array.isArray(env)
    ? (env as readonly StepParameter[])
    : Object.entries(env as object).map(([name, value]): StepParameter => ({ name, default: String(value) }))
  const rows = declared.map(({ name, default: value, documentation = '' }) => [
    name,
    value === undefined ? '(required)' : value === '' ? "''" : value.replaceAll('\n', '\\n'),
    documentation.trim().replaceAll(/\s+/g, ' '),
  ])
  return ['', ...tableLines([{ title: 'PARAMETER' }, { title: 'DEFAULT' }, { title: 'DOCUMENTATION' }], rows, '')]
}

function ownerLines(owners: Owners | undefined): readonly string[] {
  if (owners === undefined || owners.approvers.length === 0) return []
  return ['', `approvers  ${owners.approvers.join(', ')}`]
}

function usedByLines(usedBy: readonly RegistryNode[]): readonly string[] {
  if (usedBy.length === 0) return ['', 'used by nothing in this registry']
  return ['', `used by ${usedBy.length}`, ...usedBy.map(({ kind, name }) => `  ${kind}/${name}`)]
}
