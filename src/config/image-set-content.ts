/**
 * The four classes of content that an image set names: release, operators, additional images, charts. They have the same
 * fields in `mirror:` and in `delete:`.
 *
 * Source: openshift/oc-mirror `internal/pkg/api/v2alpha1/type_config.go, type_config_include.go, type_platform.go`;
 * `v1/pkg/api/v1alpha2/` for the fields that are marked as deprecated.
 */
import * as z from 'zod'
import { checkLocalChart, checkRepository } from './helm-rules.ts'
import { BootImageContent } from './image-set-files.ts'
import { always, checkCatalogs, checkPackage, checkPlatform, checkRange } from './image-set-rules.ts'
import { PlatformFilter, ReleaseArchitecture, values } from './image-set-values.ts'

const platforms = z
  .array(PlatformFilter)
  .optional()
  .meta({ description: 'Only these platforms of images that are made for several. Default: all.' })

const ReleaseChannel = z
  .strictObject({
    name: values.name.meta({ description: 'Channel of the update graph.', examples: ['stable-4.18'] }),
    type: z.enum(['ocp', 'okd']).optional().meta({ description: 'Default: ocp.' }),
    minVersion: values.releaseVersion.optional().meta({ description: 'Oldest release. Default: the newest.' }),
    maxVersion: values.releaseVersion
      .optional()
      .meta({ description: 'Newest release. Default: the newest of the channel.' }),
    shortestPath: z
      .boolean()
      .optional()
      .meta({ description: 'Only the releases of the shortest upgrade path from minVersion to maxVersion.' }),
    full: z.boolean().optional().meta({ description: 'All releases of the channel.' }),
  })
  .superRefine(checkRange, always)

/** `platform`: releases of OpenShift or OKD. */
export const PlatformContent = z
  .strictObject({
    release: values.image.optional().meta({
      description: 'One release image, instead of channels.',
      examples: ['quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64'],
    }),
    channels: z.array(ReleaseChannel).optional().meta({ description: 'Releases by channel and version.' }),
    graph: z.boolean().optional().meta({ description: 'Also the image with the update graph, and its UpdateService.' }),
    architectures: z
      .array(ReleaseArchitecture)
      .optional()
      .meta({ description: 'Architectures of the payloads. Default: amd64. Not together with platforms.' }),
    platforms,
    kubeVirtContainer: z
      .boolean()
      .optional()
      .meta({ description: 'Also the KubeVirt disk image that the release names.' }),
    bootImages: BootImageContent,
  })
  .superRefine(checkPlatform, always)
  .meta({ description: 'Releases of OpenShift or OKD.' })
export type PlatformContent = z.infer<typeof PlatformContent>

const range = {
  minVersion: values.operatorVersion.optional().meta({ description: 'Oldest version.' }),
  maxVersion: values.operatorVersion.optional().meta({ description: 'Newest version.' }),
  minBundle: values.name
    .optional()
    .meta({ deprecated: true, description: 'v1alpha2 only: the oldest bundle, by its name. Use minVersion.' }),
}

/** Additions of ours, each instead of a range. */
const steps = {
  heads: z
    .int()
    .min(0, { error: ({ input }) => `${input} is less than 0; 0 is the head alone` })
    .optional()
    .meta({
      description: 'The head of each channel and so many versions below it. Instead of minVersion and maxVersion.',
    }),
  installed: values.operatorVersion.optional().meta({
    description:
      'Version that a cluster runs: every version on its way to the head of the channel, as OLM goes it, without that version itself. Instead of minVersion and maxVersion.',
  }),
}

const OperatorChannel = z
  .strictObject({
    name: values.name.meta({ description: 'Channel of the package.' }),
    ...range,
    ...steps,
  })
  .superRefine(checkRange, always)

const OperatorPackage = z
  .strictObject({
    name: values.name.meta({ description: 'Package of the catalog.' }),
    defaultChannel: values.name
      .optional()
      .meta({ description: 'Becomes the default channel, where the package’s own one is not carried.' }),
    channels: z.array(OperatorChannel).optional().meta({ description: 'Only these channels. Default: all.' }),
    bundles: z
      .array(z.strictObject({ name: values.name.meta({ description: 'Name of the bundle.' }) }))
      .optional()
      .meta({ description: 'Only these bundles (oc-mirror 4.18 to 4.22).' }),
    ...range,
    ...steps,
  })
  .superRefine(checkPackage, always)

/** What to do about requirements of kept bundles that nothing kept satisfies. */
const DependencyPolicy = z.enum(['take', 'warn', 'fail', 'ignore'])

