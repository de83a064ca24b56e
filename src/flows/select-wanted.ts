/** The images that a run is to bring: what the configuration asks for, as far as the policy and `--retry-failed` let it. */
import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { readFailed, selectFailed } from '../mirror/failed.ts'
import { type FailurePolicy, skippedClasses } from '../mirror/failure-policy.ts'
import type { MadeImage } from '../mirror/made-content.ts'
import { distinctImages, selectImages } from '../mirror/select.ts'
import type { SelectOptions } from '../mirror/select-release.ts'
import type { Selection } from '../mirror/selection.ts'
import { selectMade } from './made-images.ts'
import type { MirrorServices } from './mirror-services.ts'

export interface WantedOptions extends SelectOptions {
  readonly config: ImageSetConfiguration
  readonly target: MirrorTarget
  readonly policy: FailurePolicy
  /** Only what the last run could not bring. */
  readonly isRetry: boolean
  readonly services: MirrorServices
}

export interface WantedSelection extends Selection {
  /** To be laid over the source. */
  readonly made: readonly MadeImage[]
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
  const { config, target, policy, isRetry, workspace, services } = options
  const { graphs, versionFilter, trust } = services
  const skip = skippedClasses(policy)
  const { bootFiles, ...images } = await selectImages(config, target, {
    ...options,
    ...{ skip, graphs, versionFilter },
    checkRelease: trust && ((release, digest, context) => trust.check(release, digest, context)),
  })
  const made = await selectMade(config, {
    ...options,
    making: services.making,
    check: services.checkImage,
    skip,
    bootFiles,
  })
  const selection = {
    ...{ made: made.made, blocked: images.blocked },
    images: distinctImages([...images.images, ...made.images]),
    unreadable: [...images.unreadable, ...made.unreadable],
    findings: [...images.findings, ...made.findings],
  }
  if (!isRetry) return selection
  const failed = (await readFailed(workspace)).get(formatMirrorTarget(target)) ?? []
  const again = selectFailed(selection.images, failed)
  return { ...selection, images: again.images, retry: { tried: again.images.length, gone: again.gone.length } }
}
