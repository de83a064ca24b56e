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
 * Milliseconds of a duration as Go writes it, `1h30m`; a bare number is nanoseconds, as in the registry of openshift/release
 * (Go `time.ParseDuration`, and how ci-tools decodes an integer). undefined for what is absent or no duration.
 */
export function goDurationMs(duration: string | number | undefined): number | undefined {
  if (typeof duration === 'number') return duration * 1e-6
  if (duration === undefined) return undefined
  if (duration === '0') return 0
  const parts = [...duration.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== duration) return undefined
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0)
}
