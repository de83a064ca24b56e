/** Reads the values of flags as Go's flag packages do, since that is what scripts are written for. */
import { KnownError } from '../errors/known-error.ts'

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

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/**
 * Milliseconds of `90s`, `1m30s`, `1.5h` or `0` (Go `time.ParseDuration`).
 *
 * @throws KnownError USAGE
 */
export function readDurationMs(text: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy)]
  const read = parts.map(([part]) => part).join('')
  if (text === '' || read !== text) {
    throw new KnownError('USAGE', `"${text}" is no duration`, {
      hint: 'Write it with its unit: 500ms, 10s, 1m30s, 2h.',
    })
  }
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0)
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
