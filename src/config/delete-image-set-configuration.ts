/**
 * `DeleteImageSetConfiguration`: what to take off a mirror. The same content as in `ImageSetConfiguration`, under
 * `delete:`.
 *
 * Source: openshift/oc-mirror `internal/pkg/api/v2alpha1/type_config.go`, `internal/pkg/config/load.go`.
 */
import * as z from 'zod'
import { checkFormerFields } from './former-fields.ts'
import { AdditionalContent, HelmContent, OperatorContent, PlatformContent } from './image-set-content.ts'
import { apiVersionField, type ImageSetFormat, type LoadedFile, loadImageSet, openImageSet } from './image-set-file.ts'
import { DeletedFileContent } from './image-set-files.ts'
import { always } from './image-set-rules.ts'
import { values } from './image-set-values.ts'
import type { YamlSource } from './yaml-document.ts'

const DeleteSection = z
  .strictObject({
    platform: PlatformContent.optional(),
    operators: OperatorContent,
    additionalImages: AdditionalContent,
    helm: HelmContent.optional(),
    files: DeletedFileContent,
    samples: z
      .array(z.strictObject({ name: values.name.meta({ description: 'Name of the sample.' }) }))
      .default([])
      .meta({ deprecated: true, description: 'Read and ignored, as by oc-mirror, which never carried it out.' }),
  })
  .meta({ description: 'What to delete.' })

export const DeleteImageSetConfiguration = z
  .strictObject({
    kind: z.literal('DeleteImageSetConfiguration').meta({ description: 'Kind of the file.' }),
    apiVersion: apiVersionField,
    delete: DeleteSection,
  })
  .superRefine((configuration, context) => checkFormerFields({ configuration, section: 'delete' }, context), always)
export type DeleteImageSetConfiguration = z.infer<typeof DeleteImageSetConfiguration>

const format: ImageSetFormat<typeof DeleteImageSetConfiguration> = {
  kind: 'DeleteImageSetConfiguration',
  section: 'delete',
  schema: DeleteImageSetConfiguration,
}

/** @throws KnownError CONFIG_INVALID, also where the file cannot be read */
export async function loadDeleteImageSetConfiguration(path: string): Promise<DeleteImageSetConfiguration> {
  return (await openImageSet(path, format)).configuration
}

/** @throws KnownError CONFIG_INVALID with every finding at its line and column */
export function readDeleteImageSetConfiguration(source: YamlSource): LoadedFile<DeleteImageSetConfiguration> {
  return loadImageSet(source, format)
}
