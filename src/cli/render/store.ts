import type { GarbageReport } from '../../store/collect-garbage.ts'
import type { StoreStatistics } from '../../store/statistics.ts'
import { count, formatBytes } from './quantities.ts'

export function renderGarbage(report: GarbageReport, isDryRun: boolean): string {
  const { blobsFreed, bytesFreed, blobsKept, bytesKept, manifestsRemoved, uploadsRemoved } = report
  const lines = [
    `${isDryRun ? 'Would free' : 'Freed'} ${formatBytes(bytesFreed)} in ${count(blobsFreed, 'blob')}; kept ${formatBytes(bytesKept)} in ${count(blobsKept, 'blob')}.`,
  ]
  if (manifestsRemoved > 0)
    lines.push(`${isDryRun ? 'Would remove' : 'Removed'} ${count(manifestsRemoved, 'manifest')} that no tag leads to.`)
  if (uploadsRemoved > 0) lines.push(`Removed ${count(uploadsRemoved, 'upload')} that nobody finished for a day.`)
  return `${lines.join('\n')}\n`
}

export function renderStatistics(statistics: StoreStatistics): string {
  const { repositories, manifests, tags, blobs, uniqueBytes, sharedBytes, unreferencedBytes } = statistics
  const width = Math.max(10, ...repositories.map(({ name }) => name.length))
  const row = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(11)).join('')}`
  const lines = [
    row('REPOSITORY', ['MANIFESTS', 'TAGS', 'BLOBS', 'SIZE']),
    ...repositories.map((one) => row(one.name, [one.manifests, one.tags, one.blobs, formatBytes(one.bytes)])),
    '',
    `${repositories.length === 1 ? '1 repository' : `${repositories.length} repositories`}, ${count(manifests, 'manifest')}, ${count(tags, 'tag')}, ${count(blobs, 'blob')}`,
    `on disk          ${formatBytes(uniqueBytes)}`,
    `saved by sharing ${formatBytes(sharedBytes)}`,
    `unreferenced     ${formatBytes(unreferencedBytes)}  (freed by: sallyport registry gc)`,
  ]
  if (statistics.uploads > 0)
    lines.push(`unfinished       ${count(statistics.uploads, 'upload')}, ${formatBytes(statistics.uploadBytes)}`)
  return `${lines.join('\n')}\n`
}
