/** What was made of a config in a directory, for people. */
import type { Materialised } from '../../rehearse/materialise/materialise.ts'
import { count, formatBytes } from './quantities.ts'

export function renderMaterialised(made: Materialised): string {
  const { root, files, directories, links, units, users, groups, sizeBytes, findings } = made
  const parts = [
    `${count(files, 'file')} (${formatBytes(sizeBytes)})`,
    ...(directories > 0 ? [directories === 1 ? '1 directory' : `${directories} directories`] : []),
    ...(links > 0 ? [count(links, 'link')] : []),
    ...(units > 0 ? [count(units, 'unit')] : []),
    ...(users > 0 ? [count(users, 'user')] : []),
    ...(groups > 0 ? [count(groups, 'group')] : []),
  ]
  return [`made in ${root}: ${parts.join(', ')}`, ...findings.map(({ summary }) => `note: ${summary}`), ''].join('\n')
}
