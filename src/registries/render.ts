/**
 * registries.conf as text, in the form that the machine config operator gives it. Deterministic; reading it gives
 * back the same configuration.
 *
 * Source: containers/image `pkg/sysregistriesv2` (names and order of the fields), BurntSushi/toml `encode.go`.
 */
import type { RegistriesConf, RegistryEntry, RegistryMirror } from './registries-conf.ts'

export function renderRegistriesConf(conf: RegistriesConf): string {
  const { unqualifiedSearchRegistries: search, credentialHelpers: helpers, aliases } = conf
  const top = [
    ...(search === undefined ? [] : [`unqualified-search-registries = ${quotedList(search)}`]),
    ...(helpers === undefined ? [] : [`credential-helpers = ${quotedList(helpers)}`]),
    `short-name-mode = ${quoted(conf.shortNameMode ?? '')}`,
    ...(conf.additionalLayerStoreAuthHelper === undefined
      ? []
      : [`additional-layer-store-auth-helper = ${quoted(conf.additionalLayerStoreAuthHelper)}`]),
  ]
  const aliasLines = Object.entries(aliases ?? {}).map(([name, value]) => `  ${quoted(name)} = ${quoted(value)}`)
  const blocks = [
    top,
    ...conf.registries.flatMap(entryBlocks),
    ...(aliases === undefined ? [] : [['[aliases]', ...aliasLines]]),
  ]
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function entryBlocks(entry: RegistryEntry): readonly (readonly string[])[] {
  const registry = [
    '[[registry]]',
    `  prefix = ${quoted(entry.prefix === entry.location ? '' : entry.prefix)}`,
    ...(entry.location === '' ? [] : [`  location = ${quoted(entry.location)}`]),
    ...(entry.insecure ? ['  insecure = true'] : []),
    ...(entry.blocked ? ['  blocked = true'] : []),
    ...(entry.mirrorByDigestOnly ? ['  mirror-by-digest-only = true'] : []),
  ]
  return [registry, ...entry.mirrors.map(mirrorBlock)]
}

function mirrorBlock(mirror: RegistryMirror): readonly string[] {
  return [
    '  [[registry.mirror]]',
    `    location = ${quoted(mirror.location)}`,
    ...(mirror.insecure ? ['    insecure = true'] : []),
    ...(mirror.pullFromMirror === undefined ? [] : [`    pull-from-mirror = ${quoted(mirror.pullFromMirror)}`]),
  ]
}

/** JSON's escapes are TOML's, but for DEL. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}

function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`
}
