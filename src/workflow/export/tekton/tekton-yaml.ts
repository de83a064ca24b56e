/** What an administrator applies: scripts, the Pipeline, a claim for its files, and a run to start. */
import type { ExportableWorkflow } from '../exportable-workflow.ts'
import { objectName } from '../object-name.ts'
import { type CommentedObject, yamlDocuments } from '../yaml-documents.ts'
import { type TektonExport, tektonPipeline } from './tekton-pipeline.ts'

/** @throws KnownError EXPORT_IMPOSSIBLE where a script is too long for a ConfigMap */
export function tektonYaml(workflow: ExportableWorkflow): string {
  const exported = tektonPipeline(workflow)
  const { pipeline, configMaps } = exported
  return yamlDocuments([
    { object: claim(workflow), comment: `Holds SHARED_DIR and ARTIFACT_DIR of ${workflow.name}.` },
    ...configMaps.map((object): CommentedObject => ({ object, comment: scriptComment })),
    { object: pipeline, comment: pipelineComment },
    { object: pipelineRun(workflow, exported), comment: runComment },
  ])
}

const scriptComment = 'A script that is too long for the Pipeline, or in which Tekton would replace something.'

const pipelineComment = `Written by sallyport steps export --to tekton. Needs Tekton Pipelines 1.13 or newer: before,
a time-out of the tasks left out finally, which is the teardown (tektoncd/pipeline#6794).
A step has its grace period after its time-out; a run that is cancelled gives it 30 s, whatever was asked for.
Cancel with CancelledRunFinally: Cancelled alone leaves out the teardown.
The limits of steps of post are not here: they would be asked for together, though only one step runs at a time.`

const runComment = `Start with: kubectl create -f. One claim with two folders, because Tekton binds one claim to a task only;
another run needs other folders, unless it is to go on with what is there.`

function claim({ name }: ExportableWorkflow) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: objectName(name) },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
  }
}

function pipelineRun({ name, clusterProfile }: ExportableWorkflow, { seconds, parameters }: TektonExport) {
  const folder = (part: string) => ({
    persistentVolumeClaim: { claimName: objectName(name) },
    subPath: `run-1/${part}`,
  })
  const open = parameters.filter(({ value }) => value === undefined)
  const profile = { name: 'profile', secret: { secretName: objectName(`cluster-profile-${clusterProfile}`) } }
  return {
    apiVersion: 'tekton.dev/v1',
    kind: 'PipelineRun',
    metadata: { generateName: `${objectName(name, 50)}-` },
    spec: {
      pipelineRef: { name: objectName(name) },
      ...(open.length > 0 && { params: open.map((parameter) => ({ name: parameter.name, value: 'TO-BE-GIVEN' })) }),
      timeouts: {
        pipeline: `${seconds.tasks + seconds.finally}s`,
        tasks: `${seconds.tasks}s`,
        ...(seconds.finally > 0 && { finally: `${seconds.finally}s` }),
      },
      workspaces: [
        { name: 'shared', ...folder('shared') },
        { name: 'artifacts', ...folder('artifacts') },
        ...(clusterProfile === undefined ? [] : [profile]),
      ],
    },
  }
}
