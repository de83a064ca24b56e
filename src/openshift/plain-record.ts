/** What parsers of JSON and YAML give for a mapping, and a way through it without a schema. */

export type PlainRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is PlainRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What stands at a path of keys; undefined where one of them is not there. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((at, key) => (isRecord(at) ? at[key] : undefined), value)
}

/** The same where it is text that is not empty. */
export function textAt(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = valueAt(value, ...keys)
  return typeof found === 'string' && found !== '' ? found : undefined
}
