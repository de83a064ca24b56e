/** The images that a run is to bring: what the configuration asks for, as far as the policy and `--retry-failed` let it. */
import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { readFailed, selectFailed } from '../mirror/failed.ts'
import { type FailurePolicy, skippedClasses } from '../mirror/failure-policy.ts'
import { selectImages } from '../mirror/select.ts'
import type { SelectOptions } from '../mirror/select-release.ts'
import type { Selection } from '../mirror/selection.ts'

export interface WantedOptions extends SelectOptions {
  readonly config: ImageSetConfiguration
  readonly target: MirrorTarget
  readonly policy: FailurePolicy
  /** Only what the last run could not bring. */
  readonly isRetry: boolean
}

export interface WantedSelection extends Selection {
  /** What `--retry-failed` made of the last run. */
  readonly retry?: Retry
}

export interface Retry {
  /** How many images failed in the last run, and are tried again. */
  readonly tried: number
  /** How many failed, and are no longer asked for. */
  readonly gone: number
}

/** @throws KnownError CONFIG_INVALID */
export async function selectWanted(options: WantedOptions): Promise<WantedSelection> {
  const { config, target, policy, isRetry, workspace } = options
  const selection = await selectImages(config, target, { ...options, skip: skippedClasses(policy) })
  if (!isRetry) return selection
  const failed = (await readFailed(workspace)).get(formatMirrorTarget(target)) ?? []
  const { images, gone } = selectFailed(selection.images, failed)
  return { ...selection, images, retry: { tried: images.length, gone: gone.length } }
}
