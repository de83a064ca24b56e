/** Mirrors of the bootstrap host and of the nodes, side by side, as a report has them. */
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { RegistryDifference } from '../../openshift/bootstrap/compare-registries.ts'
import type { NodeRegistries } from '../../openshift/bootstrap/node-registries.ts'
import type { RegistryEntry } from '../../registries/registries-conf.ts'
import type { MirrorEntry, MirrorReport } from './level-one-report.ts'

export function mirrorReport(
  { registries }: BootstrapConfig,
  { conf }: NodeRegistries,
  differences: readonly RegistryDifference[],
): MirrorReport {
  return {
    bootstrap: registries.conf.registries.map(entryOf),
    ...(conf && { nodes: conf.registries.map(entryOf) }),
    differences: differences.map(({ source, by, kind, bootstrap, nodes }) => ({ source, by, kind, bootstrap, nodes })),
  }
}

function entryOf({ prefix, blocked, mirrorByDigestOnly, mirrors }: RegistryEntry): MirrorEntry {
  return {
    source: prefix,
    isBlocked: blocked,
    mirrors: mirrors.map(({ location, insecure, pullFromMirror = 'all' }) => ({
      location,
      insecure,
      for: mirrorByDigestOnly ? 'digest-only' : pullFromMirror,
    })),
  }
}
