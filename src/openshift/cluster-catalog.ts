/**
 * ClusterCatalog: what OLM v1 of a cluster reads operators from.
 *
 * Source: operator-framework/operator-controller `api/v1/clustercatalog_types.go`; names and values as openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go:generateClusterCatalog` writes them, without its time stamps.
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

const apiVersion = 'olm.operatorframework.io/v1'

const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1)

const ClusterCatalog = z.looseObject({
  apiVersion: exactly(apiVersion),
  kind: exactly('ClusterCatalog'),
  metadata: Metadata.optional(),
  spec: z
    .looseObject({
      priority: int32.optional(),
      availabilityMode: z.enum(['Available', 'Unavailable']).optional(),
      source: z
        .looseObject({
          type: exactly('Image').optional(),
          image: z
            .looseObject({ ref: z.string().optional(), pollIntervalMinutes: z.int().min(1).optional() })
            .optional(),
        })
        .optional(),
    })
    .optional(),
})
export type ClusterCatalog = z.infer<typeof ClusterCatalog>

/** @throws KnownError CONFIG_INVALID with the place, where it is something else */
export function parseClusterCatalog(file: ResourceFile): ClusterCatalog | undefined {
  return parseResource(file, ClusterCatalog, 'a ClusterCatalog')
}

/**
 * YAML for `oc apply -f`. Of a file that is there already everything is kept but the image: priority, availability, how
 * often it is looked for anew.
 *
 * @throws KnownError CONFIG_INVALID with the place, where `previous` is no ClusterCatalog
 */
export function renderClusterCatalog(
  { name, image }: { readonly name: string; readonly image: string },
  previous?: ResourceFile,
): string {
  const kept = previous && parseClusterCatalog(previous)
  const { source, ...further } = kept?.spec ?? {}
  const { ref: _, ...polling } = source?.image ?? {}
  const resource = {
    apiVersion,
    kind: 'ClusterCatalog',
    metadata: keptMetadata({ name: kept?.metadata?.name ?? name }, kept?.metadata),
    spec: { source: { type: 'Image', image: { ref: image, ...polling } }, ...further },
  }
  return renderResource(resource, previous && { text: previous.text, kept })
}
