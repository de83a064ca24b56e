/** What a mirror did, for people. */
import type { MirrorResult } from '../../flows/mirror-to-mirror.ts'
import type { FailedImage } from '../../mirror/failures.ts'
import { formatReference } from '../../oci/reference.ts'
import { renderFailures, renderRetry } from './failures.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

export function renderMirrorResult(result: MirrorResult, elapsedMs: number): string {
  const { plan, proven, blocked, failures, report, files, policy } = result
  const lines: string[] = []
  const there = proven + plan.totals.present
  const moved = report
    ? `${count(report.pushedBlobs, 'blob')} (${formatBytes(report.pushedBytes)}) moved, ${report.mountedBlobs} mounted, ${report.presentBlobs} there already`
    : 'nothing to move'
  const summary = `${count(proven + plan.totals.images, 'image')}: ${there} there already, ${plan.totals.images - plan.totals.present - failed(result)} mirrored`
  lines.push(
    `${summary}${failures.length > 0 ? `, ${failures.length} failed` : ''}; ${moved}; ${formatDuration(elapsedMs)}`,
  )
  if (blocked.length > 0) lines.push(`${count(blocked.length, 'image')} left out by blockedImages`)
  lines.push(...renderRetry(result))
  if (failures.length > 0) lines.push('', ...renderFailures(failures, policy))
  if (files.length > 0) lines.push('', 'files:', ...files.map((file) => `  ${file}`))
  lines.push('', ...nextStep(result))
  return `${lines.join('\n')}\n`
}

/** Failures of images that the plan has; one that could not be resolved is in no plan. */
function failed({ failures, plan }: MirrorResult): number {
  const planned = new Set(plan.images.map(({ destination }) => destination))
  return failures.filter(({ image }) => planned.has(formatReference(image.destination))).length
}

function nextStep({ failures, files }: MirrorResult): string[] {
  if (failures.length > 0)
    return [
      'Run the same command again when that is mended: what arrived is kept and not moved twice.',
      'With --retry-failed only what failed is looked at.',
    ]
  const directory = files[0]?.replace(/\/[^/]+$/, '')
  return directory ? [`Next: sallyport verify mirror, then oc apply -f ${directory}`] : []
}

type PlannedRun = Pick<MirrorResult, 'plan' | 'blocked' | 'failures' | 'policy'>

export function renderDryRun(result: MirrorResult): string {
  const { plan, proven, files } = result
  const { totals } = plan
  const lines = [
    `would mirror to ${plan.target}:`,
    `  images     ${count(proven + totals.images, 'image')}, ${proven + totals.present} there already`,
    `  bytes      ${formatBytes(totals.bytes)} in ${count(totals.blobs, 'blob')}, each moved once (${formatBytes(totals.logicalBytes)} if every image were copied by itself)`,
    `  mounts     ${totals.mounts} within the target`,
    `  manifests  ${totals.manifests}`,
    ...dryRunTail(result),
    '',
    ...files.map((file) => `mapping: ${file}`),
  ]
  return `${lines.join('\n')}\n`
}

/** What both directions say of a plan besides its totals. */
export function dryRunTail({ plan, blocked, failures, policy }: PlannedRun): string[] {
  return [
    ...(blocked.length > 0 ? [`  left out   ${count(blocked.length, 'image')} by blockedImages`] : []),
    ...(failures.length > 0 ? ['', ...renderFailures(failures, policy)] : []),
    '',
    'largest blobs:',
    ...plan.blobs
      .slice(0, 10)
      .map(({ digest, size, source }) => `  ${formatBytes(size).padStart(9)}  ${digest.slice(0, 19)}  ${source}`),
  ]
}

export function mirrorJson(
  { plan, proven, blocked, failures, report, files, exitStatus }: MirrorResult,
  elapsedMs: number,
): object {
  return {
    target: plan.target,
    totals: { ...plan.totals, proven },
    ...(report && { report: { ...report, failures: undefined } }),
    blocked: blocked.map(({ source }) => formatReference(source)),
    failures: failures.map(failureJson),
    files,
    elapsedMs,
    exitStatus,
  }
}

export function failureJson({ image, error: { code, message, hint, details } }: FailedImage): object {
  return {
    source: formatReference(image.source),
    destination: formatReference(image.destination),
    class: image.class,
    error: { code, message, hint, details },
  }
}
