/** What differs between two configs, for people. */
import { redact } from '../../errors/redact.ts'
import type { Detail, Difference } from '../../ignition/diff/difference.ts'
import { count } from './quantities.ts'

interface Compared {
  readonly before: string
  readonly after: string
  readonly differences: readonly Difference[]
}

const signs = { added: '+', removed: '-', changed: '~' } as const
/** Longer lines are base64 more often than not. */
const shownCharacters = 160

export function renderIgnitionDiff(
  { before, after, differences }: Compared,
  { isBrief }: { isBrief: boolean },
): string {
  if (differences.length === 0) return `${before} and ${after} mean the same\n`
  const by = (change: Difference['change']) => differences.filter((one) => one.change === change).length
  const lines = [
    `from ${before} to ${after}: ${count(differences.length, 'difference')}: ${by('added')} added, ${by('removed')} removed, ${by('changed')} changed`,
    ...differences.flatMap((difference) => [
      `${signs[difference.change]} ${difference.kind} ${difference.name}${isBrief ? briefly(difference) : ''}`,
      ...(isBrief ? [] : difference.details.flatMap(detailLines)),
    ]),
  ]
  return redact(`${lines.join('\n')}\n`)
}

function briefly({ change, details }: Difference): string {
  if (change !== 'changed') return ''
  return `: ${[...new Set(details.map(({ field }) => field))].join(', ')}`
}

function detailLines({ field, before, after, lines, isSecret }: Detail): readonly string[] {
  if (isSecret) return [`    ${field}: differs (secret, not shown)`]
  if (lines) return [`    ${field}:`, ...lines.map((line) => `      ${shortened(line)}`)]
  if (before === undefined) return [`    ${field}: + ${shortened(after ?? '')}`]
  if (after === undefined) return [`    ${field}: - ${shortened(before)}`]
  return [`    ${field}: ${shortened(before)} is now ${shortened(after)}`]
}

function shortened(line: string): string {
  if (line.length <= shownCharacters) return line
  return `${line.slice(0, shownCharacters)}… (${line.length} characters)`
}
