/** What loading archives did, for people. */
import type { ArchiveLoad } from '../../flows/disk-to-mirror.ts'
import { renderDryRun, renderMirrorResult } from './mirror-result.ts'

export function renderLoads(
  loads: readonly ArchiveLoad[],
  { isDryRun, elapsedMs }: { readonly isDryRun: boolean; readonly elapsedMs: number },
): string {
  return loads.map((load) => renderLoad(load, isDryRun, elapsedMs)).join('\n')
}

function renderLoad({ archive, findings, result }: ArchiveLoad, isDryRun: boolean, elapsedMs: number): string {
  const title = archive
    ? `archive ${archive.record.sequence} (${archive.record.kind}), ${archive.found.stem}`
    : 'archive of oc-mirror'
  const notes = findings.map(({ severity, summary }) => `${severity}: ${summary}\n`).join('')
  return `${title}\n${notes}${isDryRun ? renderDryRun(result) : renderMirrorResult(result, elapsedMs)}`
}
