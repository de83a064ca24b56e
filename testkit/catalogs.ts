/** Operator catalogs as values: made up in a few words, or real ones read just as far as their graphs go. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import type {
  BundleMeta,
  Catalog,
  CatalogPackage,
  ChannelEntry,
  ChannelMeta,
  DeprecationEntry,
} from '../src/catalog/meta.ts'

const place = { file: 'made-up.json', offset: 0, length: 0 }

type Entry = string | (Pick<ChannelEntry, 'name'> & Partial<ChannelEntry>)
type Bundle = string | Partial<Omit<BundleMeta, 'schema' | 'package' | 'place'>>

interface MadePackage {
  /** Default: none. */
  readonly defaultChannel?: string
  readonly channels: Readonly<Record<string, readonly Entry[]>>
  /** By name: the version, or more than that. Default: what the channels list, with the version after `.v` of the name. */
  readonly bundles?: Readonly<Record<string, Bundle>>
  readonly deprecations?: readonly DeprecationEntry[]
}

/** Entries are written `a > b` for `a replaces b`, or in full. */
export function madeCatalog(packages: Readonly<Record<string, MadePackage>>): Catalog {
  return {
    packages: new Map(Object.entries(packages).map(([name, made]) => [name, madePackage(name, made)])),
    others: [],
  }
}

function madePackage(name: string, made: MadePackage): CatalogPackage {
  const channels = Object.entries(made.channels).map(
    ([channel, entries]): ChannelMeta => ({
      schema: 'olm.channel',
      package: name,
      name: channel,
      entries: entries.map(madeEntry),
      place,
    }),
  )
  const listed = channels.flatMap(({ entries }) => entries.map((entry) => [entry.name, {}] as const))
  const bundles = made.bundles ?? Object.fromEntries(listed)
  return {
    meta: { schema: 'olm.package', name, defaultChannel: made.defaultChannel ?? '', place },
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    bundles: new Map(Object.entries(bundles).map(([bundle, what]) => [bundle, madeBundle(name, bundle, what)])),
    ...(made.deprecations && {
      deprecations: { schema: 'olm.deprecations', package: name, entries: made.deprecations, place },
    }),
    others: [],
  }
}

function madeEntry(entry: Entry): ChannelEntry {
  if (typeof entry !== 'string') return { skips: [], ...entry }
  const [name = '', replaces] = entry.split(' > ')
  return { name, ...(replaces !== undefined && { replaces }), skips: [] }
}

function madeBundle(of: string, name: string, bundle: Bundle): BundleMeta {
  const own = typeof bundle === 'string' ? { version: bundle } : bundle
  const version = /\.v(\d+\.\d+\.\d+.*)$/.exec(name)?.[1]
  const defaults = { name, image: `registry.test/${of}:${name}`, relatedImages: [], requires: [], provides: [] }
  return { schema: 'olm.bundle', package: of, ...defaults, ...(version !== undefined && { version }), ...own, place }
}

const data = fileURLToPath(new URL('../../shared/data', import.meta.url))

export const noCatalogs = existsSync(join(data, 'catalogs')) ? false : `${data} is not there`

/** Channels of 3scale-operator as Red Hat published them; the file has no bundles. */
export function threescaleChannels(): Readonly<Record<string, readonly ChannelEntry[]>> {
  const text = readFileSync(join(data, 'mirror/oc-mirror/fbc/test-operator-catalog.json'), 'utf8')
  const catalog = graphsOf([text]).packages.get('3scale-operator')
  return Object.fromEntries([...(catalog?.channels ?? [])].map(([name, { entries }]) => [name, entries]))
}

/** Where the real catalogs are, by a name for messages; each is one catalog, read when it is asked for. */
export function realCatalogs(): ReadonlyMap<string, () => Catalog> {
  const found = new Map<string, () => Catalog>()
  const archives = join(data, 'catalogs/community-operators-prod')
  for (const name of readdirSync(archives).filter((each) => /^v.*\.tar\.gz$/.test(each)))
    found.set(name, () => graphsOf(tarTexts(gunzipSync(readFileSync(join(archives, name))))))
  const files = [
    'mirror/catalog-filter/community-catalog-config.json',
    'mirror/oc/fbc/index.yaml',
    'mirror/oc-mirror/fbc/jaeger-product/catalog.json',
    'mirror/oc-mirror/fbc/aws-load-balancer-operator/catalog.json',
    'mirror/oc-mirror/fbc/node-observability-operator-4.14/catalog.json',
    ...readdirSync(join(data, 'catalogs/fbc')).map((name) => `catalogs/fbc/${name}`),
  ]
  for (const file of files.filter((each) => /\.(json|yaml)$/.test(each)))
    found.set(file, () => graphsOf([readFileSync(join(data, file), 'utf8')]))
  return found
}

function tarTexts(tar: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at + 512 <= tar.length; ) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135).replaceAll('\0', ''), 8) || 0
    if (tar[at + 156] === 0x30) texts.push(tar.toString('utf8', at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return texts
}

interface Found {
  readonly defaults: Map<string, string>
  readonly channels: Map<string, ChannelMeta[]>
  readonly bundles: Map<string, BundleMeta[]>
}

/** Packages and channels are parsed, bundles only searched for their names and versions: they are most of the bytes. */
function graphsOf(texts: readonly string[]): Catalog {
  const found: Found = { defaults: new Map(), channels: new Map(), bundles: new Map() }
  for (const text of texts) {
    const isJson = text.trimStart().startsWith('{')
    for (const document of text.split(isJson ? /(?<=^\}\s*)\n(?=\{)/m : /^---.*$/m)) take(document, isJson, found)
  }
  const packages = [...found.defaults]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, defaultChannel]) => {
      const channels = new Map((found.channels.get(name) ?? []).map((channel) => [channel.name, channel]))
      const bundles = new Map((found.bundles.get(name) ?? []).map((bundle) => [bundle.name, bundle]))
      const meta = { schema: 'olm.package', name, defaultChannel, place } as const
      return [name, { meta, channels, bundles, others: [] }] as const
    })
  return { packages: new Map(packages), others: [] }
}

function take(document: string, isJson: boolean, { defaults, channels, bundles }: Found): void {
  const top = (field: string) =>
    new RegExp(isJson ? `^(?: {1,4}|\\t)"${field}": *"([^"]*)"` : `^${field}: *['"]?([^'"\\n]*)`, 'm').exec(
      document,
    )?.[1]
  const [schema, name = '', of = ''] = [top('schema'), top('name'), top('package')]
  if (schema === 'olm.package') defaults.set(name, top('defaultChannel') ?? '')
  if (schema === 'olm.channel') {
    const { entries } = (isJson ? JSON.parse(document) : parse(document)) as { entries?: Partial<ChannelEntry>[] }
    const read = (entries ?? []).map((entry) => ({ name: '', ...entry, skips: entry.skips ?? [] }))
    channels.set(of, [...(channels.get(of) ?? []), { schema, package: of, name, entries: read, place }])
  }
  if (schema === 'olm.bundle') {
    const version = versionIn(document, of)
    bundles.set(of, [...(bundles.get(of) ?? []), madeBundle(of, name, version === undefined ? {} : { version })])
  }
}

/** The version beside `packageName` in the property `olm.package`. */
function versionIn(document: string, of: string): string | undefined {
  const named = `"?packageName"?: *["']?${of}["']?`
  const version = `"?version"?: *["']?([^"'\\s,]+)`
  const found = new RegExp(`${named},?\\s+${version}|${version}["']?,?\\s+${named}`).exec(document)
  return found?.[1] ?? found?.[2]
}
