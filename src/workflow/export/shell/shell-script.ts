/** A workflow as one bash script that a person can read from top to bottom, and run (docs/export.md). */

import { shellQuote } from '../../../host/shell-quote.ts'
import { hereDocumentEnd } from '../container-script.ts'
import type { ExportableWorkflow, NumberedStep } from '../exportable-workflow.ts'
import { givenVariables, numberedSteps, scriptText } from '../exportable-workflow.ts'
import { stepFlags } from '../step-flags.ts'
import { shellEngine } from './shell-engine.ts'

/** The text of the script, for bash 4.4 and coreutils. Nothing in it is secret, unless a value of the workflow is. */
export function shellScript(workflow: ExportableWorkflow): string {
  const steps = numberedSteps(workflow)
  return [
    header(workflow),
    ...steps.map(stepFunctions),
    dispatch('variables_of', steps, ({ number }) => `variables_${number}`),
    dispatch('script_of', steps, ({ number }) => `script_${number}`),
    dispatch('given_of', steps, givenWords),
    allSteps(steps),
    needs(workflow, steps),
    shellEngine,
  ].join('\n')
}

function header({ name, steps }: ExportableWorkflow): string {
  const amounts = (['pre', 'test', 'post'] as const)
    .map((phase) => `${steps.filter((step) => step.phase === phase).length} ${phase}`)
    .join(', ')
  return `#!/bin/bash
# ${oneLine(name)}: ${amounts}. Written by sallyport steps export --to shell; --help tells how to use it.
#
# A step of pre fails: the rest of pre, and test, are left out. A step of test fails: the rest of test is left out. Then
# post, all of it, always. Each step gets the variables that it declares and those of the contract, nothing else; what it
# prints goes to its own log, which only this user may read.
# Not here, but in ci-operator: the images. What a step calls (oc, aws, jq, ...) has to be on the PATH.
# shellcheck disable=SC2016  # values arrive as they are written
set -u -o pipefail
[[ \${BASH_VERSINFO[0]}\${BASH_VERSINFO[1]} -ge 44 ]] || { echo 'error: bash 4.4 or newer is needed' >&2; exit 1; }

workflow=${shellQuote(name)}
`
}

function stepFunctions(step: NumberedStep): string {
  const variables = step.env.flatMap(({ name, value }) =>
    value === undefined ? [] : `  export ${name}=${shellQuote(value)}`,
  )
  const text = scriptText(step)
  const end = hereDocumentEnd(text, `END_OF_${step.number}`)
  return `# --- ${step.label} (${step.phase}, in CI in the image ${oneLine(step.image)}) ---
variables_${step.number}() {
${variables.length > 0 ? variables.join('\n') : '  :'}
}
script_${step.number}() {
  cat <<'${end}'
${text.endsWith('\n') ? text : `${text}\n`}${end}
}
`
}

function dispatch(name: string, steps: readonly NumberedStep[], call: (step: NumberedStep) => string): string {
  const cases = steps.map((step) => `    ${step.number}) ${call(step)} ;;\n`).join('')
  return `${name}() {\n  case $1 in\n${cases}    *) : ;;\n  esac\n}\n`
}

function givenWords({ env }: NumberedStep): string {
  const names = env.filter(({ value }) => value === undefined).map(({ name }) => name)
  return names.length > 0 ? `echo ${names.join(' ')}` : 'echo'
}

function allSteps(steps: readonly NumberedStep[]): string {
  const visits = steps.map((step) => {
    // For `timeout`, 0 is no limit at all.
    const seconds = (ms: number) => Number(Math.max(0.001, ms / 1000).toFixed(3))
    const kind = step.isProgram ? 'program' : 'bash'
    return `  visit ${step.phase} ${step.number} ${step.label} ${seconds(step.timeoutMs)} ${seconds(step.graceMs)} ${kind} ${stepFlags(step)}`
  })
  return `# visit PHASE NUMBER LABEL TIMEOUT GRACE KIND FLAGS; seconds.\nall_steps() {\n${visits.join('\n')}\n}\n`
}

function needs(workflow: ExportableWorkflow, steps: readonly NumberedStep[]): string {
  const variables = givenVariables(workflow).map((name) => {
    const users = steps.filter(({ env }) => env.some((one) => one.name === name && one.value === undefined))
    return `  need_variable ${name} ${users[0]?.label ?? ''}`
  })
  const mounts = new Map(
    steps.toReversed().flatMap(({ secretMounts, label }) => secretMounts.map((one) => [one.mountPath, label])),
  )
  const directories = [...mounts].map(([path, label]) => `  need_directory ${shellQuote(path)} ${label}`)
  const profile = workflow.clusterProfile === undefined ? [] : ['  need_directory "$profile_dir" CLUSTER_PROFILE_DIR']
  const lines = [...variables, ...profile, ...directories]
  return `check_needs() {\n${lines.length > 0 ? lines.join('\n') : '  :'}\n}\n`
}

/** For a comment. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
