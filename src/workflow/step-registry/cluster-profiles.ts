/** cluster-profiles-config.yaml (openshift/ci-tools: pkg/load/load.go `ClusterProfiles`, which is not strict). */
import { type Finding, finding } from '../../errors/finding.ts'
import type { ClusterProfile } from './model.ts'
import { readMaybeGzip } from './registry-files.ts'
import { readYaml } from './registry-yaml.ts'

const printedFields = ['name', 'lease_type', 'ip_pool_lease_type', 'cluster_type', 'secret'] as const

/** What could not be understood goes to `findings`; undefined then. */
export function readClusterProfiles(
  file: string,
  findings: Finding[],
): ReadonlyMap<string, ClusterProfile> | undefined {
  const read = readYaml(readMaybeGzip(file) ?? '')
  if ('faults' in read) {
    for (const { message, line, column } of read.faults) {
      const summary = `unmarshal file ${file}: ${message}`
      findings.push(finding({ id: 'steps.yaml', severity: 'error', summary, where: { file, line, column } }))
    }
    return undefined
  }
  const { cluster_profiles: items } = (read.value ?? {}) as { cluster_profiles?: unknown }
  if (items !== undefined && items !== null && !Array.isArray(items)) {
    const summary = `unmarshal file ${file}: json: cannot unmarshal ${typeof items} into field cluster_profiles of type list`
    findings.push(finding({ id: 'steps.field', severity: 'error', summary, where: { file, line: 1, column: 1 } }))
    return undefined
  }
  const profiles = new Map<string, ClusterProfile>()
  for (const item of Array.isArray(items) ? items : []) {
    const entries = printedFields.flatMap((field) => {
      const value = (item as Readonly<Record<string, unknown>> | null)?.[field]
      return value === undefined || value === null || value === '' ? [] : [[field, String(value)] as const]
    })
    const profile = Object.fromEntries(entries) as unknown as ClusterProfile
    // The first of a name counts.
    if (profile.name !== undefined && !profiles.has(profile.name)) profiles.set(profile.name, profile)
  }
  return profiles
}
