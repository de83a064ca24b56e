/**
 * A workflow as every export needs it: a flat list of scripts with all values decided.
 *
 * Source of the rules that an export keeps: openshift/ci-tools pkg/steps/multi_stage (pre, test, post; best effort; optional on
 * success) and cmd/entrypoint-wrapper (time-out, grace, environment).
 */
import type { Phase } from '../../journal/events.ts'
import type { StepResources } from '../step-registry/model.ts'

/** A variable of a step; without a value whoever starts the workflow has to give one. */
export interface ExportableVariable {
  readonly name: string
  readonly value?: string
}

/** A directory of files that only this step sees. */
export interface SecretMount {
  /** Name of the Secret in the namespace that the workflow runs in. */
  readonly secret: string
  readonly mountPath: string
}

export interface ExportableStep {
  /** Unique in its phase. */
  readonly id: string
  readonly phase: Phase
  readonly script: string
  /** True: the script is a program with its own first line. Otherwise bash runs it with `set -eu`. */
  readonly isProgram: boolean
  readonly image: string
  /** All that the step gets, beside the variables of the contract (SHARED_DIR and so on). */
  readonly env: readonly ExportableVariable[]
  readonly secretMounts: readonly SecretMount[]
  readonly timeoutMs: number
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
  /** Its failure is told and changes nothing. */
  readonly isBestEffort: boolean
  /** Only in `post`: left out where everything before it went well. */
  readonly isOptionalOnSuccess: boolean
  readonly resources: StepResources
}

export interface ExportableWorkflow {
  readonly name: string
  /** Set where the steps read files in CLUSTER_PROFILE_DIR. */
  readonly clusterProfile?: string
  /** All of `pre`, then of `test`, then of `post`. */
  readonly steps: readonly ExportableStep[]
  /** How many steps before these are left out; the others keep their numbers. */
  readonly leftOut?: number
}

export interface NumberedStep extends ExportableStep {
  /** From `001`, in the order of the workflow. */
  readonly number: string
  /** `001-ipi-conf`: its folder of artifacts, its log, its marker. */
  readonly label: string
}

/** The steps with the numbers that they keep in every form of export, also where `--from` leaves some of them out. */
export function numberedSteps({
  steps,
  leftOut = 0,
}: Pick<ExportableWorkflow, 'steps' | 'leftOut'>): readonly NumberedStep[] {
  return steps.map((step, index) => {
    const number = String(leftOut + index + 1).padStart(3, '0')
    return { ...step, number, label: `${number}-${step.id.replaceAll(/[^\w.-]/g, '-')}` }
  })
}

/** The workflow from a step on, by its name or number; undefined where no step is called so. */
export function startingAt(workflow: ExportableWorkflow, step: string): ExportableWorkflow | undefined {
  const at = numberedSteps(workflow).findIndex(({ id, number, label }) => [id, number, label].includes(step))
  if (at < 0) return undefined
  return { ...workflow, steps: workflow.steps.slice(at), leftOut: (workflow.leftOut ?? 0) + at }
}

/** What bash or the system runs, as ci-operator gives it to them (pkg/steps/multi_stage/gen.go). */
export function scriptText({ script, isProgram }: Pick<ExportableStep, 'script' | 'isProgram'>): string {
  return isProgram ? script : `#!/bin/bash\nset -eu\n${script}`
}

/** Names that somebody has to give a value when the workflow starts. */
export function givenVariables({ steps }: Pick<ExportableWorkflow, 'steps'>): readonly string[] {
  const given = steps.flatMap(({ env }) => env.filter(({ value }) => value === undefined).map(({ name }) => name))
  return [...new Set(given)].sort()
}
