/**
 * UpdateService: what the update service operator runs in a cluster that cannot ask api.openshift.com.
 *
 * Source: openshift/cincinnati-operator `api/v1/updateservice_types.go`; names and values as openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go:UpdateServiceGenerator` writes them, without its time stamps.
 */
import * as z from 'zod'
import {
  exactly,
  keptMetadata,
  Metadata,
  parseResource,
  type ResourceFile,
  renderResource,
} from './resource-document.ts'

export interface UpdateServiceSpec {
  /** Repository of the release images, without tag. */
  readonly releases: string
  /** Image with the graph data, with its tag. */
  readonly graphDataImage: string
}

const apiVersion = 'updateservice.operator.openshift.io/v1'

const UpdateService = z.looseObject({
  apiVersion: exactly(apiVersion),
  kind: exactly('UpdateService'),
  metadata: Metadata.extend({ name: z.string() }),
  spec: z.looseObject({ replicas: z.int().min(1).optional() }),
})

/**
 * YAML for `oc apply -f`. Of a file that is there already, everything is kept that is not decided by the mirror: replicas,
 * name and namespace, annotations, further fields of the specification.
 *
 * @param previous text of that file
 * @throws KnownError CONFIG_INVALID where it holds something else
 */
export function renderUpdateService(spec: UpdateServiceSpec, previous?: ResourceFile): string {
  const kept = previous && parseResource(previous, UpdateService, 'an UpdateService')
  const { name = 'update-service-oc-mirror', namespace = 'openshift-update-service' } = kept?.metadata ?? {}
  const { releases, graphDataImage } = spec
  const { replicas = 2, releases: _, graphDataImage: __, ...further } = kept?.spec ?? {}
  const resource = {
    apiVersion,
    kind: 'UpdateService',
    metadata: keptMetadata({ name, namespace }, kept?.metadata),
    spec: { replicas, releases, graphDataImage, ...further },
  }
  return renderResource(resource, previous && { text: previous.text, kept })
}
