/**
 * A workflow as a Pipeline of Tekton, v1 (docs/export.md says what is lost).
 *
 * pre and test are a chain of tasks; post is one task of `finally`, because those run side by side, whose steps go on
 * after a failure (`onError: continue`) and whose last step gives the verdict by their exit codes.
 */

import { containerScript, scriptFolder } from '../container-script.ts'
import {
  containerResources,
  type EnvironmentVariable,
  literalVariables,
  stepVolumes,
  type Volume,
} from '../container-step.ts'
import { type ExportableWorkflow, type NumberedStep, numberedSteps } from '../exportable-workflow.ts'
import { objectName } from '../object-name.ts'
import { type ScriptConfigMap, scriptConfigMap } from '../script-config-map.ts'
import { mountedScripts } from './inline-scripts.ts'
import { largestRequests } from './largest-requests.ts'
import { type PipelineParameter, pipelineParameters } from './pipeline-parameters.ts'

export interface TektonStep {
  readonly name: string
  readonly [field: string]: unknown
}

export interface TektonTask {
  readonly name: string
  readonly timeout: string
  readonly [field: string]: unknown
}

export interface TektonExport {
  readonly pipeline: {
    readonly apiVersion: 'tekton.dev/v1'
    readonly kind: 'Pipeline'
    readonly [field: string]: unknown
  }
  readonly configMaps: readonly ScriptConfigMap[]
  readonly parameters: readonly PipelineParameter[]
  /** Of everything in `tasks`, and of everything in `finally`. */
  readonly seconds: { readonly tasks: number; readonly finally: number }
}

/** For a pod to be placed and its image to be pulled; Tekton counts it as time of the task. */
const startSeconds = 600

interface Building {
  readonly workflow: ExportableWorkflow
  readonly parameters: readonly PipelineParameter[]
  /** By number of the step. */
  readonly configMaps: ReadonlyMap<string, ScriptConfigMap>
}

/** @throws KnownError EXPORT_IMPOSSIBLE where a script is too long for a ConfigMap */
export function tektonPipeline(workflow: ExportableWorkflow): TektonExport {
  const steps = numberedSteps(workflow)
  const forward = steps.filter(({ phase }) => phase !== 'post')
  const post = steps.filter(({ phase }) => phase === 'post')
  const parameters = pipelineParameters({ steps })
  const configMaps = new Map(
    [...mountedScripts(forward.map((step) => [step])), ...mountedScripts([post])].map((step) => [
      step.number,
      scriptConfigMap(workflow.name, step),
    ]),
  )
  const building = { workflow, parameters, configMaps }
  const names = forward.map(({ label }) => objectName(`s${label}`))
  const tasks = forward.map((step, index) =>
    forwardTask(step, { name: names[index] ?? '', after: names[index - 1], building }),
  )
  const teardown = post.length > 0 ? [postTask(post, building)] : []
  return {
    pipeline: {
      apiVersion: 'tekton.dev/v1',
      kind: 'Pipeline',
      metadata: { name: objectName(workflow.name), annotations: { 'sallyport/needs': needs } },
      spec: {
        params: parameters.map(({ name, value }) => ({
          name,
          type: 'string',
          ...(value !== undefined && { default: value }),
        })),
        workspaces: workspaces(workflow),
        tasks: tasks.length > 0 ? tasks : [nothingTask],
        ...(teardown.length > 0 && { finally: teardown }),
      },
    },
    configMaps: [...configMaps.values()],
    parameters,
    seconds: {
      tasks: forward.reduce((sum, step) => sum + taskSeconds([step]), 0) || startSeconds,
      finally: post.length > 0 ? taskSeconds(post) : 0,
    },
  }
}

const needs =
  'Tekton Pipelines 1.13 or newer: before, a time-out of the tasks left out finally, which is the teardown (tektoncd/pipeline#6794)'

/** A Pipeline has at least one task, also where only the teardown is left. */
const nothingTask = {
  name: 'nothing',
  timeout: `${startSeconds}s`,
  taskSpec: {
    steps: [{ name: 'nothing', image: 'registry.access.redhat.com/ubi9/ubi-minimal', script: '#!/bin/sh\n' }],
  },
}

function workspaces({ clusterProfile }: ExportableWorkflow): readonly { readonly name: string }[] {
  return [{ name: 'shared' }, { name: 'artifacts' }, ...(clusterProfile === undefined ? [] : [{ name: 'profile' }])]
}

function taskSeconds(steps: readonly NumberedStep[]): number {
  return steps.reduce((sum, { timeoutMs, graceMs }) => sum + Math.ceil((timeoutMs + graceMs) / 1000), startSeconds)
}

function forwardTask(
  step: NumberedStep,
  { name, after, building }: { name: string; after: string | undefined; building: Building },
): TektonTask {
  const { container, volumes } = taskStep(step, { name: 'run', building, before: [] })
  const resources = containerResources(step)
  return {
    name,
    ...(after !== undefined && { runAfter: [after] }),
    timeout: `${taskSeconds([step])}s`,
    ...(step.isBestEffort && { onError: 'continue' }),
    ...taskParts(building.workflow, {
      params: [],
      volumes,
      steps: [{ ...container, ...(resources !== undefined && { computeResources: resources }) }],
    }),
  }
}

