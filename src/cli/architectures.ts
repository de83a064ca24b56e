/** Architectures as flags name them. */
import { KnownError } from '../errors/known-error.ts'
import { goArchitecture } from '../openshift/release-tag.ts'

const architectures = ['amd64', 'arm64', 'ppc64le', 's390x', 'multi']

/**
 * An architecture as Go names it; also read as RPM names it.
 *
 * @throws KnownError USAGE
 */
export function readArchitecture(text: string): string {
  const name = goArchitecture(text)
  if (architectures.includes(name)) return name
  throw new KnownError('USAGE', `"${text}" is no architecture of OpenShift: ${architectures.join(', ')}`)
}

/** @throws KnownError USAGE */
export function readArchitectures(text: string): readonly string[] {
  return [...new Set(text.split(',').map((name) => readArchitecture(name.trim())))]
}
