/** Plans and what differs from them, for people. */
import type { TargetComparison } from '../../mirror/compare-with-target.ts'
import type { DiffBlob, DiffImage, PlanDiff } from '../../mirror/plan-diff.ts'
import type { LargeBlob, PlanSummary } from '../../mirror/plan-summary.ts'
import { count, formatBytes } from './quantities.ts'

export function renderPlanSummary({ target, totals, classes, largest }: PlanSummary): string {
  const byClass = Object.entries(classes).map(([name, { images, present }]) => {
    return `  ${name.padEnd(11)}${count(images, 'image')}${present > 0 ? `, ${present} there already` : ''}`
  })
  const lines = [
    `plan for ${target}: ${count(totals.images, 'image')}, ${totals.present} there already`,
    ...byClass,
    `  bytes      ${formatBytes(totals.bytes)} in ${count(totals.blobs, 'blob')}, each moved once (${formatBytes(totals.logicalBytes)} if every image were copied by itself)`,
    `  mounts     ${totals.mounts} within the target`,
    `  manifests  ${totals.manifests}`,
    ...(largest.length > 0 ? ['', 'largest blobs:', ...largest.flatMap(renderLargeBlob)] : []),
  ]
  return `${lines.join('\n')}\n`
}

function renderLargeBlob({ digest, size, source, images, why }: LargeBlob): string[] {
  const [first = '', ...others] = images
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return [`  ${formatBytes(size).padStart(9)}  ${short(digest)}  ${source}`, `             for ${first}${more}: ${why}`]
}

export function renderPlanDiff({ images, blobs }: PlanDiff): string {
  const { added, removed, changed, same } = images
  const isSame = added.length + removed.length + changed.length === 0
  const summary = isSame
    ? `the same ${count(same, 'image')}`
    : `images: ${added.length} added, ${removed.length} removed, ${changed.length} changed, ${same} the same`
  const lines = [
    summary,
    ...listed(added, (image) => `  + ${image.destination}  (${image.why})`),
    ...listed(removed, (image) => `  - ${image.destination}  (${image.why})`),
    ...listed(changed, (image) => `  ~ ${image.destination}  ${short(image.before)} is now ${short(image.digest)}`),
    `to move: ${quantity(blobs.added)} more, ${quantity(blobs.removed)} less, ${count(blobs.same, 'blob')} (${formatBytes(blobs.sameBytes)}) the same`,
  ]
  return `${lines.join('\n')}\n`
}

export function renderTargetComparison({ target, images, blobs }: TargetComparison): string {
  const { there, missing, differing, unplanned } = images
  if (missing.length + differing.length === 0) {
    return `everything of the plan is at ${target}: ${count(there, 'image')}\n`
  }
  const lines = [
    `${target} has ${count(there, 'image')} of the plan; ${missing.length} missing, ${differing.length} different`,
    ...listed(missing, (image) => `  missing  ${image.destination}  (${image.why})`),
    ...listed(
      differing,
      (image) => `  differs  ${image.destination}  is ${short(image.before)}, planned ${short(image.digest)}`,
    ),
    `to move: ${quantity(blobs.missing)}; ${count(blobs.there, 'blob')} (${formatBytes(blobs.thereBytes)}) there already`,
    ...(unplanned.length > 0 ? unplannedLines(unplanned) : []),
  ]
  return `${lines.join('\n')}\n`
}

function unplannedLines(unplanned: readonly string[]): string[] {
  return [
    `the plan counts ${count(unplanned.length, 'image')} as there that ${unplanned.length === 1 ? 'is' : 'are'} not, and moves nothing for ${unplanned.length === 1 ? 'it' : 'them'}: ${unplanned.slice(0, 3).join(', ')}${unplanned.length > 3 ? ', …' : ''}`,
    '  next: make the plan anew with sallyport mirror --plan-only FILE',
  ]
}

const shownOfAKind = 20

function listed<Image extends DiffImage>(images: readonly Image[], line: (image: Image) => string): string[] {
  const lines = images.slice(0, shownOfAKind).map(line)
  const more = images.length - lines.length
  return more > 0 ? [...lines, `    and ${more} more (--json lists them all)`] : lines
}

function quantity(blobs: readonly DiffBlob[]): string {
  return `${count(blobs.length, 'blob')} (${formatBytes(blobs.reduce((sum, { size }) => sum + size, 0))})`
}

/** `sha256:0123456789ab`: enough to tell two apart. */
function short(digest: string): string {
  return digest.slice(0, digest.indexOf(':') + 13)
}
