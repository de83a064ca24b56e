/** Which version of a chart is meant (helm/helm `pkg/repo/index.go:Get`). */
import { compare, maxSatisfying, parse, prerelease, rsort, valid, validRange } from 'semver'
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'

interface Wanted {
  readonly name: string
  /** A version, or a range as Helm takes it: `6.0.0`, `^6.0`, `>= 5.1.0`. Absent: the newest. */
  readonly version?: string | undefined
  /** The repository, for messages. */
  readonly origin: string
}

/**
 * The very version, with or without a `v` before it; else the newest of the range. Without a wish the newest that is no
 * prerelease, and a prerelease where there is nothing else.
 *
 * @throws KnownError CHART_UNKNOWN with the nearest versions
 */
export function chooseVersion(versions: readonly string[], { name, version, origin }: Wanted): string {
  const legal = versions.filter((one) => valid(one, loose) !== null)
  const chosen =
    version === undefined || version === '' ? newest(legal) : (exact(versions, version) ?? inRange(legal, version))
  if (chosen !== undefined) return chosen
  const there = versions.length === 0 ? 'none at all' : nearestVersions(versions, version ?? '').join(', ')
  const asked = version === undefined ? 'no version' : `no version ${version}`
  throw new KnownError('CHART_UNKNOWN', `${origin} has ${asked} of the chart ${name}; it has ${there}`, {
    details: { chart: name, version, repository: origin },
  })
}

const loose = { loose: true } as const

function newest(versions: readonly string[]): string | undefined {
  const sorted = rsort([...versions], loose)
  return sorted.find((one) => prerelease(one, loose) === null) ?? sorted[0]
}

function exact(versions: readonly string[], version: string): string | undefined {
  const bare = withoutV(version)
  return versions.find((one) => one === version) ?? versions.find((one) => withoutV(one) === bare)
}

function inRange(versions: readonly string[], range: string): string | undefined {
  // Helm's ranges have a comma where semver's have a space.
  const spaced = range.replaceAll(',', ' ')
  if (valid(range, loose) !== null || validRange(spaced, loose) === null) return undefined
  return maxSatisfying([...versions], spaced, loose) ?? undefined
}

function withoutV(version: string): string {
  return version.replace(/^v(?=\d)/, '')
}

const shownVersions = 5

/** The neighbours of what was asked for, or the one that it is probably a misspelling of, or the newest. */
function nearestVersions(versions: readonly string[], wanted: string): string[] {
  const sorted = rsort(
    [...versions].filter((one) => valid(one, loose) !== null),
    loose,
  )
  const asked = parse(wanted, loose)
  const rest = versions.length > shownVersions ? [`${versions.length - shownVersions} more`] : []
  if (!asked) {
    const near = nearest(wanted, versions)
    return near === undefined ? [...sorted.slice(0, shownVersions), ...rest] : [`${near} (the nearest)`, ...rest]
  }
  const after = sorted.findIndex((one) => compare(one, asked, loose) < 0)
  const middle = after < 0 ? sorted.length : after
  const from = Math.max(0, Math.min(middle - 2, sorted.length - shownVersions))
  return [...sorted.slice(from, from + shownVersions), ...rest]
}
