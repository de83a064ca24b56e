/** As much of JSON Schema (draft 2020-12) as the generated schemas use; any other keyword is an error here. */
import assert from 'node:assert/strict'

interface Schema {
  readonly [keyword: string]: unknown
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
}

const annotations = ['$schema', '$id', 'title', 'description', 'default', 'examples', 'deprecated']
const checked = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'pattern']
const limits = ['minLength', 'maxLength', 'exclusiveMinimum', 'maximum']

/** What is wrong with a value, as `PATH: WHY`; nothing where it is valid. */
export function complaintsOf(value: unknown, schema: object, path = '$'): string[] {
  const rules = schema as Schema
  for (const keyword of Object.keys(rules)) {
    assert.ok([...annotations, ...checked, ...limits].includes(keyword), `no check for the keyword ${keyword}`)
  }
  const types = typeof rules.type === 'string' ? [rules.type] : (rules.type ?? [])
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return [`${path}: is no ${types.join(' or ')}`]
  if (rules.enum && !rules.enum.includes(value)) return [`${path}: ${String(value)} is not allowed`]
  if (rules.const !== undefined && rules.const !== value) return [`${path}: is not ${String(rules.const)}`]
  if (typeof value === 'string') return textComplaints(value, rules, path)
  if (typeof value === 'number') return numberComplaints(value, rules, path)
  if (Array.isArray(value)) {
    return value.flatMap((entry, index) => complaintsOf(entry, rules.items ?? {}, `${path}[${index}]`))
  }
  return value !== null && typeof value === 'object' ? objectComplaints(value, rules, path) : []
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value)
  return typeof value === type
}

function textComplaints(value: string, { pattern, minLength, maxLength }: Schema, path: string): string[] {
  const isShort = typeof minLength === 'number' && value.length < minLength
  const isLong = typeof maxLength === 'number' && value.length > maxLength
  const isOther = pattern !== undefined && !new RegExp(pattern, 'u').test(value)
  return isShort || isLong || isOther ? [`${path}: "${value}" does not fit`] : []
}

function numberComplaints(value: number, { exclusiveMinimum, maximum }: Schema, path: string): string[] {
  const isLow = typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum
  const isHigh = typeof maximum === 'number' && value > maximum
  return isLow || isHigh ? [`${path}: ${value} is out of bounds`] : []
}

function objectComplaints(
  value: object,
  { properties = {}, required = [], additionalProperties }: Schema,
  path: string,
) {
  const missing = required
    .filter((field) => !Object.hasOwn(value, field))
    .map((field) => `${path}: ${field} is missing`)
  const unknown = Object.keys(value).filter((field) => additionalProperties === false && !properties[field])
  const within = Object.entries(value).flatMap(([field, content]) =>
    complaintsOf(content, properties[field] ?? {}, `${path}.${field}`),
  )
  return [...missing, ...unknown.map((field) => `${path}: ${field} is unknown`), ...within]
}
