/** Tags of release images: `4.18.9-x86_64` (openshift/oc `pkg/cli/admin/release/mirror.go`). */

/** By the names that rpm uses, as release tags and stream metadata do. */
const rpmNames: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' }
const goNames: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' }

/** @param architecture as Go names it, or `multi` */
export function rpmArchitecture(architecture: string): string {
  return rpmNames[architecture] ?? architecture
}

/** @param architecture as rpm or as Go names it */
export function goArchitecture(architecture: string): string {
  return goNames[architecture] ?? architecture
}

/** OKD has one architecture, and does not name it. */
export function releaseTag(version: string, architecture: string, type: 'ocp' | 'okd' = 'ocp'): string {
  const tag = type === 'okd' ? version : `${version}-${rpmArchitecture(architecture)}`
  // Build metadata of a version: `+` may not stand in a tag.
  return tag.replaceAll('+', '_')
}

/** The other way: an architecture, as rpm names it or `multi`, is undefined where the tag names none. */
export function parseReleaseTag(tag: string): { readonly version: string; readonly architecture: string | undefined } {
  const architecture = /-(x86_64|aarch64|ppc64le|s390x|multi)$/.exec(tag)?.[1]
  return { version: architecture === undefined ? tag : tag.slice(0, -architecture.length - 1), architecture }
}
