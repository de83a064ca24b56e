/** A workflow as Jobs of Kubernetes, with the script that runs them in order (docs/export.md). */

import { shellQuote } from '../../../host/shell-quote.ts'
import { hereDocumentEnd } from '../container-script.ts'
import { type ExportableWorkflow, givenVariables } from '../exportable-workflow.ts'
import { stepFlags } from '../step-flags.ts'
import { yamlDocuments } from '../yaml-documents.ts'
import { jobsEngine } from './jobs-engine.ts'
import { type JobStep, type JobsExport, type KubernetesObject, workflowJobs } from './step-job.ts'

/**
 * One bash script that holds all objects and needs `kubectl`.
 *
 * @throws KnownError EXPORT_IMPOSSIBLE where a script is too long for a ConfigMap
 */
export function jobsScript(workflow: ExportableWorkflow): string {
  const exported = workflowJobs(workflow)
  const { steps, run, claim } = exported
  return [
    header(workflow, run),
    heredocFunction('claim', yaml(claim)),
    ...steps.map(stepFunctions(run)),
    dispatch('manifest_of', steps, ({ step }) => `job_${step.number}`),
    dispatch('print_scripts_of', steps, ({ step }) => `scripts_${step.number}`),
    dispatch('scripts_of', steps, ({ step, scripts }) => {
      return `scripts_${step.number} | create_once configmap ${scripts.metadata.name}`
    }),
    allSteps(steps),
    given(workflow, exported),
    jobsEngine,
  ].join('\n')
}

function header({ name }: ExportableWorkflow, run: string): string {
  return `#!/bin/bash
# ${name.replaceAll(/\s+/g, ' ')} as Jobs of Kubernetes. Written by sallyport steps export --to jobs; --help tells how to use it.
#
# This script decides what runs next; the Jobs remember what ran. When it is killed nothing new begins, also no teardown,
# until it is run again.
# shellcheck disable=SC2016  # values arrive as they are written
set -u -o pipefail

workflow=${shellQuote(name)}
run_name=${run}
`
}

function yaml(object: unknown): string {
  return yamlDocuments([{ object, comment: '' }])
}

function stepFunctions(run: string): (step: JobStep) => string {
  return ({ step, job, scripts }) => {
    const labelled = { ...scripts, metadata: { ...scripts.metadata, labels: { 'sallyport/run': run } } }
    return `# --- ${step.label} (${step.phase}) ---
${heredocFunction(`job_${step.number}`, yaml(job))}
${heredocFunction(`scripts_${step.number}`, yaml(labelled))}`
  }
}

function heredocFunction(name: string, text: string): string {
  const end = hereDocumentEnd(text, 'END_OF_YAML')
  return `${name}() {\n  cat <<'${end}'\n${text}${end}\n}\n`
}

function dispatch(name: string, steps: readonly JobStep[], call: (step: JobStep) => string): string {
  const cases = steps.map((one) => `    ${one.step.number}) ${call(one)} ;;\n`).join('')
  return `${name}() {\n  case $1 in\n${cases}    *) : ;;\n  esac\n}\n`
}

function allSteps(steps: readonly JobStep[]): string {
  const visits = steps.map(
    ({ step, job }) => `  visit ${step.phase} ${step.number} ${step.label} ${job.metadata.name} ${stepFlags(step)}`,
  )
  return `# visit PHASE NUMBER LABEL JOB FLAGS\nall_steps() {\n${visits.join('\n')}\n}\n`
}

/** Values that the caller gives travel as files: arguments are visible to every user of a machine. */
function given(workflow: ExportableWorkflow, { given: configMap, steps, run }: JobsExport): string {
  const names = givenVariables(workflow)
  const needs = names.map((name) => {
    const user = steps.find(({ step }) => step.env.some((one) => one.name === name && one.value === undefined))
    return `  need_variable ${name} ${user?.step.label ?? ''}\n`
  })
  if (configMap === undefined) return 'check_needs() { :; }\nstore_given() { :; }\n'
  return `check_needs() {
${needs.join('')}}
store_given() {
  local folder status
  [ -z "$(ask get configmap ${configMap} --ignore-not-found -o name)" ] || return 0
  folder=$(mktemp -d) || return 1
${names.map((name) => `  printf %s "$${name}" >"$folder/${name}"\n`).join('')}  "\${kube[@]}" create configmap ${configMap} --from-file="$folder" >/dev/null &&
    "\${kube[@]}" label configmap ${configMap} sallyport/run=${run} >/dev/null
  status=$?
  rm -r "$folder"
  return "$status"
}
`
}

/** All objects that the script would make, for those who put them into a cluster in another way. */
export function jobObjects(workflow: ExportableWorkflow): string {
  const { claim, steps } = workflowJobs(workflow)
  const objects: readonly KubernetesObject[] = [claim, ...steps.flatMap(({ scripts, job }) => [{ ...scripts }, job])]
  return yamlDocuments(objects.map((object) => ({ object, comment: '' })))
}
