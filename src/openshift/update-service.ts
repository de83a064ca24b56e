/**
 * UpdateService: what the update service operator runs in a cluster that cannot ask api.openshift.com.
 *
 * Source: openshift/cincinnati-operator `api/v1/updateservice_types.go`; names and values as openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go:UpdateServiceGenerator` writes them, without its time stamps.
 */
import { type Document, parseAllDocuments, stringify } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

export interface UpdateServiceSpec {
  /** Repository of the release images, without tag. */
  readonly releases: string
  /** Image with the graph data, with its tag. */
  readonly graphDataImage: string
}

const apiVersion = 'updateservice.operator.openshift.io/v1'

/** What oc-mirror says of itself, anew in every run. */
const transient = ['createdAt', 'createdBy', 'oc-mirror_version']

const strings = z.record(z.string(), z.string()).nullish()
const UpdateService = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('UpdateService'),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    annotations: strings,
    labels: strings,
  }),
  spec: z.looseObject({ replicas: z.int().min(1).optional() }),
})
type UpdateService = z.infer<typeof UpdateService>

/**
 * YAML for `oc apply -f`. Of a file that is there already, everything is kept that is not decided by the mirror: replicas,
 * name and namespace, annotations, further fields of the specification.
 *
 * @param previous text of that file
 * @throws KnownError CONFIG_INVALID where it holds something else
 */
export function renderUpdateService(spec: UpdateServiceSpec, previous?: { text: string; file: string }): string {
  const kept = previous && parseUpdateService(previous)
  const { name, namespace, annotations, labels, ...metadata } = kept?.metadata ?? { name: 'update-service-oc-mirror' }
  const { releases, graphDataImage } = spec
  const { replicas, releases: _, graphDataImage: __, ...further } = kept?.spec ?? {}
  const document = {
    apiVersion,
    kind: 'UpdateService',
    metadata: {
      name,
      namespace: namespace ?? 'openshift-update-service',
      ...withEntries('annotations', lasting(annotations)),
      ...withEntries('labels', lasting(labels)),
      ...metadata,
    },
    spec: { replicas: replicas ?? 2, releases, graphDataImage, ...further },
  }
  return stringify(document, { lineWidth: 0 })
}

/** Undefined where the file is empty. */
function parseUpdateService({ text, file }: { text: string; file: string }): UpdateService | undefined {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'error' })
  const full = Array.isArray(documents) ? documents.filter(({ contents }) => contents !== null) : []
  const [document, another] = full
  if (!document) return undefined
  if (another) throw invalid(file, 'it holds several documents')
  const [error] = document.errors
  if (error) throw invalid(file, error.message)
  const result = UpdateService.safeParse(toPlain(document, file))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(file, `${issue?.path.join('.')}: ${issue?.message}`)
}

function toPlain(document: Document, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? invalid(file, error.message) : error
  }
}

function lasting(entries: z.infer<typeof strings>): [string, string][] {
  return Object.entries(entries ?? {}).filter(([name]) => !transient.includes(name))
}

function withEntries(field: string, entries: readonly (readonly [string, string])[]): object {
  return entries.length === 0 ? {} : { [field]: Object.fromEntries(entries) }
}

function invalid(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `${file} is no UpdateService: ${why}`, {
    details: { file },
    hint: 'Correct this file, or move it away: it is then written anew.',
  })
}
