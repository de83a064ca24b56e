/**
 * Versions as configurations write them.
 *
 * Releases are strict semantic versions (oc-mirror hands them to blang/semver); of operators, oc-mirror also takes `1.2`
 * and `v1.2.3` (Masterminds/semver, NewVersion).
 */
import * as semver from 'semver'

const identifiers = String.raw`(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?`

/** `4.18.9`, `4.18.0-rc.1`, `4.12.0-0.okd-2023-03-18-084815` */
export const releaseVersionPattern = new RegExp(
  String.raw`^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)${identifiers}$`,
)

/** As above, but minor and patch may be left out, and a `v` may stand before. */
export const operatorVersionPattern = new RegExp(String.raw`^v?\d+(?:\.\d+){0,2}${identifiers}$`)

/** True where both are versions and `low` comes after `high`. */
export function isAfter(low: string, high: string): boolean {
  const [first, second] = [low, high].map(padded)
  return first !== undefined && second !== undefined && semver.compare(first, second) > 0
}

/** The version with all three numbers; undefined where it is none. */
function padded(version: string): semver.SemVer | undefined {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?$/.exec(version)
  if (!match) return undefined
  const numbers = [match[1], match[2], match[3]].map((part) => String(Number(part ?? 0)))
  return semver.parse(`${numbers.join('.')}${match[4] ?? ''}`, { loose: true }) ?? undefined
}
