/**
 * CatalogSource: what the lifecycle manager (OLM) of a cluster reads operators from.
 *
 * Source: operator-framework/api `pkg/operators/v1alpha1/catalogsource_types.go`; names and values as openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go:generateCatalogSource` writes them, without its time stamps.
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

const apiVersion = 'operators.coreos.com/v1alpha1'
const namespace = 'openshift-marketplace'

/** What OLM reads with Go's `time.ParseDuration`; anything else it takes for 15 minutes, and marks the resource. */
const duration = z.string().regex(/^(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|µs|ns))+$/, 'is no duration such as 30m')

const GrpcPodConfig = z.looseObject({
  securityContextConfig: z.enum(['legacy', 'restricted']).optional(),
  extractContent: z.looseObject({ cacheDir: z.string().optional(), catalogDir: z.string().optional() }).optional(),
})

const CatalogSource = z.looseObject({
  apiVersion: exactly(apiVersion),
  kind: exactly('CatalogSource'),
  metadata: Metadata.optional(),
  spec: z
    .looseObject({
      sourceType: exactly('grpc').optional(),
      configMap: z.literal('', 'is of no use: a mirrored catalog is served from its image').optional(),
      image: z.string().optional(),
      displayName: z.string().optional(),
      publisher: z.string().optional(),
      priority: z.int().optional(),
      secrets: z.array(z.string()).optional(),
      updateStrategy: z
        .looseObject({ registryPoll: z.looseObject({ interval: duration.optional() }).optional() })
        .optional(),
      grpcPodConfig: GrpcPodConfig.optional(),
    })
    .optional(),
})
export type CatalogSource = z.infer<typeof CatalogSource>

/**
 * A CatalogSource for a catalog that is served from its image.
 *
 * @throws KnownError CONFIG_INVALID with the place, where it is something else
 */
export function parseCatalogSource(file: ResourceFile): CatalogSource | undefined {
  return parseResource(file, CatalogSource, 'a CatalogSource')
}

export interface WantedCatalogSource {
  readonly name: string
  /** True where a person chose this name in the configuration: it replaces that of an earlier file. */
  readonly isNameChosen?: boolean
  /** With tag or digest. */
  readonly image: string
}

/**
 * YAML for `oc apply -f`. Of a file that is there already everything is kept but the image: a person may have added a
 * name, a poll interval, tolerations. A template decides over what it has itself; its name, namespace, type and image are
 * replaced, as oc-mirror does.
 *
 * @throws KnownError CONFIG_INVALID with the place, where one of the files is no such CatalogSource
 */
export function renderCatalogSource(
  wanted: WantedCatalogSource,
  {
    previous,
    template,
  }: { readonly previous?: ResourceFile | undefined; readonly template?: ResourceFile | undefined } = {},
): string {
  const kept = previous && parseCatalogSource(previous)
  const model = template && parseCatalogSource(template)
  const name = (wanted.isNameChosen ? undefined : kept?.metadata?.name) ?? wanted.name
  const annotations = { ...kept?.metadata?.annotations, ...model?.metadata?.annotations }
  const labels = { ...kept?.metadata?.labels, ...model?.metadata?.labels }
  const { sourceType: _, image: __, ...further } = { ...kept?.spec, ...model?.spec }
  const resource = {
    apiVersion,
    kind: 'CatalogSource',
    metadata: keptMetadata(
      { name, namespace: kept?.metadata?.namespace ?? namespace },
      { ...kept?.metadata, ...model?.metadata, annotations, labels },
    ),
    spec: {
      sourceType: 'grpc',
      image: wanted.image,
      ...((kept ?? model) ? further : podConfigOf(wanted.image)),
    },
  }
  return renderResource(resource, previous && { text: previous.text, kept })
}

/**
 * A catalog of OpenShift 4.12 or newer runs in the `restricted` mode of Pod Security Admission, as the cluster's own
 * sources ask for (operator-framework/operator-marketplace `defaults/`); of any other nobody knows whether its `opm` can.
 *
 * `extractContent` is left out: it wants a cache in the image, which that of a filtered catalog does not have.
 */
function podConfigOf(image: string): object {
  const [, major, minor] = /:v(\d+)\.(\d+)(?:[-.][^/]*)?$/.exec(image) ?? []
  const version = major === undefined || minor === undefined ? undefined : Number(major) * 1000 + Number(minor)
  if (version === undefined || version < 4012) return {}
  return { grpcPodConfig: { securityContextConfig: 'restricted' } }
}
