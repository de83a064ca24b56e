/** What a plan says is to be brought, checked as if it were chosen now. */
import type { ResolvedImage } from '../mirror/closure.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import type { Failures } from '../mirror/failures.ts'
import { withMadeContent } from '../mirror/made-content.ts'
import type { MirrorPlan } from '../mirror/plan.ts'
import { resolvedImagesOf, selectedImagesOf } from '../mirror/planned-images.ts'
import { checkImages } from '../mirror/resolve-images.ts'
import type { SelectedImage } from '../mirror/selection.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import { keptMadeImages } from './kept-made.ts'
import { imageChecks, type MirrorServices } from './mirror-services.ts'
import { untrustedReleases } from './release-trust.ts'

export interface PlannedRun {
  readonly target: MirrorTarget
  readonly workspace: Workspace
  readonly source: ContentSource
  readonly services: MirrorServices
  /** Takes what may not be mirrored. */
  readonly failures: Failures
  readonly signal: AbortSignal
}

export interface PlannedSelection {
  readonly images: readonly SelectedImage[]
  readonly resolved: readonly ResolvedImage[]
  /** With what was made when the plan was: it names that by digest. */
  readonly source: ContentSource
}

/** @throws KnownError PLAN_INVALID where the plan is for another target */
export async function selectPlanned(plan: MirrorPlan, run: PlannedRun): Promise<PlannedSelection> {
  const { target, workspace, services, failures, signal } = run
  const images = selectedImagesOf(plan, target)
  const source = withMadeContent(run.source, await keptMadeImages(workspace, services.making, signal))
  const untrusted = await untrustedReleases(plan, services.trust, { source, signal })
  for (const { image, error } of untrusted) failures.add(image, error)
  const resolved = resolvedImagesOf(plan)
  const trusted = resolved.filter(({ selected }) => !failures.has(selected))
  // Nothing of what the target held moves; what it lost since is checked when it is resolved again.
  const moving = trusted.filter(({ manifests }) => manifests.length > 0)
  await checkImages(moving, { source, signal, failures, check: imageChecks(services) })
  return { images, source, resolved: trusted.filter(({ selected }) => !failures.has(selected)) }
}
