/** Durations as Go writes them (https://pkg.go.dev/time#ParseDuration), in the registry and behind flags. */

const nanoseconds: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
}

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g
const whole = new RegExp(`^[-+]?(?:0|(?:${part.source})+)$`)

/** Go counts them in 64 bits: 292 years. */
const maxNs = 2 ** 63

/** Nanoseconds of `1h30m`; a bare number is nanoseconds, as ci-tools decodes an integer. undefined for what is no duration. */
export function goDurationNs(duration: string | number): number | undefined {
  if (typeof duration === 'number') return duration
  if (!whole.test(duration)) return undefined
  const sum = [...duration.matchAll(part)].reduce(
    (total, [, amount, unit = '']) => total + Number(amount) * (nanoseconds[unit] ?? 0),
    0,
  )
  if (sum > maxNs) return undefined
  return duration.startsWith('-') && sum > 0 ? -sum : sum
}

/** The same in milliseconds; undefined also for what is absent. */
export function goDurationMs(duration: string | number | undefined): number | undefined {
  const ns = duration === undefined ? undefined : goDurationNs(duration)
  return ns === undefined ? undefined : ns / 1e6
}

/** Go's `Duration.String()`: 10 minutes are printed as `10m0s`. */
export function printedGoDuration(ns: number): string {
  const total = Math.abs(ns)
  const sign = ns < 0 ? '-' : ''
  if (total === 0) return '0s'
  if (total < 1e3) return `${sign}${total}ns`
  if (total < 1e6) return `${sign}${total / 1e3}µs`
  if (total < 1e9) return `${sign}${total / 1e6}ms`
  const [hours, minutes] = [Math.floor(total / 3600e9), Math.floor(total / 60e9) % 60]
  const seconds = `${Number(((total % 60e9) / 1e9).toFixed(9))}s`
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}`
}
