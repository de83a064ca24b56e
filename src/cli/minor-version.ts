import { KnownError } from '../errors/known-error.ts'

/**
 * `4.18` of `4.18`, `v4.18` and `4.18.9`.
 *
 * @throws KnownError USAGE
 */
export function readMinor(text: string): string {
  const minor = /^v?(\d+\.\d+)(?:\.\d+.*)?$/.exec(text)?.[1]
  if (minor !== undefined) return minor
  throw new KnownError('USAGE', `"${text}" is no minor version`, { hint: 'Write it as 4.18.' })
}
