import type { ExportableWorkflow } from '../exportable-workflow.ts'
import { shortHash } from '../object-name.ts'

/** A value that may be given when the Pipeline is started. */
export interface PipelineParameter {
  /** The variable of the steps. */
  readonly variable: string
  readonly name: string
  /** undefined: it has to be given. */
  readonly value?: string
}

/**
 * Variables without a value, and those that have one value in all steps that declare them.
 *
 * Where steps of one workflow have different defaults, each keeps its own, which no parameter could say. A value with
 * a special dollar stays in the steps, too. Names of parameters are compared without case (Tekton docs, tasks:
 * specifying parameters).
 */
export function pipelineParameters({ steps }: Pick<ExportableWorkflow, 'steps'>): readonly PipelineParameter[] {
  const byVariable = Map.groupBy(
    steps.flatMap(({ env }) => env),
    ({ name }) => name,
  )
  const taken = new Set<string>()
  return [...byVariable].flatMap(([variable, given]) => {
    const values = new Set(given.map(({ value }) => value))
    const [value] = values.has(undefined) ? [undefined] : values
    if (value !== undefined && (values.size > 1 || /\$[($]/.test(value))) return []
    const name = taken.has(variable.toLowerCase()) ? `${variable}-${shortHash(variable, 6)}` : variable
    taken.add(name.toLowerCase())
    return [{ variable, name, ...(value !== undefined && { value }) }]
  })
}
