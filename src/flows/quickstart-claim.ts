import { KnownError } from '../errors/known-error.ts'

/** @throws KnownError QUICKSTART_FAILED where a claim of the quickstart does not hold */
export function ensure(holds: boolean, claim: string, details: Readonly<Record<string, string | number>>): void {
  if (!holds) throw notProven(claim, details)
}

export function notProven(claim: string, details: Readonly<Record<string, string | number>>): KnownError {
  const seen = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  return new KnownError('QUICKSTART_FAILED', `Not proven: ${claim} (${seen.join(', ')})`, { details })
}
