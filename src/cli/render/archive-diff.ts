/** What differs between two archives, for people. */
import type { ArchiveDiff } from '../../archive/read/diff-archives.ts'
import { redact } from '../../errors/redact.ts'
import { count, formatBytes } from './quantities.ts'

export function renderArchiveDiff({ before, after, images, content, carried }: ArchiveDiff): string {
  const { added, removed, changed, same } = images
  const isSame = added.length + removed.length + changed.length === 0
  const lines = [
    isSame
      ? `archives ${before.sequence} and ${after.sequence} are about the same ${count(same, 'image')}`
      : `from archive ${before.sequence} to ${after.sequence}: ${count(added.length, 'image')} new, ${removed.length} gone, ${changed.length} changed, ${same} the same`,
    ...added.map(({ destination, why }) => `  + ${destination}  (${why})`),
    ...removed.map(({ destination, why }) => `  - ${destination}  (${why})`),
    ...changed.map(
      ({ destination, before: was, digest }) => `  ~ ${destination}  ${short(was)} is now ${short(digest)}`,
    ),
    `content   ${quantity(content.added)} new, ${quantity(content.removed)} gone, ${quantity(content.same)} the same`,
    `carried   ${quantity(carried.before)} by the first, ${quantity(carried.after)} by the second`,
  ]
  // What an index says reaches a terminal here.
  return redact(`${lines.join('\n')}\n`)
}

function quantity({ count: number, bytes }: { count: number; bytes: number }): string {
  return `${count(number, 'blob')} (${formatBytes(bytes)})`
}

function short(digest: string): string {
  return digest.slice(0, 19)
}
