/** One document of a catalog, read as far as selecting needs it (operator-framework/operator-registry `alpha/declcfg/declcfg.go`). */
import type { ChannelEntry, ChannelMeta, DeprecationMeta, Meta, MetaPlace, PackageMeta } from './meta.ts'
import { type ReadOptions, readBundle } from './read-bundle.ts'
import { FieldFault, type Fields, fieldsOf, listOf, textOf } from './read-fields.ts'
import type { TextPool } from './text-pool.ts'

/**
 * @param pool of the file that the document stands in
 * @throws FieldFault where the document is no mapping, says no schema, or a field of its schema is of another type
 */
export function readMeta(document: unknown, place: MetaPlace, pool: TextPool): Meta {
  const fields = fieldsOf(document, 'the document')
  const schema = textOf(rootField(fields, 'schema'), 'schema')
  const name = textOf(rootField(fields, 'name'), 'name')
  switch (schema) {
    case '':
      throw new FieldFault('the document has no "schema"')
    case 'olm.package':
      return readPackage(fields, name, place)
    case 'olm.channel':
      return readChannel(fields, pool.share(name), { place, pool })
    case 'olm.bundle':
      return readBundle(fields, pool.share(name), { place, pool })
    case 'olm.deprecations':
      return readDeprecations(fields, place)
    default: {
      const owner = textOf(rootField(fields, 'package'), 'package')
      return { schema, ...(owner !== '' && { package: owner }), ...(name !== '' && { name }), place }
    }
  }
}

/** In the root of a document names are the same in upper and lower case (declcfg.go, extractUniqueMetaKeys). */
function rootField(fields: Fields, name: string): unknown {
  if (name in fields) return fields[name]
  const key = Object.keys(fields).find((each) => each.toLowerCase() === name)
  return key === undefined ? undefined : fields[key]
}

function readPackage(fields: Fields, name: string, place: MetaPlace): PackageMeta {
  if (name === '') throw new FieldFault('the package has no name')
  return { schema: 'olm.package', name, defaultChannel: textOf(fields['defaultChannel'], 'defaultChannel'), place }
}

const noSkips: readonly string[] = []

function readChannel(fields: Fields, name: string, { place, pool }: ReadOptions): ChannelMeta {
  const owner = pool.share(textOf(fields['package'], 'package'))
  if (name === '') throw new FieldFault(`a channel of the package "${owner}" has no name`)
  const entries = listOf(fields['entries'], 'entries').map((each) => pool.shareEntry(readEntry(each, pool)))
  const names = new Set<string>()
  for (const { name: entry } of entries) {
    if (names.has(entry)) throw new FieldFault(`the channel "${name}" has the entry "${entry}" twice`)
    names.add(entry)
  }
  return { schema: 'olm.channel', package: owner, name, entries, place }
}

function readEntry(value: unknown, pool: TextPool): ChannelEntry {
  const fields = fieldsOf(value, 'an entry')
  const replaces = pool.share(textOf(fields['replaces'], 'replaces'))
  const skips = listOf(fields['skips'], 'skips')
  const skipRange = pool.share(textOf(fields['skipRange'], 'skipRange'))
  return {
    name: pool.share(textOf(fields['name'], 'name')),
    ...(replaces !== '' && { replaces }),
    // There are hundreds of thousands of entries, most of them with nothing to skip.
    skips: skips.length === 0 ? noSkips : skips.map((each) => pool.share(textOf(each, 'skips'))),
    ...(skipRange !== '' && { skipRange }),
  }
}

function readDeprecations(fields: Fields, place: MetaPlace): DeprecationMeta {
  const owner = textOf(fields['package'], 'package')
  if (owner === '') throw new FieldFault('deprecations that name no package')
  const entries = listOf(fields['entries'], 'entries').map((each) => {
    const entry = fieldsOf(each, 'an entry')
    const reference = fieldsOf(entry['reference'], 'a reference')
    const name = textOf(reference['name'], 'name')
    return {
      reference: { schema: textOf(reference['schema'], 'schema'), ...(name !== '' && { name }) },
      message: textOf(entry['message'], 'message'),
    }
  })
  return { schema: 'olm.deprecations', package: owner, entries, place }
}
