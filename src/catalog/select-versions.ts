/**
 * Ranges of operator versions: `minVersion` and `maxVersion` of a configuration, and the ranges that catalogs write.
 *
 * oc-mirror hands a configuration's bounds to Masterminds/semver v3.5 (`constraints.go`) as `>=MIN <=MAX`, so two of its
 * customs hold here: a pre-release lies in a range only where one of the bounds is one, and `<=1.2` takes every 1.2.x.
 * Catalogs are read by blang/semver v4 (`range.go`), which has neither.
 */
import * as semver from 'semver'

export interface VersionRange {
  /** As oc-mirror writes it: `>=1.0.0 <=2.0.0`. */
  readonly text: string
  readonly includes: (version: semver.SemVer) => boolean
}

interface Bounds {
  readonly minVersion?: string | undefined
  readonly maxVersion?: string | undefined
}

/** Undefined where neither bound is given. Bounds have been checked when the configuration was loaded. */
export function rangeOfBounds({ minVersion, maxVersion }: Bounds): VersionRange | undefined {
  const [low, high] = [readBound(minVersion), readBound(maxVersion)]
  if (low === undefined && high === undefined) return undefined
  const takesPreReleases = [low, high].some((bound) => bound !== undefined && bound.version.prerelease.length > 0)
  const parts = [low && `>=${minVersion}`, high && `<=${maxVersion}`].filter((part) => part !== undefined)
  return {
    text: parts.join(' '),
    includes: (version) =>
      (takesPreReleases || version.prerelease.length === 0) &&
      (low === undefined || semver.compare(version, low.version) >= 0) &&
      (high === undefined || isAtMost(version, high)),
  }
}

/** The version of a bundle; undefined for what is no semantic version (Masterminds/semver, StrictNewVersion). */
export function bundleVersion(text: string | undefined): semver.SemVer | undefined {
  return text !== undefined && /^\d\S*$/.test(text) ? (semver.parse(text) ?? undefined) : undefined
}

/** A version as configurations write it, its missing numbers taken as 0; undefined where it is none. */
export function writtenVersion(text: string | undefined): semver.SemVer | undefined {
  return readBound(text)?.version
}

/**
 * A range as catalogs write it, `>=1.0.0 <1.2.0 || >1.3`; undefined where it is none.
 *
 * Every comparison is by precedence: `>=1.0.0 <1.2.0` has 1.2.0-rc.1 in it.
 */
export function catalogRange(text: string): VersionRange | undefined {
  const alternatives = text.split('||').map((alternative) => comparisons(alternative.trim()))
  if (!alternatives.every((tests) => tests !== undefined)) return undefined
  return { text, includes: (version) => alternatives.some((tests) => tests.every((test) => test(version))) }
}

interface Bound {
  readonly version: semver.SemVer
  /** How many of its numbers are written. */
  readonly numbers: number
}

function readBound(text: string | undefined): Bound | undefined {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?$/.exec(text?.trim() ?? '')
  if (!match) return undefined
  const written = [match[1], match[2], match[3]]
  const version = semver.parse(`${written.map((part) => String(Number(part ?? 0))).join('.')}${match[4] ?? ''}`)
  return version === null ? undefined : { version, numbers: written.filter((part) => part !== undefined).length }
}

function isAtMost(version: semver.SemVer, { version: bound, numbers }: Bound): boolean {
  if (numbers === 3) return semver.compare(version, bound) <= 0
  if (version.major !== bound.major) return version.major < bound.major
  return numbers === 1 || version.minor <= bound.minor
}

type Test = (version: semver.SemVer) => boolean

const comparison = /^(>=|<=|>|<|==|=|!=|!)?\s*([^\s<>=!]+)(?=\s|$)/

/** The comparisons of one alternative, all of which must hold; undefined where something else stands there. */
function comparisons(text: string): Test[] | undefined {
  const tests: Test[] = []
  let rest = text
  while (rest !== '') {
    const [whole, operator = '=', written = ''] = comparison.exec(rest) ?? []
    const test = whole === undefined ? undefined : comparing(operator, written)
    if (whole === undefined || test === undefined) return undefined
    tests.push(test)
    rest = rest.slice(whole.length).trimStart()
  }
  return tests.length === 0 ? undefined : tests
}

function comparing(operator: string, written: string): Test | undefined {
  const wildcard = /^v?(\d+)(?:\.(\d+))?\.[xX*]$/.exec(written)
  if (wildcard)
    return withWildcard(operator, Number(wildcard[1]), wildcard[2] === undefined ? undefined : Number(wildcard[2]))
  const bound = readBound(written)?.version
  if (bound === undefined) return undefined
  const order = (version: semver.SemVer) => semver.compare(version, bound)
  const tests: Readonly<Record<string, Test>> = {
    '>=': (version) => order(version) >= 0,
    '<=': (version) => order(version) <= 0,
    '>': (version) => order(version) > 0,
    '<': (version) => order(version) < 0,
    '=': (version) => order(version) === 0,
    '==': (version) => order(version) === 0,
    '!=': (version) => order(version) !== 0,
    '!': (version) => order(version) !== 0,
  }
  return tests[operator]
}

/** `1.x` and `1.2.x` stand for the versions from their first to before the next: blang/semver, expandWildcardVersion. */
function withWildcard(operator: string, major: number, minor: number | undefined): Test | undefined {
  const first = `${major}.${minor ?? 0}.0`
  const next = minor === undefined ? `${major + 1}.0.0` : `${major}.${minor + 1}.0`
  const isFrom: Test = (version) => semver.compare(version, first) >= 0
  const isBefore: Test = (version) => semver.compare(version, next) < 0
  const tests: Readonly<Record<string, Test>> = {
    '>=': isFrom,
    '<': (version) => !isFrom(version),
    '>': (version) => !isBefore(version),
    '<=': isBefore,
    '=': (version) => isFrom(version) && isBefore(version),
    '==': (version) => isFrom(version) && isBefore(version),
    '!=': (version) => !isFrom(version) || !isBefore(version),
    '!': (version) => !isFrom(version) || !isBefore(version),
  }
  return tests[operator]
}