function postTask(steps: readonly NumberedStep[], building: Building): TektonTask {
  const built = steps.map((step) => ({
    step,
    // `step-` and the name is the name of a container.
    ...taskStep(step, { name: objectName(`s${step.label}`, 58), building, before: guard(step) }),
  }))
  const judged = built.filter(({ step }) => !step.isBestEffort)
  const checks = judged.map(
    ({ step, container }) => `check ${step.label} "$(steps.step-${container.name}.exitCode.path)"\n`,
  )
  const verdict = {
    name: 'verdict',
    image: steps.at(-1)?.image ?? '',
    // The containers of a task ask for their resources together, and use them one after the other.
    ...largestRequests(steps),
    script: `#!/bin/sh\nfailed=0\n${checkFunction}${checks.join('')}exit "$failed"\n`,
  }
  const volumes = [...new Map(built.flatMap(({ volumes: own }) => own).map((volume) => [volume.name, volume])).values()]
  return {
    name: 'post',
    timeout: `${taskSeconds(steps)}s`,
    ...taskParts(building.workflow, {
      params: [{ name: statusParameter, value: '$(tasks.status)' }],
      volumes,
      steps: [...built.map(({ container }) => ({ ...container, onError: 'continue' })), verdict],
    }),
  }
}

const statusParameter = 'sallyport-tasks-status'
const runParameter = 'sallyport-run'

const checkFunction = `check() {
  code=$(cat "$2" 2>/dev/null || echo unknown)
  [ "$code" = 0 ] || { echo "failed: $1 (status $code)"; failed=1; }
}
`

/** `Succeeded`: all ran and went well; `Completed`: none failed (Tekton docs, variables: tasks.status). */
function guard({ isOptionalOnSuccess }: NumberedStep): readonly string[] {
  if (!isOptionalOnSuccess) return []
  return [
    `case "$(params.${statusParameter})" in Succeeded | Completed) echo 'left out: everything went well'; exit 0 ;; esac`,
  ]
}

interface TaskParts {
  readonly params: readonly { readonly name: string; readonly value: string }[]
  readonly volumes: readonly Volume[]
  readonly steps: readonly TektonStep[]
}

function taskParts(workflow: ExportableWorkflow, { params, volumes, steps }: TaskParts) {
  const all = [{ name: runParameter, value: '$(context.pipelineRun.name)' }, ...params]
  return {
    params: all,
    workspaces: workspaces(workflow),
    taskSpec: {
      params: all.map(({ name }) => ({ name, type: 'string' })),
      workspaces: workspaces(workflow).map(({ name }) => ({ name, ...(name === 'profile' && { readOnly: true }) })),
      ...(volumes.length > 0 && { volumes }),
      steps,
    },
  }
}

function taskStep(
  step: NumberedStep,
  { name, building, before }: { name: string; building: Building; before: readonly string[] },
): { readonly container: TektonStep; readonly volumes: readonly Volume[] } {
  const configMap = building.configMaps.get(step.number)
  const { volumes, mounts } = stepVolumes(step, { configMap: configMap?.metadata.name, folder: scriptFolder })
  const container = {
    name,
    image: step.image,
    env: [...contractVariables(step, building.workflow), ...declaredVariables(step, building.parameters)],
    ...(mounts.length > 0 && { volumeMounts: mounts }),
    script: containerScript(step, { before, isMounted: configMap !== undefined }),
  }
  return { container, volumes }
}

function contractVariables(
  step: NumberedStep,
  { name, clusterProfile }: ExportableWorkflow,
): readonly EnvironmentVariable[] {
  return [
    { name: 'RUN_ID', value: `$(params.${runParameter})` },
    { name: 'JOB_NAME', value: name },
    { name: 'JOB_NAME_SAFE', value: name },
    { name: 'NAMESPACE', value: '$(context.taskRun.namespace)' },
    { name: 'SHARED_DIR', value: '$(workspaces.shared.path)' },
    { name: 'ARTIFACT_DIR', value: `$(workspaces.artifacts.path)/${step.label}` },
    ...(clusterProfile === undefined ? [] : [{ name: 'CLUSTER_PROFILE_DIR', value: '$(workspaces.profile.path)' }]),
  ]
}

function declaredVariables(
  step: NumberedStep,
  parameters: readonly PipelineParameter[],
): readonly EnvironmentVariable[] {
  const parameterOf = ({ name, value }: NumberedStep['env'][number]) =>
    parameters.find((parameter) => parameter.variable === name && parameter.value === value)
  const literal = step.env.flatMap((variable) => {
    const { name, value } = variable
    return value === undefined || parameterOf(variable) !== undefined ? [] : [{ name, value }]
  })
  const referring = step.env.flatMap((variable) => {
    const parameter = parameterOf(variable)
    return parameter === undefined ? [] : [{ name: variable.name, value: `$(params.${parameter.name})` }]
  })
  return [...literalVariables(literal), ...referring]
}
