/**
 * registries.conf, version 2, as containers/image holds it after reading: normalised, one entry a prefix, sorted.
 *
 * Source: containers-registries.conf.5 and containers/image `pkg/sysregistriesv2/system_registries_v2.go`.
 */
export type PullFromMirror = 'all' | 'digest-only' | 'tag-only'

export interface RegistryMirror {
  readonly location: string
  /** True where HTTP, and certificates nobody vouches for, are accepted. */
  readonly insecure: boolean
  /** Absent is the same as `all`; kept apart, because a file may not say it beside `mirror-by-digest-only`. */
  readonly pullFromMirror?: PullFromMirror
}

export interface RegistryEntry {
  /** `HOST[:PORT][/PATH]`, or `*.DOMAIN`: what an image name must begin with. Never empty. */
  readonly prefix: string
  /** What stands in the place of the prefix; empty (only with a wildcard prefix) leaves the name as it is. */
  readonly location: string
  readonly insecure: boolean
  readonly blocked: boolean
  readonly mirrorByDigestOnly: boolean
  readonly mirrors: readonly RegistryMirror[]
  /** The file that says so, for messages. */
  readonly origin: string
}

export interface RegistriesConf {
  readonly registries: readonly RegistryEntry[]
  /** Absent where the file says nothing: a drop-in then leaves what the files before it said. */
  readonly unqualifiedSearchRegistries?: readonly string[]
  readonly shortNameMode?: 'disabled' | 'enforcing' | 'permissive'
  readonly credentialHelpers?: readonly string[]
  readonly additionalLayerStoreAuthHelper?: string
  readonly aliases?: Readonly<Record<string, string>>
}

/** What a machine without any registries.conf has: every image is read from where its name says. */
export const noRegistriesConf: RegistriesConf = { registries: [] }

/**
 * The main file and its drop-ins, in the order they are read.
 *
 * An entry of a later file replaces the whole entry with the same prefix; mirrors are never put together. Single
 * settings of a later file win, aliases are merged (containers/image `parsedConfig.updateWithConfigurationFrom`).
 */
export function mergeRegistriesConf(main: RegistriesConf, dropIns: readonly RegistriesConf[]): RegistriesConf {
  let merged = main
  for (const later of dropIns) merged = mergeTwo(merged, later)
  return merged
}

function mergeTwo(before: RegistriesConf, later: RegistriesConf): RegistriesConf {
  const entries = new Map([...before.registries, ...later.registries].map((entry) => [entry.prefix, entry]))
  const aliases = { ...before.aliases, ...later.aliases }
  return {
    ...before,
    ...later,
    registries: sortedByPrefix([...entries.values()]),
    ...(Object.keys(aliases).length > 0 && { aliases }),
  }
}

/** By code unit, as Go's `sort.Strings` does for what a prefix may contain. */
export function sortedByPrefix(entries: readonly RegistryEntry[]): readonly RegistryEntry[] {
  return entries.toSorted((one, other) => (one.prefix < other.prefix ? -1 : one.prefix > other.prefix ? 1 : 0))
}
