import { type ImageSetConfiguration, openImageSetConfiguration } from '../config/image-set-configuration.ts'
import { findingLine } from '../config/invalid-config.ts'
import { ignoredParts, refuseUnsupported, withoutClasses } from '../config/unsupported-parts.ts'
import type { CliContext } from './context.ts'

/**
 * Loads what to mirror. Tells on standard error what is read without effect, and what the failure policy leaves out.
 *
 * @throws KnownError CONFIG_INVALID, also for what this version does not carry out
 */
export async function loadMirrorConfiguration(
  path: string,
  { log }: Pick<CliContext, 'log'>,
): Promise<ImageSetConfiguration> {
  const loaded = await openImageSetConfiguration(path)
  for (const told of [...loaded.findings, ...ignoredParts(loaded)]) {
    if (told.severity === 'info') log.info(findingLine(told))
    else log.warn(findingLine(told))
  }
  const { configuration } = loaded
  const leftOut = refuseUnsupported(loaded, configuration.failurePolicy)
  for (const part of leftOut) log.warn(`left out (failurePolicy ${part.class}: skip): ${findingLine(part)}`)
  return withoutClasses(configuration, new Set(leftOut.map((part) => part.class)))
}
