/** Reads the values of flags as Go's flag packages do, since that is what scripts are written for. */
import { KnownError } from '../errors/known-error.ts'
import { goDurationMs } from '../workflow/step-registry/go-duration.ts'

const truths = ['1', 't', 'T', 'true', 'TRUE', 'True']
const falsehoods = ['0', 'f', 'F', 'false', 'FALSE', 'False']

/** As `strconv.ParseBool`; undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  if (truths.includes(text)) return true
  return falsehoods.includes(text) ? false : undefined
}

/** @throws KnownError USAGE */
export function readBoolean(text: string): boolean {
  const value = parseBoolean(text)
  if (value === undefined) throw new KnownError('USAGE', `"${text}" is neither true nor false`)
  return value
}

/** @throws KnownError USAGE where the text is no whole number, or is below `least` */
export function readCount(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    throw new KnownError('USAGE', `"${text}" is no whole number from ${least}`)
  }
}

/**
 * Milliseconds of `90s`, `1m30s`, `1.5h` or `0` (Go `time.ParseDuration`), not less than none.
 *
 * @throws KnownError USAGE
 */
export function readDurationMs(text: string): number {
  const milliseconds = goDurationMs(text)
  if (milliseconds !== undefined && milliseconds >= 0) return milliseconds
  throw new KnownError('USAGE', `"${text}" is no duration`, {
    hint: 'Write it with its unit: 500ms, 10s, 1m30s, 2h.',
  })
}

/**
 * A day as oc-mirror writes it, `2026-11-21`.
 *
 * @throws KnownError USAGE
 */
export function readDay(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // Date.parse moves the 31st of a short month into the next.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text
  throw new KnownError('USAGE', `"${text}" is no day`, { hint: 'Write it as YYYY-MM-DD, for example 2026-11-21.' })
}
