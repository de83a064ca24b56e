/** Findings and the reports that hold them, for people. */
import type { Finding } from '../../errors/finding.ts'
import type { EgressReport } from '../../mirror/verify-egress.ts'
import type { VerifyReport } from '../../mirror/verify-mirror.ts'
import type { CliContext } from '../context.ts'
import { count, formatBytes } from './quantities.ts'

/** Grouped by what to do about them; at most 20 of a kind are listed. */
export function renderFindings(findings: readonly Finding[]): string {
  const groups = Map.groupBy(findings, ({ id, remedy }) => `${id}\n${remedy}`)
  return [...groups.values()].map(renderGroup).join('\n')
}

const shownOfAKind = 20

/** What was noticed on the way, a line each: it does not change the exit status. */
export function tellFindings(findings: readonly Finding[], { log, stderr }: Pick<CliContext, 'log' | 'stderr'>): void {
  for (const { severity, summary } of findings) {
    if (severity === 'info') stderr(`note: ${summary}\n`)
    else log.warn(summary)
  }
}

function renderGroup(group: readonly Finding[]): string {
  const [first] = group
  if (!first) return ''
  const lines = group
    .slice(0, shownOfAKind)
    .flatMap(({ severity, id, summary, evidence }) => [
      `${severity} ${id}: ${summary}`,
      ...(evidence ? [`  seen: ${evidence}`] : []),
    ])
  if (group.length > shownOfAKind) lines.push(`  and ${group.length - shownOfAKind} more (--json lists them all)`)
  if (first.remedy) lines.push(`  next: ${first.remedy}`)
  return `${lines.join('\n')}\n`
}

export function renderMirrorReport(target: string, report: VerifyReport): string {
  const { images, manifests, blobs, bytes, findings } = report
  const read = bytes > 0 ? `, ${formatBytes(bytes)} read and hashed` : ''
  const looked = `${count(images, 'image')}, ${count(manifests, 'manifest')}, ${count(blobs, 'blob')}${read}`
  const errors = findings.filter(({ severity }) => severity === 'error')
  const complete = `complete: everything that was mirrored is at ${target}: ${looked}\n`
  if (findings.length === 0) return complete
  if (errors.length === 0) return `${complete}\n${renderFindings(findings)}`
  return `incomplete: ${count(findings.length, 'finding')} at ${target} (${looked})\n\n${renderFindings(findings)}`
}

export function renderEgressReport({ references, inside, isAsked, findings }: EgressReport): string {
  const how = isAsked ? 'each was asked for at its mirror' : 'computed only, no registry was asked'
  if (findings.length === 0) {
    return `closed: none of ${count(references, 'image reference')} would be pulled from outside; ${how}\n`
  }
  const summary = `open: ${references - inside} of ${count(references, 'image reference')} would leave the network or find nothing`
  return `${summary}; ${how}\n\n${renderFindings(findings)}`
}
