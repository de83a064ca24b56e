/**
 * Which release a bootstrap host installs: what its own scripts name.
 *
 * Source: openshift/installer `data/data/bootstrap/files/usr/local/bin/release-image{,-download}.sh.template`.
 */
import { KnownError } from '../../errors/known-error.ts'
import { parseReference, type Reference } from '../../oci/reference.ts'
import { type BootstrapFiles, type Evidence, lineAt } from './bootstrap-file.ts'

export interface NamedReleaseImage {
  /** As the scripts write it. */
  readonly text: string
  /** Absent where the text is no image reference: podman will refuse it too. */
  readonly reference?: Reference
  /** Every line that names it. */
  readonly evidence: readonly Evidence[]
}

const bin = '/usr/local/bin'
const assignment = /^[ \t]*(?:export[ \t]+)?RELEASE_IMAGE(?:_DIGEST)?=["']?([^"'\s$`(]+)["']?/gm
const inspected = /podman inspect ["']?([^"'\s$`-][^"'\s$`]*)["']?\s/g

/** In the order in which they take effect: what is pulled comes first. */
const scripts: readonly (readonly [path: string, pattern: RegExp])[] = [
  [`${bin}/release-image-download.sh`, assignment],
  [`${bin}/release-image.sh`, inspected],
  [`${bin}/release-image.sh`, assignment],
  [`${bin}/bootkube.sh`, assignment],
]

/**
 * What the scripts name, each reference once; sound configs have exactly one. The first is what release-image.service
 * pulls.
 */
export function releaseImages(files: BootstrapFiles): readonly NamedReleaseImage[] {
  const evidence = new Map<string, Evidence[]>()
  for (const [path, pattern] of scripts) {
    const text = files.get(path)?.text ?? ''
    for (const match of text.matchAll(pattern)) {
      const [, name = ''] = match
      const own = evidence.get(name) ?? []
      evidence.set(name, own)
      own.push({ file: path, line: lineAt(text, match.index) })
    }
  }
  return [...evidence].map(([text, at]) => ({ text, ...referenceOf(text), evidence: at }))
}

function referenceOf(text: string): { reference?: Reference } {
  try {
    return { reference: parseReference(text) }
  } catch (error) {
    if (error instanceof KnownError) return {}
    throw error
  }
}
