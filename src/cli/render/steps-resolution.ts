/** A resolved workflow for people: its steps in their order, with the value of each parameter and who decided it. */
import { type ParameterOrigin, phases, type ResolvedStep } from '../../workflow/step-registry/model.ts'
import type { Resolution } from '../../workflow/step-registry/resolve-test.ts'
import { count } from './quantities.ts'
import { tableLines } from './table.ts'

export function renderResolution({ workflow, configuration }: Resolution, errors: readonly string[]): string {
  const { name, observers, clusterProfile, leases } = workflow
  const total = phases.reduce((sum, phase) => sum + workflow[phase].length, 0)
  const facts = [
    ...(configuration.workflow === undefined ? [] : [`workflow ${configuration.workflow}`]),
    ...(clusterProfile === undefined ? [] : [`cluster profile ${clusterProfile}`]),
    ...leases.map(({ resource_type: type, env, count: amount = 1 }) => `lease ${amount} ${type} as ${env}`),
    ...(observers.length === 0 ? [] : [`observers ${observers.map(({ as }) => as).join(', ')}`]),
    ...(workflow.allowSkipOnSuccess ? ['steps may be skipped on success'] : []),
    ...(workflow.allowBestEffortPostSteps ? ['best effort in post'] : []),
  ]
  const lines = [
    `${name}: ${count(total, 'step')}`,
    ...facts.map((fact) => `  ${fact}`),
    ...phases.flatMap((phase) => phaseLines(phase, workflow[phase])),
    ...(errors.length === 0 ? [] : ['', `cannot be resolved: ${count(errors.length, 'error')}`]),
    ...errors.map((error) => `  error: ${error}`),
  ]
  return `${lines.join('\n')}\n`
}

function phaseLines(phase: string, steps: readonly ResolvedStep[]): readonly string[] {
  if (steps.length === 0) return ['', `${phase}: nothing`]
  const width = Math.max(...steps.map(({ literal }) => literal.as.length))
  return [
    '',
    `${phase}: ${count(steps.length, 'step')}`,
    ...steps.flatMap((step, index) => stepLines(step, index, width)),
  ]
}

function stepLines({ literal, chainPath, parameters }: ResolvedStep, index: number, width: number): readonly string[] {
  const path = chainPath.join(' > ')
  const rows = parameters.map((origin) => [origin.name, shownValue(origin), `${origin.from}/${origin.by}`])
  const table = tableLines([{ title: '' }, { title: '' }, { title: '' }], rows, '        ').slice(1)
  return [`  ${String(index + 1).padStart(3)}  ${literal.as.padEnd(width)}  ${path}`.trimEnd(), ...table]
}

const shownLength = 60

/** On one line; `(open)` where nobody gives a value. */
function shownValue({ value }: ParameterOrigin): string {
  if (value === undefined) return '(open)'
  if (value === '') return "''"
  const line = value.replaceAll('\n', '\\n')
  return line.length > shownLength ? `${line.slice(0, shownLength - 1)}…` : line
}
