/** Long lists of versions, told by minor version and with runs of patches drawn together. */
import * as semver from 'semver'

export interface VersionRun {
  readonly first: string
  /** The same as `first` for one alone. */
  readonly last: string
}

/** By `4.17`, the oldest first, each with its runs in order; what is no version is under the empty name, at the end. */
export function versionRuns(versions: readonly string[]): ReadonlyMap<string, readonly VersionRun[]> {
  const known = versions.flatMap((text) => semver.parse(text) ?? []).sort(semver.compare)
  const groups = new Map<string, VersionRun[]>()
  let former: semver.SemVer | undefined
  for (const version of known) {
    const minor = `${version.major}.${version.minor}`
    const runs = groups.get(minor) ?? []
    const run = runs.at(-1)
    if (run && follows(former, version)) runs[runs.length - 1] = { first: run.first, last: version.version }
    else runs.push({ first: version.version, last: version.version })
    groups.set(minor, runs)
    former = version
  }
  const odd = versions.filter((text) => semver.parse(text) === null)
  if (odd.length > 0)
    groups.set(
      '',
      odd.map((text) => ({ first: text, last: text })),
    )
  return groups
}

/** Only released patches are counted on: after 4.18.0-rc.1 there may be anything. */
function follows(one: semver.SemVer | undefined, next: semver.SemVer): boolean {
  if (one === undefined || one.prerelease.length + next.prerelease.length > 0) return false
  return one.major === next.major && one.minor === next.minor && next.patch === one.patch + 1
}
