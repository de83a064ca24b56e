/**
 * Documents of a catalog after a selection: what is dropped, what is copied as it stands, and what is written anew.
 *
 * Only documents that say something else than before are written anew: a package with another default channel, a channel
 * or a list of deprecations with fewer entries. In these, too, everything else is kept: fields that are not known here, and
 * numbers as they are spelled.
 */
import { isMap, isSeq, parse, parseDocument, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import type {
  BundleMeta,
  Catalog,
  CatalogPackage,
  ChannelMeta,
  DeprecationEntry,
  DeprecationMeta,
  MetaPlace,
  OtherMeta,
  PackageMeta,
} from './meta.ts'
import type { CatalogSelection, KeptPackage } from './selection.ts'

export type DocumentFormat = 'json' | 'yaml'

/** What is written anew in a document. */
export type DocumentEdit =
  | { readonly defaultChannel: string }
  /** Which members of `entries` stay, by their place in the list. */
  | { readonly entries: ReadonlySet<number> }

export interface KeptDocument {
  readonly place: MetaPlace
  /** Undefined where the document belongs to no package. */
  readonly package?: string
  /** Absent where the document is copied byte for byte. */
  readonly edit?: DocumentEdit
}

/**
 * The documents that a selection keeps, in the order in which they are written: by package, then the package itself, its
 * channels, bundles, deprecations and all others, each by name. The same whatever order the files of the catalog had.
 */
export function keptDocuments(catalog: Catalog, selection: CatalogSelection): KeptDocument[] {
  const packages = [...selection.kept.values()].sort((a, b) => compareText(a.name, b.name))
  return [
    ...others(catalog.others),
    ...packages.flatMap((kept) => {
      const all = catalog.packages.get(kept.name)
      return all === undefined ? [] : packageDocuments(all, kept).map((one) => ({ ...one, package: kept.name }))
    }),
  ]
}

function packageDocuments(all: CatalogPackage, kept: KeptPackage): KeptDocument[] {
  const channels = byName([...all.channels.values()]).flatMap((channel) => channelDocument(channel, kept))
  const bundles = new Set(kept.bundles)
  return [
    packageDocument(all.meta, kept),
    ...channels,
    ...byName([...all.bundles.values()].filter(({ name }) => bundles.has(name))).map(({ place }) => ({ place })),
    ...(all.deprecations ? deprecationDocument(all.deprecations, kept) : []),
    ...others(all.others),
  ]
}

function packageDocument({ place, defaultChannel }: PackageMeta, kept: KeptPackage): KeptDocument {
  if (kept.defaultChannel === defaultChannel) return { place }
  return { place, edit: { defaultChannel: kept.defaultChannel } }
}

function channelDocument({ name, place, entries }: ChannelMeta, kept: KeptPackage): KeptDocument[] {
  const channel = kept.channels.find((one) => one.name === name)
  if (!channel) return []
  const names = new Set(channel.entries.map((entry) => entry.name))
  return withEntries(place, entries, (entry) => names.has(entry.name))
}

function deprecationDocument({ place, entries }: DeprecationMeta, kept: KeptPackage): KeptDocument[] {
  const names = new Set(kept.deprecations.map(deprecationKey))
  return withEntries(place, entries, (entry) => names.has(deprecationKey(entry)))
}

function deprecationKey({ reference }: DeprecationEntry): string {
  return JSON.stringify([reference.schema, reference.name ?? null])
}

/** Nothing where no entry stays: a channel without entries is none to `opm validate`. */
function withEntries<Entry>(
  place: MetaPlace,
  entries: readonly Entry[],
  isKept: (entry: Entry) => boolean,
): KeptDocument[] {
  const stay = new Set([...entries.keys()].filter((index) => entries.slice(index, index + 1).some(isKept)))
  if (stay.size === 0) return []
  return [stay.size === entries.length ? { place } : { place, edit: { entries: stay } }]
}

function others(metas: readonly OtherMeta[]): KeptDocument[] {
  const sorted = metas.toSorted(
    (a, b) =>
      compareText(a.schema, b.schema) ||
      compareText(a.name ?? '', b.name ?? '') ||
      compareText(a.place.file, b.place.file) ||
      a.place.offset - b.place.offset,
  )
  return sorted.map(({ place }) => ({ place }))
}

function byName<Meta extends BundleMeta | ChannelMeta>(metas: readonly Meta[]): Meta[] {
  return metas.toSorted((a, b) => compareText(a.name, b.name))
}

/** By code units, the same under every locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/**
 * The text of a document with `edit` made in it.
 *
 * @throws SyntaxError or an error of the YAML parser, where `text` is no document
 */
export function editDocument(text: string, format: DocumentFormat, edit: DocumentEdit): string {
  return format === 'json' ? editJson(text, edit) : editYaml(text, edit)
}

/** What JavaScript has and its types lack: the spelling of what is parsed (ECMAScript, "JSON.parse source text access"). */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/** Where there may be a number; in a text it does no harm. Nearly no channel has one. */
const numberPattern = /[:[,]\s*-?\d/

function editJson(text: string, edit: DocumentEdit): string {
  const document: unknown = numberPattern.test(text) ? parseExactly(text) : JSON.parse(text)
  return JSON.stringify(edited(document, edit), undefined, 4)
}

/** Numbers keep the spelling that they have: 1.10 would become 1.1, and what is beyond 2^53 another number. */
function parseExactly(text: string): unknown {
  const json = JSON as unknown as ExactJson
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? json.rawJSON(source) : value,
  )
}

function edited(document: unknown, edit: DocumentEdit): unknown {
  if (typeof document !== 'object' || document === null) return document
  if ('defaultChannel' in edit) return { ...document, defaultChannel: edit.defaultChannel }
  const entries: unknown[] = 'entries' in document && Array.isArray(document.entries) ? document.entries : []
  return { ...document, entries: entries.filter((_, index) => edit.entries.has(index)) }
}

function editYaml(text: string, edit: DocumentEdit): string {
  const document = parseDocument(text, { intAsBigInt: true, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw error
  const root: unknown = document.contents
  if (!isMap(root)) return text
  // What stands in an entry that goes may be what another entry points to.
  if (hasAlias(root)) return JSON.stringify(edited(parse(text, { merge: true }), edit), undefined, 4)
  if ('defaultChannel' in edit) root.set('defaultChannel', edit.defaultChannel)
  else keepItems(root.get('entries', true), edit.entries)
  return document.toString({ lineWidth: 0, directives: false })
}

function keepItems(entries: unknown, stay: ReadonlySet<number>): void {
  if (!isSeq(entries)) return
  const list: YAMLSeq = entries
  list.items = list.items.filter((_, index) => stay.has(index))
}

function hasAlias(root: YAMLMap): boolean {
  let isThere = false
  visit(root, {
    Alias: () => {
      isThere = true
      return visit.BREAK
    },
  })
  return isThere
}
