import {
  type ImageSetConfiguration,
  openImageSetConfiguration,
  parseImageSetConfiguration,
} from '../config/image-set-configuration.ts'
import { findingLine } from '../config/invalid-config.ts'
import { ignoredParts, refuseUnsupported, withoutClasses } from '../config/unsupported-parts.ts'
import { readTextFile } from '../config/yaml-document.ts'
import { type FailurePolicy, failurePolicyOf, parseOnFailure } from '../mirror/failure-policy.ts'
import type { MirrorPlan } from '../mirror/plan.ts'
import { parsePlan } from '../mirror/plan-file.ts'
import type { CliContext } from './context.ts'
import { leftOutLines } from './left-out.ts'

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
  for (const line of leftOutLines(loaded.configuration, policy)) log.warn(line)
  return { config: withoutClasses(loaded.configuration, new Set(leftOut.map((part) => part.class))), policy }
}

/** Where a plan, or a repair list, says what to mirror. */
export function planAlone(onFailure: string | undefined): LoadedConfiguration {
  const text = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror: {}\n'
  const config = parseImageSetConfiguration({ file: 'none', text })
  return { config, policy: failurePolicyOf(onFailure === undefined ? undefined : parseOnFailure(onFailure)) }
}

/** @throws KnownError PLAN_INVALID, FILE_UNREADABLE */
export async function loadPlan(path: string): Promise<MirrorPlan> {
  return parsePlan(await readTextFile(path), path)
}
