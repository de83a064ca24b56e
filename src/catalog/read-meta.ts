/** One document of a catalog, read as far as selecting needs it (operator-framework/operator-registry `alpha/declcfg/declcfg.go`). */
import type { ChannelEntry, ChannelMeta, DeprecationMeta, Meta, MetaPlace, PackageMeta } from './meta.ts'
import { readBundle } from './read-bundle.ts'
import { FieldFault, type Fields, fieldsOf, listOf, textOf } from './read-fields.ts'

/**
 * @throws FieldFault where the document is no mapping, says no schema, or a field of its schema is of another type
 */
export function readMeta(document: unknown, place: MetaPlace): Meta {
  const fields = fieldsOf(document, 'the document')
  const schema = textOf(rootField(fields, 'schema'), 'schema')
  const name = textOf(rootField(fields, 'name'), 'name')
  switch (schema) {
    case '':
      throw new FieldFault('the document has no "schema"')
    case 'olm.package':
      return readPackage(fields, name, place)
    case 'olm.channel':
      return readChannel(fields, name, place)
    case 'olm.bundle':
      return readBundle(fields, name, place)
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

function readChannel(fields: Fields, name: string, place: MetaPlace): ChannelMeta {
  const owner = textOf(fields['package'], 'package')
  if (name === '') throw new FieldFault(`a channel of the package "${owner}" has no name`)
  const entries = listOf(fields['entries'], 'entries').map(readEntry)
  const names = new Set<string>()
  for (const { name: entry } of entries) {
    if (names.has(entry)) throw new FieldFault(`the channel "${name}" has the entry "${entry}" twice`)
    names.add(entry)
  }
  return { schema: 'olm.channel', package: owner, name, entries, place }
}

function readEntry(value: unknown): ChannelEntry {
  const fields = fieldsOf(value, 'an entry')
  const replaces = textOf(fields['replaces'], 'replaces')
  const skipRange = textOf(fields['skipRange'], 'skipRange')
  return {
    name: textOf(fields['name'], 'name'),
    ...(replaces !== '' && { replaces }),
    skips: listOf(fields['skips'], 'skips').map((each) => textOf(each, 'skips')),
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
