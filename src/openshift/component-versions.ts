/**
 * The versions that components of a release report: `kubernetes=1.31.6`, `machine-os=418.94.202503…`.
 *
 * Source: openshift/oc `pkg/cli/admin/release/{info,annotations}.go` (`io.openshift.build.versions` and
 * `io.openshift.build.version-display-names`, both `name=value,name=value`).
 */
import type { ReleaseComponent } from './release-payload.ts'

export interface ComponentVersion {
  /** `kubernetes`, `machine-os`, … */
  readonly name: string
  readonly version: string
  /** `Red Hat Enterprise Linux CoreOS` */
  readonly displayName?: string
}

/** By name and version; where two components report different versions under one name, each is there. */
export function componentVersions(components: readonly ReleaseComponent[]): readonly ComponentVersion[] {
  const found = new Map<string, ComponentVersion>()
  for (const { annotations } of components) {
    const displayNames = new Map(pairs(annotations['io.openshift.build.version-display-names']))
    for (const [name, version] of pairs(annotations['io.openshift.build.versions'])) {
      const key = `${name}=${version}`
      const displayName = displayNames.get(name) ?? found.get(key)?.displayName
      found.set(key, { name, version, ...(displayName !== undefined && { displayName }) })
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, version]) => version)
}

/** What is no pair is passed over. */
function pairs(text: string | undefined): readonly (readonly [string, string])[] {
  return (text ?? '').split(',').flatMap((pair) => {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    const value = pair.slice(equals + 1).trim()
    return equals > 0 && name !== '' && value !== '' ? [[name, value] as const] : []
  })
}
