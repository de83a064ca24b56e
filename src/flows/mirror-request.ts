import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import type { OnMirrorEvent } from '../mirror/events.ts'
import type { FailurePolicy } from '../mirror/failure-policy.ts'
import type { MirrorPlan } from '../mirror/plan.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import type { MirrorServices } from './mirror-services.ts'

/** What is asked of every mirror run, wherever it leads. */
export interface AnyMirrorRequest {
  readonly config: ImageSetConfiguration
  readonly workspace: Workspace
  readonly source: ContentSource
  readonly signal: AbortSignal
  readonly onEvent: OnMirrorEvent
  /** Plan only: nothing is written but what stands in `dry-run/`, and the manifests that were read. */
  readonly isDryRun?: boolean
  readonly concurrency?: number
  /** In a dry run, name every platform of an image. */
  readonly isByPlatform?: boolean
  /** What to carry out, instead of making a plan from the configuration. */
  readonly plan?: MirrorPlan
  /** Default: that of the configuration. */
  readonly policy?: FailurePolicy
  /** Only what the last run could not bring. */
  readonly isRetry?: boolean
  /** Leave out signatures and whatever else is attached. */
  readonly withoutAttached?: boolean
  readonly services?: MirrorServices
}
