/** Lengths of time as people write them, always with their units: `90s`, `45m`, `1h30m`. */

const pattern = /^(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/

/** For editors. */
export const durationShape = pattern.source

/** In milliseconds; undefined where the text is no duration, or one of nothing. */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const total = ((hours * 60 + minutes) * 60 + seconds) * 1000
  return total > 0 && Number.isSafeInteger(total) ? total : undefined
}
