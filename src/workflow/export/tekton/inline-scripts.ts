/** Which scripts may stand in a Pipeline, and which have to be mounted. */
import { type NumberedStep, scriptText } from '../exportable-workflow.ts'

/**
 * What Tekton would replace in a script, or refuse as a variable that it does not know; there is no way to escape it
 * (tektoncd/pipeline docs/variables.md, pkg/substitution/replacements.go).
 */
const tektonVariable =
  /\$\((?:params|tasks|steps?|workspaces|context|results|artifacts|inputs|outputs|credentials|finally)[.[]/

/**
 * All scripts of a task reach its pod as base64 in one argument of an init container (pkg/pod/script.go), and Linux takes
 * 128 KiB (MAX_ARG_STRLEN): 96 KiB of text, less the lines around it.
 */
const maxTaskBytes = 80 * 1024

/** The whole Pipeline, which is copied into each run's status too, stays well below what etcd takes (1.5 MiB). */
const maxPipelineBytes = 400 * 1024

/** What stands around a script in {@link containerScript}. */
const wrapperBytes = 1024

/** Of the tasks given, each a list of steps: those whose script is not to stand in the Pipeline, the largest first. */
export function mountedScripts(tasks: readonly (readonly NumberedStep[])[]): readonly NumberedStep[] {
  const mounted = new Set(tasks.flat().filter((step) => tektonVariable.test(scriptText(step))))
  for (const steps of tasks) mountUntil(maxTaskBytes, steps, mounted)
  mountUntil(maxPipelineBytes, tasks.flat(), mounted)
  return [...mounted]
}

function mountUntil(maxBytes: number, steps: readonly NumberedStep[], mounted: Set<NumberedStep>): void {
  const inline = steps.filter((step) => !mounted.has(step)).sort((a, b) => sizeOf(b) - sizeOf(a))
  let total = steps.length * wrapperBytes + inline.reduce((sum, step) => sum + sizeOf(step), 0)
  for (const step of inline) {
    if (total <= maxBytes) return
    mounted.add(step)
    total -= sizeOf(step)
  }
}

function sizeOf(step: NumberedStep): number {
  return Buffer.byteLength(scriptText(step))
}
