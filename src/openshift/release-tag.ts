/** Tags of release images: `4.18.9-x86_64` (openshift/oc `pkg/cli/admin/release/mirror.go`). */

/** By the names that rpm uses, as release tags and stream metadata do. */
const rpmNames: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' }

/** @param architecture as Go names it, or `multi` */
export function rpmArchitecture(architecture: string): string {
  return rpmNames[architecture] ?? architecture
}

/** OKD has one architecture, and does not name it. */
export function releaseTag(version: string, architecture: string, type: 'ocp' | 'okd' = 'ocp'): string {
  const tag = type === 'okd' ? version : `${version}-${rpmArchitecture(architecture)}`
  // Build metadata of a version: `+` may not stand in a tag.
  return tag.replaceAll('+', '_')
}
