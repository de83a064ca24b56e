/** What carrying damaged content again did, for people. */
import type { RepairResult } from '../../flows/repair-archive.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

export function renderRepair({ record, files, bytes, holes, fromVolumes }: RepairResult, elapsedMs: number): string {
  const { totals, sequence } = record
  const here = fromVolumes > 0 ? `, ${fromVolumes} of them from volumes on this side` : ''
  const lines = [
    `repair of archive ${sequence}: ${count(totals.blobs, 'blob')} and ${count(totals.manifests, 'manifest')}, ${formatBytes(totals.bytes)}${here}; ${formatDuration(elapsedMs)}`,
    `${count(files.length, 'volume')}, ${formatBytes(bytes)}:`,
    ...files.map((file) => `  ${file}`),
    ...(holes.length > 0 ? ['', `missing: ${count(holes.length, 'blob')} could be had nowhere any more:`] : []),
    ...holes.slice(0, 5).map((digest) => `  ${digest}`),
    '',
    'Next: put the files beside the damaged volumes; sallyport archive verify DIR is then clean, and mirror --from DIR loads them.',
  ]
  return `${lines.join('\n')}\n`
}

export function repairJson(result: RepairResult, elapsedMs: number): object {
  const { id, record, files, bytes, checksum, holes, fromVolumes } = result
  const { sequence, repairs, totals } = record
  return { archive: { id, sequence, repairs, totals, files, bytes, checksum, holes }, fromVolumes, elapsedMs }
}
