/** Of each resolved step, where it stands and who decided its values. */
import type { Phase } from '../../journal/events.ts'
import type { ParameterOrigin, ResolvedWorkflow } from '../../workflow/step-registry/model.ts'

interface Provenance {
  readonly as: string
  readonly chain_path: readonly string[]
  readonly parameters: readonly ParameterOrigin[]
}

export function stepProvenance(workflow: ResolvedWorkflow): Readonly<Record<Phase, readonly Provenance[]>> {
  const of = (phase: Phase) =>
    workflow[phase].map(({ literal, chainPath, parameters }) => ({ as: literal.as, chain_path: chainPath, parameters }))
  return { pre: of('pre'), test: of('test'), post: of('post') }
}
