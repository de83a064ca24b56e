/** A step as a Job of Kubernetes; its order and its consequences are the driver's. */
import { containerScript, scriptFolder } from '../container-script.ts'
import { containerResources, type EnvironmentVariable, literalVariables, stepVolumes } from '../container-step.ts'
import { type ExportableWorkflow, givenVariables, type NumberedStep, numberedSteps } from '../exportable-workflow.ts'
import { objectName } from '../object-name.ts'
import { type ScriptConfigMap, scriptConfigMap } from '../script-config-map.ts'

export interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface JobStep {
  readonly step: NumberedStep
  readonly job: KubernetesObject
  readonly scripts: ScriptConfigMap
}

export interface JobsExport {
  /** Name of the run: of its claim, and before the name of every Job. */
  readonly run: string
  readonly claim: KubernetesObject
  /** Name of the ConfigMap with the values that are given when the run is started; undefined where none are. */
  readonly given: string | undefined
  readonly steps: readonly JobStep[]
}

/** For a pod to be placed and its image to be pulled. */
const startSeconds = 600

/** Jobs are the journal of a run: they stay for a week after they ended. */
const keptSeconds = 7 * 24 * 60 * 60

const folder = '/var/run/sallyport'
const profileFolder = '/var/run/secrets/ci.openshift.io/cluster-profile'

/** @throws KnownError EXPORT_IMPOSSIBLE where a script is too long for a ConfigMap */
export function workflowJobs(workflow: ExportableWorkflow): JobsExport {
  const run = objectName(workflow.name, 40)
  const given = givenVariables(workflow).length > 0 ? `${run}-given` : undefined
  const steps = numberedSteps(workflow).map((step) => {
    const scripts = scriptConfigMap(workflow.name, step, { run: containerScript(step, { isMounted: true }) })
    return { step, scripts, job: stepJob(step, { workflow, run, given, scripts }) }
  })
  return { run, claim: claim(run), given, steps }
}

function claim(run: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: run, labels: { 'sallyport/run': run } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
  }
}

interface JobContext {
  readonly workflow: ExportableWorkflow
  readonly run: string
  readonly given: string | undefined
  readonly scripts: ScriptConfigMap
}

function stepJob(step: NumberedStep, context: JobContext): KubernetesObject {
  const { run } = context
  const labels = {
    'sallyport/run': run,
    'sallyport/step': objectName(step.id),
    'sallyport/phase': step.phase,
    'sallyport/order': step.number,
  }
  const seconds = Math.ceil((step.timeoutMs + step.graceMs) / 1000)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: objectName(`${run}-${step.label}`), labels },
    spec: {
      backoffLimit: 0,
      // The step has its own time-out inside; this ends what never starts.
      activeDeadlineSeconds: seconds + startSeconds,
      ttlSecondsAfterFinished: keptSeconds,
      // A pod that a drained node took away is not a failed step: it is begun again.
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0] } },
        ],
      },
      template: { metadata: { labels }, spec: podSpec(step, context) },
    },
  }
}

function podSpec(step: NumberedStep, { workflow, run, given, scripts }: JobContext): Record<string, unknown> {
  const own = stepVolumes(step, { configMap: scripts.metadata.name, folder: scriptFolder })
  const resources = containerResources(step)
  const hasProfile = workflow.clusterProfile !== undefined
  const profile = { name: 'profile', secret: { secretName: objectName(`cluster-profile-${workflow.clusterProfile}`) } }
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: Math.max(1, Math.ceil(step.graceMs / 1000)),
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'step',
        image: step.image,
        command: ['/bin/bash', `${scriptFolder}/run`],
        env: variables(step, { workflow, run, given }),
        ...(resources !== undefined && { resources }),
        volumeMounts: [
          { name: 'run', mountPath: `${folder}/shared`, subPath: 'shared' },
          { name: 'run', mountPath: `${folder}/artifacts`, subPath: 'artifacts' },
          ...(hasProfile ? [{ name: 'profile', mountPath: profileFolder, readOnly: true }] : []),
          ...own.mounts,
        ],
      },
    ],
    volumes: [
      { name: 'run', persistentVolumeClaim: { claimName: run } },
      ...(hasProfile ? [profile] : []),
      ...own.volumes,
    ],
  }
}

function variables(
  step: NumberedStep,
  { workflow, run, given }: Pick<JobContext, 'workflow' | 'run' | 'given'>,
): readonly EnvironmentVariable[] {
  const literal = step.env.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]))
  const open = step.env.flatMap(({ name, value }) =>
    value !== undefined || given === undefined
      ? []
      : [{ name, valueFrom: { configMapKeyRef: { name: given, key: name } } }],
  )
  return [
    { name: 'RUN_ID', value: run },
    { name: 'JOB_NAME', value: workflow.name },
    { name: 'JOB_NAME_SAFE', value: workflow.name },
    { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    { name: 'SHARED_DIR', value: `${folder}/shared` },
    { name: 'ARTIFACT_DIR', value: `${folder}/artifacts/${step.label}` },
    ...(workflow.clusterProfile === undefined ? [] : [{ name: 'CLUSTER_PROFILE_DIR', value: profileFolder }]),
    ...literalVariables(literal),
    ...open,
  ]
}
