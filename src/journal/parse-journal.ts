import { KnownError } from '../errors/known-error.ts'
import type { JournalEvent } from './events.ts'

/**
 * One line of a journal.
 *
 * @param expected the number that it must have: lines are never left out
 * @throws KnownError JOURNAL_CORRUPT
 */
export function parseJournalLine(line: string, expected: number): JournalEvent {
  const value = parseRecord(line)
  if (value === undefined || typeof value.type !== 'string' || typeof value.at !== 'number') {
    throw corrupt(expected, 'is not an event')
  }
  if (value.n !== expected) throw corrupt(expected, `has the number ${String(value.n)}`)
  if (value.type === 'run.created' && value.format !== 1) {
    throw new KnownError('JOURNAL_NEWER', `The journal has format ${String(value.format)}; this version knows 1`, {
      details: { format: Number(value.format) },
    })
  }
  return value
}

/** The fields that every event has are looked at; the rest is what this program wrote itself. */
function parseRecord(line: string): JournalEvent | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as JournalEvent) : undefined
  } catch {
    return undefined
  }
}

function corrupt(line: number, why: string): KnownError {
  return new KnownError('JOURNAL_CORRUPT', `Line ${line} of the journal ${why}`, { details: { line } })
}
