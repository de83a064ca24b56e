/**
 * The two sides of ClusterVersion's overrides: while the cluster is bootstrapped, the version operator leaves alone what
 * the installer made; afterwards it gets back what the user said.
 *
 * Source: openshift/installer `pkg/asset/ignition/bootstrap/cvoignore.go`.
 */
import type { BootstrapEra } from './bootstrap-options.ts'

/** `manifests/cvo-overrides.yaml` and `original_cvo_overrides.patch`, by their place below /opt/openshift. */
export function versionOverrides(
  manifests: Readonly<Record<string, string>>,
  era: BootstrapEra,
): Readonly<Record<string, string>> {
  const entries = Object.keys(manifests)
    .sort()
    .flatMap((path) => overrideOf(manifests[path] ?? ''))
  return {
    'manifests/cvo-overrides.yaml': `apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata:
  name: version
  namespace: openshift-cluster-version
spec:
  channel: stable-${era}
  clusterID: 4d6f8d2e-8f0c-4a53-9a1b-5d1a5a0c0f00
  overrides:
${entries.join('')}`,
    'original_cvo_overrides.patch': JSON.stringify({ spec: { overrides: null } }),
  }
}

/** Of texts that are written here, and of others as far as they are written alike: nothing here reads YAML. */
function overrideOf(text: string): readonly string[] {
  const field = (pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? ''
  const kind = field(/^kind: *(.+)$/m)
  const version = field(/^apiVersion: *(.+)$/m)
  const metadata = field(/^metadata:\n((?: +.*\n)+)/m)
  const name = /^ *name: *(.+)$/m.exec(metadata)?.[1] ?? ''
  const namespace = /^ *namespace: *(.+)$/m.exec(metadata)?.[1] ?? '""'
  const group = version.includes('/') ? (version.split('/')[0] ?? '') : '""'
  if (kind === '' || name === '') return []
  return [
    `  - group: ${group}\n    kind: ${kind}\n    name: ${name}\n    namespace: ${namespace}\n    unmanaged: true\n`,
  ]
}
