/**
 * From the text of one registries.conf to what containers/image makes of it, or the error that podman, CRI-O and
 * skopeo would give.
 *
 * Version 1 (`[registries.search]` and its like) is converted, as there; it may be neither mixed with version 2 nor
 * used in a drop-in.
 *
 * Source: containers/image `pkg/sysregistriesv2/system_registries_v2.go:loadConfigFile, postProcessRegistries`.
 */
import { parse, TomlError } from 'smol-toml'
import { KnownError } from '../errors/known-error.ts'
import { checkAlias } from './check-aliases.ts'
import { checkEntries, InvalidEntry, trimLocation } from './check-entries.ts'
import type { RegistriesConf, RegistryEntry, RegistryMirror } from './registries-conf.ts'
import { type Fields, fieldsOf, InvalidField } from './toml-fields.ts'

interface ParseOptions {
  /** True for a file of registries.conf.d, where version 1 is refused. */
  readonly isDropIn?: boolean
}

/**
 * @param fileName names the file in errors and in `RegistryEntry.origin`
 * @throws KnownError REGISTRIES_CONF_INVALID, with `file`, and `line` where the TOML itself is broken
 */
export function parseRegistriesConf(text: string, fileName: string, options: ParseOptions = {}): RegistriesConf {
  try {
    return readConf(fieldsOf(parse(text), ''), fileName, options.isDropIn === true)
  } catch (error) {
    if (error instanceof TomlError) {
      const why = error.message.split('\n')[0] ?? ''
      throw new KnownError('REGISTRIES_CONF_INVALID', `${fileName}:${error.line}:${error.column}: ${why}`, {
        details: { file: fileName, line: error.line, column: error.column },
        cause: error,
      })
    }
    if (!(error instanceof InvalidField) && !(error instanceof InvalidEntry)) throw error
    throw new KnownError('REGISTRIES_CONF_INVALID', `${fileName}: ${error.message}`, { details: { file: fileName } })
  }
}

const versionTwoKeys = [
  'registry',
  'unqualified-search-registries',
  'credential-helpers',
  'short-name-mode',
  'additional-layer-store-auth-helper',
  'aliases',
]

function readConf(top: Fields, origin: string, isDropIn: boolean): RegistriesConf {
  const versionOne = top.table('registries')
  const lists = ['search', 'insecure', 'block'].map((name) => versionOne?.table(name)?.list('registries'))
  if (lists.some((list) => list !== undefined)) {
    if (isDropIn) throw new InvalidField('registry must be in v2 format but is in v1')
    const mixed = versionTwoKeys.filter((key) => top.keys().some((name) => name.toLowerCase() === key))
    if (mixed.length > 0)
      throw new InvalidField(`mixing sysregistry v1/v2 is not supported: [registries] beside ${mixed.join(', ')}`)
    return convertVersionOne(lists, origin)
  }
  const registries = checkEntries((top.tables('registry') ?? []).map((fields) => readEntry(fields, origin)))
  const search = top.list('unqualified-search-registries')?.map(searchRegistry)
  const helpers = top.list('credential-helpers')
  const mode = shortNameMode(top.text('short-name-mode'))
  const storeHelper = top.text('additional-layer-store-auth-helper')
  const aliases = top.table('aliases')
  return {
    registries,
    ...(search !== undefined && { unqualifiedSearchRegistries: search }),
    ...(mode !== undefined && { shortNameMode: mode }),
    ...(helpers !== undefined && { credentialHelpers: helpers }),
    ...(storeHelper !== '' && { additionalLayerStoreAuthHelper: storeHelper }),
    ...(aliases !== undefined && { aliases: readAliases(aliases) }),
  }
}

function readAliases(fields: Fields): Readonly<Record<string, string>> {
  const aliases = Object.fromEntries(fields.keys().map((name) => [name, fields.text(name)]))
  for (const [name, value] of Object.entries(aliases)) checkAlias(name, value)
  return aliases
}

function readEntry(fields: Fields, origin: string): RegistryEntry {
  const prefix = fields.text('prefix')
  const location = trimLocation(fields.text('location'))
  const entry = {
    prefix: prefix === '' ? location : trimLocation(prefix),
    location,
    insecure: fields.flag('insecure'),
    blocked: fields.flag('blocked'),
    mirrorByDigestOnly: fields.flag('mirror-by-digest-only'),
    mirrors: (fields.tables('mirror') ?? []).map(readMirror),
    origin,
  }
  if (fields.text('pull-from-mirror') !== '')
    throw new InvalidField(`pull-from-mirror must not be set for a non-mirror registry "${entry.prefix}"`)
  return entry
}

function readMirror(fields: Fields): RegistryMirror {
  const location = trimLocation(fields.text('location'))
  const pullFromMirror = fields.text('pull-from-mirror')
  const mirror = { location, insecure: fields.flag('insecure') }
  switch (pullFromMirror) {
    case '':
      return mirror
    case 'all':
    case 'digest-only':
    case 'tag-only':
      return { ...mirror, pullFromMirror }
    default:
      throw new InvalidField(`unsupported pull-from-mirror value "${pullFromMirror}" for mirror "${location}"`)
  }
}

const hostPattern =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/

function searchRegistry(text: string): string {
  const registry = trimLocation(text)
  if (!hostPattern.test(registry))
    throw new InvalidField(`Invalid unqualified-search-registries entry ${JSON.stringify(registry)}`)
  return registry
}

function shortNameMode(mode: string): RegistriesConf['shortNameMode'] {
  if (mode === '') return undefined
  if (mode === 'disabled' || mode === 'enforcing' || mode === 'permissive') return mode
  throw new InvalidField(`invalid short-name mode: "${mode}"`)
}

function convertVersionOne(lists: readonly (readonly string[] | undefined)[], origin: string): RegistriesConf {
  const [search = [], insecure = [], blocked = []] = lists.map((list) => list?.map(trimLocation))
  const entries = [...new Set([...blocked, ...insecure])].map((location) => ({
    prefix: location,
    location,
    insecure: insecure.includes(location),
    blocked: blocked.includes(location),
    mirrorByDigestOnly: false,
    mirrors: [],
    origin,
  }))
  return { registries: checkEntries(entries), unqualifiedSearchRegistries: search.map(searchRegistry) }
}
