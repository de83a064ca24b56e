/**
 * Optional parts of a cluster, and which of them an install-config asks for.
 *
 * Source: openshift/api `config/v1/types_cluster_version.go` in the branches release-4.11 to release-5.2
 * (`KnownClusterVersionCapabilities`, `ClusterVersionCapabilitySets`).
 */
import { KnownError } from '../errors/known-error.ts'

/** By the minor version of 4 in which releases begin to know them. */
const introduced: readonly (readonly [minor: number, names: readonly string[]])[] = [
  [11, ['baremetal', 'marketplace', 'openshift-samples']],
  [12, ['Console', 'Insights', 'Storage', 'CSISnapshot']],
  [13, ['NodeTuning']],
  [14, ['MachineAPI', 'Build', 'DeploymentConfig', 'ImageRegistry']],
  [15, ['OperatorLifecycleManager', 'CloudCredential']],
  [16, ['Ingress', 'CloudControllerManager']],
  [18, ['OperatorLifecycleManagerV1']],
  [23, ['CompatibilityRequirements', 'ClusterAPI']],
]
const oldestSet = 11
/** No set was named after a later version. */
const newestSet = 18
/** What came in 4.14 and belongs to every set since, also to those that are named after older versions. */
const inEverySet = { name: 'MachineAPI', since: 14 }

export interface Capabilities {
  readonly known: readonly string[]
  readonly enabled: readonly string[]
}

export interface CapabilitiesWanted {
  /** `None`, `v4.11` to `v4.18`, `vCurrent`. Absent: vCurrent. */
  readonly baselineCapabilitySet?: string | undefined
  readonly additionalEnabledCapabilities?: readonly string[] | undefined
}

/**
 * What a cluster of release `version` that is installed so knows and has.
 *
 * oc computes the same with the sets of its own version; here they are those of the release.
 *
 * @throws KnownError CONFIG_INVALID for a set or a capability that this release does not have
 */
export function capabilitiesOf(version: string, wanted: CapabilitiesWanted): Capabilities {
  const minor = minorOf(version)
  const known = introducedUntil(minor)
  const additional = wanted.additionalEnabledCapabilities ?? []
  const unknown = additional.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw invalid(`capabilities.additionalEnabledCapabilities: ${version} does not know ${unknown.join(', ')}`, known)
  }
  const baseline = baselineOf(wanted.baselineCapabilitySet || 'vCurrent', minor)
  if (!baseline) {
    const sets = Array.from({ length: newestSet - oldestSet + 1 }, (_, index) => oldestSet + index)
    const names = ['None', ...sets.filter((set) => set <= minor).map((set) => `v4.${set}`), 'vCurrent']
    throw invalid(`capabilities.baselineCapabilitySet: ${version} has no set ${wanted.baselineCapabilitySet}`, names)
  }
  return { known, enabled: [...new Set([...baseline, ...additional])] }
}

function baselineOf(name: string, minor: number): readonly string[] | undefined {
  if (name === 'None') return []
  if (name === 'vCurrent') return introducedUntil(minor)
  const set = Number(/^v4\.(\d+)$/.exec(name)?.[1] ?? Number.NaN)
  if (!(set >= oldestSet && set <= Math.min(newestSet, minor))) return undefined
  const names = introducedUntil(set)
  return minor >= inEverySet.since && set < inEverySet.since ? [...names, inEverySet.name] : names
}

function introducedUntil(minor: number): readonly string[] {
  return introduced.filter(([since]) => since <= minor).flatMap(([, names]) => names)
}

/** What comes after 4 knows what the last of 4 does. */
function minorOf(version: string): number {
  const [, major = '4', minor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(major) > 4 ? Number.POSITIVE_INFINITY : Number(minor)
}

function invalid(message: string, there: readonly string[]): KnownError {
  return new KnownError('CONFIG_INVALID', message, { hint: `What there is: ${there.join(', ')}.` })
}
