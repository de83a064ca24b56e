/** Looks into values that may not have the form that they should: rules hold for what is right beside what is wrong. */

/** The field of a mapping; undefined where the value is none, or has no such field. */
export function fieldOf(value: unknown, field: string): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, field))
    return undefined
  return (value as Readonly<Record<string, unknown>>)[field]
}

/** The text in a field; undefined where there is none. */
export function textOf(value: unknown, field: string): string | undefined {
  const found = fieldOf(value, field)
  return typeof found === 'string' ? found : undefined
}

/** The entries of the list in a field; none where there is no list. */
export function entriesOf(value: unknown, field: string): readonly unknown[] {
  const found = fieldOf(value, field)
  return Array.isArray(found) ? found : []
}
