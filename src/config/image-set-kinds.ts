/** For who takes both kinds of file: which of the two it is stands in it. */
import { DeleteImageSetConfiguration, readDeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import { ImageSetConfiguration, readImageSetConfiguration } from './image-set-configuration.ts'
import type { LoadedFile } from './image-set-file.ts'
import { openYaml, type YamlFile, type YamlSource } from './yaml-document.ts'

export type EitherConfiguration = ImageSetConfiguration | DeleteImageSetConfiguration

/**
 * Loads a file of either kind; one that is neither is taken for an ImageSetConfiguration, and refused as such.
 *
 * @throws InvalidConfiguration
 */
export function readEitherKind(source: YamlSource): LoadedFile<EitherConfiguration> {
  return isDelete(openYaml(source)) ? readDeleteImageSetConfiguration(source) : readImageSetConfiguration(source)
}

/** The schema of the kind that the file says it is. */
export function schemaOf(file: YamlFile): typeof DeleteImageSetConfiguration | typeof ImageSetConfiguration {
  return isDelete(file) ? DeleteImageSetConfiguration : ImageSetConfiguration
}

function isDelete({ document }: YamlFile): boolean {
  return document.has('kind') && document.get('kind') === 'DeleteImageSetConfiguration'
}
