/**
 * Versions of the specification, as Ignition compares them: `03.2.0` and `3.2.0-` are 3.2.0, `3.2.0+1` is nothing.
 *
 * Source: github.com/coreos/go-semver `semver/semver.go`; coreos/ignition `config/v3_N/types/config.go:MaxVersion`.
 */
interface Version {
  readonly major: number
  readonly minor: number
  /** Without anything behind the patch version it is 3.MINOR.0. */
  readonly rest: string
}

/** `invalid`: no version at all. `unknown`: one that no Ignition of this specification reads. */
export type SpecVersion =
  | { readonly kind: 'known'; readonly minor: number }
  | { readonly kind: 'unknown'; readonly major: number }
  | { readonly kind: 'invalid' }

/** The newest that is not experimental; the one after it is, as `3.7.0-experimental`. */
const newestStableMinor = 6

export function specVersion(text: string): SpecVersion {
  const version = parsedVersion(text)
  if (!version) return { kind: 'invalid' }
  const { major, minor, rest } = version
  const wanted = minor === newestStableMinor + 1 ? '-experimental' : ''
  const isKnown = major === 3 && minor <= newestStableMinor + 1 && rest === wanted
  return isKnown ? { kind: 'known', minor } : { kind: 'unknown', major }
}

const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*'
const versionPattern = new RegExp(`^([0-9]+)\\.([0-9]+)\\.([0-9]+)(?:-(${identifiers})?)?(?:\\+(${identifiers})?)?$`)

function parsedVersion(text: string): Version | undefined {
  const [, major, minor, patch, preRelease = '', metadata = ''] = versionPattern.exec(text) ?? []
  if ([major, minor, patch].some((number) => number === undefined || BigInt(number) >= 2n ** 63n)) return undefined
  const rest = `${Number(patch) === 0 ? '' : `.${patch}`}${preRelease && `-${preRelease}`}${metadata && `+${metadata}`}`
  return { major: Number(major), minor: Number(minor), rest }
}
