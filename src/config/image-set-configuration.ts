/**
 * `ImageSetConfiguration`: what to mirror, in oc-mirror's own format (v1alpha2 and v2alpha1; v1alpha1 is brought up to
 * date while it is read).
 *
 * Everything that the format has loads. What this version does not carry out is told by `unsupported-parts.ts`.
 *
 * Source: openshift/oc-mirror `internal/pkg/api/v2alpha1/type_config.go`, `v1/pkg/api/v1alpha2/types_config.go`.
 */
import * as z from 'zod'
import { checkFormerFields } from './former-fields.ts'
import { checkBlockedImage } from './go-regexp.ts'
import { AdditionalContent, HelmContent, OperatorContent, PlatformContent } from './image-set-content.ts'
import { apiVersionField, type LoadedFile, loadImageSet, openImageSet } from './image-set-file.ts'
import { FileContent } from './image-set-files.ts'
import { always } from './image-set-rules.ts'
import { values } from './image-set-values.ts'
import type { YamlSource } from './yaml-document.ts'

const FailureAction = z.enum(['fail', 'warn', 'skip'])

const FailurePolicy = z
  .strictObject({
    release: FailureAction.optional().meta({ description: 'Default: fail.' }),
    operator: FailureAction.optional().meta({ description: 'Default: fail.' }),
    additional: FailureAction.optional().meta({ description: 'Default: fail.' }),
    helm: FailureAction.optional().meta({ description: 'Default: fail.' }),
  })
  .meta({
    description:
      'An addition of Sallyport, unknown to oc-mirror. What a failure of each class of content does: fail ends with an exit status, warn is told and forgiven, skip leaves the class out.',
  })

const StorageConfig = z
  .strictObject({
    registry: z
      .strictObject({
        imageURL: z.string().optional().meta({ description: 'Image that held the metadata.' }),
        skipTLS: z.boolean().optional().meta({ description: 'Whether its certificate was not verified.' }),
      })
      .optional()
      .meta({ description: 'Metadata in a registry.' }),
    local: z
      .strictObject({ path: z.string().optional().meta({ description: 'Directory that held the metadata.' }) })
      .optional()
      .meta({ description: 'Metadata in a directory.' }),
  })
  .meta({ deprecated: true, description: 'v1alpha2 only; read and ignored: history is kept in the workspace.' })

const MirrorSection = z
  .strictObject({
    platform: PlatformContent.optional(),
    operators: OperatorContent,
    additionalImages: AdditionalContent,
    helm: HelmContent.optional(),
    files: FileContent,
    blockedImages: z
      .array(
        z.strictObject({
          name: z
            .string()
            .superRefine(checkBlockedImage)
            .meta({ description: 'Regular expression (RE2) that is looked for in the full name of an image.' }),
        }),
      )
      .default([])
      .meta({ description: 'Images that are not mirrored, whatever asks for them.' }),
    samples: z
      .array(z.strictObject({ name: values.name.meta({ description: 'Name of the sample.' }) }))
      .default([])
      .meta({ deprecated: true, description: 'Read and ignored, as by oc-mirror, which never carried it out.' }),
  })
  .meta({ description: 'What to mirror.' })

export const ImageSetConfiguration = z
  .strictObject({
    kind: z.literal('ImageSetConfiguration').meta({ description: 'Kind of the file.' }),
    apiVersion: apiVersionField,
    archiveSize: z
      .number()
      .int({ error: 'a whole number of GiB is wanted, without a unit' })
      .positive({ error: 'a whole number of GiB is wanted, 1 or more' })
      .optional()
      .meta({ description: 'Size of the volumes of an archive in GiB. Default: 500.' }),
    mirror: MirrorSection,
    storageConfig: StorageConfig.optional(),
    failurePolicy: FailurePolicy.optional(),
  })
  .superRefine((configuration, context) => checkFormerFields({ configuration, section: 'mirror' }, context), always)
export type ImageSetConfiguration = z.infer<typeof ImageSetConfiguration>

/** The configuration, with what was understood in it but should be written in another way. */
export type LoadedImageSet = LoadedFile<ImageSetConfiguration>

/** @throws KnownError CONFIG_INVALID, also where the file cannot be read: a configuration that does not load ends with 78 */
export async function openImageSetConfiguration(path: string): Promise<LoadedImageSet> {
  return openImageSet(path, { kind: 'ImageSetConfiguration', section: 'mirror', schema: ImageSetConfiguration })
}

/** As `openImageSetConfiguration`, for who has no use for the findings. */
export async function loadImageSetConfiguration(path: string): Promise<ImageSetConfiguration> {
  return (await openImageSetConfiguration(path)).configuration
}

/** @throws KnownError CONFIG_INVALID with every finding at its line and column */
export function parseImageSetConfiguration(source: YamlSource): ImageSetConfiguration {
  return readImageSetConfiguration(source).configuration
}

/** @throws KnownError CONFIG_INVALID with every finding at its line and column */
export function readImageSetConfiguration(source: YamlSource): LoadedImageSet {
  return loadImageSet(source, { kind: 'ImageSetConfiguration', section: 'mirror', schema: ImageSetConfiguration })
}