const OperatorCatalog = z.strictObject({
  catalog: values.catalog.meta({
    description: 'Catalog image with tag or digest, or oci:///path of an OCI layout.',
    examples: ['registry.redhat.io/redhat/redhat-operator-index:v4.18'],
  }),
  packages: z
    .array(OperatorPackage)
    .optional()
    .meta({ description: 'Only these packages. Default: all, each with the head of its channels.' }),
  full: z.boolean().optional().meta({ description: 'All versions, not only the heads of the channels.' }),
  targetCatalog: values.repositoryPath
    .optional()
    .meta({ description: 'Repository of the catalog at the target, without host and tag.' }),
  targetTag: values.tag.optional().meta({ description: 'Tag of the catalog at the target.' }),
  catalogSourceName: values.name.optional().meta({
    description:
      'Name of its CatalogSource: an addition of Sallyport, unknown to oc-mirror. Default: as oc-mirror names it.',
  }),
  targetCatalogSourceTemplate: values.name
    .optional()
    .meta({ description: 'File with a CatalogSource whose other fields are kept.' }),
  skipDependencies: z.boolean().optional().meta({
    deprecated: true,
    description: 'true: dependencies: ignore. oc-mirror v2 reads it without effect, as it resolves no dependencies.',
  }),
  dependencies: DependencyPolicy.optional().meta({
    description:
      'What kept bundles require (packages, APIs, constraints) and no kept bundle gives: take adds the best bundle for it, warn only says so, fail ends the run, ignore does not look. Default: warn.',
  }),
  platforms,
  targetName: values.name.optional().meta({
    deprecated: true,
    description: 'v1alpha2 only: last part of the name at the target. Use targetCatalog.',
  }),
  originalRef: values.name.optional().meta({ deprecated: true, description: 'v1alpha2 only; it has no effect.' }),
})

/** `operators`: catalogs, and what of them is wanted. */
export const OperatorContent = z
  .array(OperatorCatalog)
  .superRefine(checkCatalogs, always)
  .default([])
  .meta({ description: 'Operator catalogs, and which packages of them.' })
export type OperatorContent = z.infer<typeof OperatorContent>

/** `additionalImages`: images by name. */
export const AdditionalContent = z
  .array(
    z.strictObject({
      name: values.image.meta({
        description: 'Image with tag or digest; without both, latest.',
        examples: ['registry.redhat.io/ubi9/ubi:latest'],
      }),
      targetRepo: values.repositoryPath
        .optional()
        .meta({ description: 'Repository at the target, without host and tag. Default: as at the source.' }),
      targetTag: values.tag.optional().meta({ description: 'Tag at the target. Default: as at the source.' }),
      platforms,
    }),
  )
  .default([])
  .meta({ description: 'Images by name.' })

const helmAddition = 'An addition of Sallyport, unknown to oc-mirror.'

const chart = {
  name: values.name.meta({ description: 'Name of the chart.' }),
  version: values.name.optional().meta({
    description: 'Version of the chart, or a range of which the newest is taken. Default: the newest.',
  }),
  path: values.name
    .optional()
    .meta({ description: 'File or directory of a local chart, relative to the directory that the command is run in.' }),
  imagePaths: z
    .array(values.jsonPath)
    .optional()
    .meta({ description: 'JSONPaths of more images in the rendered manifests.' }),
  values: z
    .array(values.name)
    .optional()
    .meta({
      description: `Values files that the chart is rendered with, relative to the directory that the command is run in; of several the later ones win. ${helmAddition}`,
    }),
  includeDefaults: z
    .boolean()
    .optional()
    .meta({
      description: `False: only the rendering with the values files counts, and none with the chart’s own values. ${helmAddition}`,
    }),
  platforms,
}

const Chart = z.strictObject(chart)
export type ChartEntry = z.infer<typeof Chart>

/** `helm`: charts whose images are wanted. */
export const HelmContent = z
  .strictObject({
    repositories: z
      .array(
        z
          .strictObject({
            name: values.name.meta({ description: 'Name of the repository.' }),
            url: z
              .string()
              .regex(/^(?:https?|file|oci):\/\/.+/, {
                error: ({ input }) =>
                  `"${input}" is not a URL of charts, for example https://charts.lab/stable or oci://registry.lab/charts`,
              })
              .meta({
                description:
                  'URL of the repository: where its index.yaml is; or the path in a registry below which the charts are, as oci://HOST/PATH (an addition of Sallyport).',
              }),
            charts: z
              .array(Chart)
              .optional()
              .meta({ description: 'Only these charts. Default: all of the repository, in all versions.' }),
          })
          .superRefine(checkRepository, always),
      )
      .optional()
      .meta({ description: 'Repositories with charts.' }),
    local: z
      .array(Chart.superRefine(checkLocalChart, always))
      .optional()
      .meta({ description: 'Charts on this machine.' }),
  })
  .meta({ description: 'Helm charts, and the images that they use.' })
export type HelmContent = z.infer<typeof HelmContent>
