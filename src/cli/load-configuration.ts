import { type ImageSetConfiguration, openImageSetConfiguration } from '../config/image-set-configuration.ts'
import { findingLine } from '../config/invalid-config.ts'
import { ignoredParts, refuseUnsupported, withoutClasses } from '../config/unsupported-parts.ts'
import { type FailurePolicy, failurePolicyOf, parseOnFailure } from '../mirror/failure-policy.ts'
import type { CliContext } from './context.ts'

export interface LoadedConfiguration {
  /** Without the classes of content that are left out. */
  readonly config: ImageSetConfiguration
  readonly policy: FailurePolicy
}

/**
 * Loads what to mirror. Tells on standard error what is read without effect, and what the failure policy leaves out.
 *
 * @param onFailure wins over the configuration, class by class
 * @throws KnownError CONFIG_INVALID, also for what this version does not carry out
 */
export async function loadMirrorConfiguration(
  path: string,
  onFailure: string | undefined,
  { log }: Pick<CliContext, 'log'>,
): Promise<LoadedConfiguration> {
  const said = onFailure === undefined ? undefined : parseOnFailure(onFailure)
  const loaded = await openImageSetConfiguration(path)
  for (const told of [...loaded.findings, ...ignoredParts(loaded)]) {
    if (told.severity === 'info') log.info(findingLine(told))
    else log.warn(findingLine(told))
  }
  const policy = failurePolicyOf(loaded.configuration.failurePolicy, said)
  const leftOut = refuseUnsupported(loaded, policy)
  for (const part of leftOut) log.warn(`left out (failure policy ${part.class}: skip): ${findingLine(part)}`)
  return { config: withoutClasses(loaded.configuration, new Set(leftOut.map((part) => part.class))), policy }
}
