/** Fields of documents that others wrote: taken where they are what they should be, told by name where they are not. */

/** What is wrong with a document that could be parsed. */
export class FieldFault extends Error {}

export type Fields = Readonly<Record<string, unknown>>

/** @throws FieldFault */
export function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new FieldFault(`${name} is ${kindOf(value)}, not a mapping`)
}

/** Empty where there is none. @throws FieldFault */
export function textOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  throw new FieldFault(`"${name}" is ${kindOf(value)}, not a text`)
}

/** Empty where there is none. @throws FieldFault */
export function listOf(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null) return []
  throw new FieldFault(`"${name}" is ${kindOf(value)}, not a list`)
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : `the ${typeof value} ${String(value)}`
}
