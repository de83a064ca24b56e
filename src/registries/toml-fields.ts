/**
 * Typed reading of a TOML table the way Go's decoder reads it into a struct: a key matches exactly or else without
 * regard to case, an unknown key is passed over, a value of another type is an error.
 *
 * Source: BurntSushi/toml `decode.go:unifyStruct`.
 */
import type { TomlTable, TomlValue } from 'smol-toml'

/** A file that containers/image would refuse; `parse.ts` adds the file name and the code. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField'
}

export interface Fields {
  text(key: string): string
  flag(key: string): boolean
  /** Absent where the file does not have the key: an empty list is something else. */
  list(key: string): readonly string[] | undefined
  tables(key: string): readonly Fields[] | undefined
  table(key: string): Fields | undefined
  keys(): readonly string[]
}

export function fieldsOf(table: TomlTable, path: string): Fields {
  const find = (key: string): TomlValue | undefined =>
    table[key] ?? table[Object.keys(table).find((name) => name.toLowerCase() === key) ?? key]
  const wrong = (key: string, wanted: string) => new InvalidField(`${path}${key} must be ${wanted}`)
  const read = <T extends TomlValue>(key: string, is: (value: TomlValue) => value is T, wanted: string) => {
    const value = find(key)
    if (value !== undefined && !is(value)) throw wrong(key, wanted)
    return value
  }
  return {
    text: (key) => read(key, isText, 'a string') ?? '',
    flag: (key) => read(key, isFlag, 'true or false') ?? false,
    list: (key) => read(key, isTextList, 'a list of strings'),
    tables: (key) =>
      read(key, isTableList, `a list of tables ([[${path}${key}]])`)?.map((item) => fieldsOf(item, `${path}${key}.`)),
    table: (key) => {
      const value = read(key, isTable, `a table ([${path}${key}])`)
      return value === undefined ? undefined : fieldsOf(value, `${path}${key}.`)
    },
    keys: () => Object.keys(table),
  }
}

const isText = (value: TomlValue) => typeof value === 'string'
const isFlag = (value: TomlValue) => typeof value === 'boolean'
const isTextList = (value: TomlValue): value is string[] => Array.isArray(value) && value.every(isText)
const isTable = (value: TomlValue): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
const isTableList = (value: TomlValue): value is TomlTable[] => Array.isArray(value) && value.every(isTable)
