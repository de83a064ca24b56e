/** What a form of export cannot say of a workflow (docs/export.md). */
import { type Finding, finding } from '../../errors/finding.ts'
import type { ExportableStep, ExportableWorkflow } from './exportable-workflow.ts'

export const exportForms = ['tekton', 'jobs', 'shell'] as const

export type ExportForm = (typeof exportForms)[number]

/** What a pod that is deleted has, where nothing else is said (Kubernetes, pod lifecycle). */
const podGraceMs = 30_000

/** Notes, one for each loss; they do not keep the workflow from running. */
export function formLosses(form: ExportForm, { steps, clusterProfile }: ExportableWorkflow): readonly Finding[] {
  if (form === 'jobs')
    return [
      note('driver', 'the order and the teardown are the work of the driver: while it does not run, nothing begins'),
    ]
  if (form === 'tekton') {
    const patient = steps.filter(({ graceMs }) => graceMs > podGraceMs)
    const summary = 'a step has its grace period after a time-out; where the run is cancelled, Tekton gives it 30 s'
    return [
      note(
        'tekton-version',
        'Tekton Pipelines 1.13 or newer is needed: before, a time-out left out the teardown (tektoncd/pipeline#6794)',
      ),
      ...(patient.length > 0 ? [note('grace', `${summary} (${namesOf(patient)})`)] : []),
    ]
  }
  const mounted = steps.filter(({ secretMounts }) => secretMounts.length > 0)
  return [
    note('images', 'the images of the steps are not used: what they call has to be on the PATH'),
    ...(mounted.length > 0
      ? [note('credentials', `credentials have to be where these steps read them (${namesOf(mounted)})`)]
      : []),
    ...(clusterProfile === undefined
      ? []
      : [note('profile', `CLUSTER_PROFILE_DIR has to name the files of the profile ${clusterProfile}`)]),
  ]
}

function note(what: string, summary: string): Finding {
  return finding({ id: `export.${what}`, severity: 'info', summary })
}

function namesOf(steps: readonly ExportableStep[]): string {
  return [...new Set(steps.map(({ id }) => id))].join(', ')
}
