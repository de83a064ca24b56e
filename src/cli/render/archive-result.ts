/** What mirroring to disk did, for people. */
import type { MirrorToDiskResult } from '../../flows/mirror-to-disk.ts'
import { formatReference } from '../../oci/reference.ts'
import { renderFailures, renderRetry } from './failures.ts'
import { dryRunTail, failureJson } from './mirror-result.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

interface About {
  readonly directory: string
  readonly elapsedMs: number
}

export function renderArchiveResult(result: MirrorToDiskResult, { directory, elapsedMs }: About): string {
  const { archive, failures, blocked, proven, policy } = result
  const lines: string[] = []
  if (archive) {
    const { record, files, bytes } = archive
    const { totals, kind } = record
    const held = proven > 0 ? `; ${count(proven, 'image')} held there already` : ''
    lines.push(
      `archive ${record.sequence} (${kind === 'full' ? 'full: it needs nothing there' : 'increment'}) for ${record.target ?? 'any target'}: ${count(record.images.length, 'image')}, ${count(totals.blobs, 'blob')}, ${formatBytes(totals.bytes)}${held}; ${formatDuration(elapsedMs)}`,
      `${count(files.length, 'volume')}, ${formatBytes(bytes)}:`,
      ...files.map((file) => `  ${file}`),
    )
  } else {
    lines.push(
      `nothing new: the other side holds all ${count(proven, 'image')}; no archive was written; ${formatDuration(elapsedMs)}`,
    )
  }
  if (blocked.length > 0) lines.push(`${count(blocked.length, 'image')} left out by blockedImages`)
  lines.push(...renderRetry(result))
  if (failures.length > 0) lines.push('', ...renderFailures(failures, policy))
  lines.push('', ...nextSteps(result, directory))
  return `${lines.join('\n')}\n`
}

function nextSteps({ archive, failures }: MirrorToDiskResult, directory: string): string[] {
  const retry =
    failures.length > 0
      ? ['When that is mended, run the same command again: the next archive brings what is missing in this one.']
      : []
  if (!archive) return retry
  return [
    ...retry,
    `Next: sallyport archive verify ${directory}, carry the files across, and there: sallyport mirror --from file://DIR docker://HOST/PATH`,
  ]
}

export function renderArchiveDryRun(result: MirrorToDiskResult, about: About): string {
  const { plan, proven, files } = result
  const { totals } = plan
  const lines = [
    `would write to ${about.directory}:`,
    `  images     ${count(proven + totals.images, 'image')}, ${proven} of them held by the other side`,
    `  bytes      ${formatBytes(totals.bytes)} in ${count(totals.blobs, 'blob')}, and ${count(plan.manifests.length, 'manifest')}`,
    ...dryRunTail(result),
    '',
    ...files.map((file) => `images: ${file}`),
  ]
  return `${lines.join('\n')}\n`
}

export function archiveJson(result: MirrorToDiskResult, elapsedMs: number): object {
  const { archive, plan, proven, blocked, failures, exitStatus } = result
  return {
    totals: { ...plan.totals, proven },
    ...(archive && {
      archive: {
        id: archive.id,
        sequence: archive.record.sequence,
        kind: archive.record.kind,
        target: archive.record.target,
        totals: archive.record.totals,
        files: archive.files,
        bytes: archive.bytes,
        checksum: archive.checksum,
        holes: archive.holes,
      },
    }),
    blocked: blocked.map(({ source }) => formatReference(source)),
    failures: failures.map(failureJson),
    elapsedMs,
    exitStatus,
  }
}
