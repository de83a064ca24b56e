/** From the issues of a schema to findings that a tired administrator can act on. */
import { isCollection, isScalar } from 'yaml'
import type * as z from 'zod'
import type { Finding } from '../errors/finding.ts'
import { configError } from './invalid-config.ts'
import { nearest } from './nearest.ts'
import { placeholderHint } from './placeholder.ts'
import { schemaAt, shapeOf } from './schema-fields.ts'
import type { YamlFile } from './yaml-document.ts'
import { nodeAt } from './yaml-nodes.ts'
import { formatPath } from './yaml-place.ts'

interface SchemaRead {
  readonly file: YamlFile
  readonly schema: z.ZodType
  /** What to write instead of a field that the format does not have, or has no longer. */
  readonly fieldAdvice: Readonly<Record<string, string>>
}

/** What people write for one of the values that a field takes. */
const synonyms: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  x64: 'amd64',
  aarch64: 'arm64',
  arm: 'arm64',
  ppc64: 'ppc64le',
  openshift: 'ocp',
}

export function schemaFindings(issues: readonly z.core.$ZodIssue[], read: SchemaRead): Finding[] {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ key, path: issue.path, meant: meantBy(key, issue.path, read) }))
      : [],
  )
  const meant = new Set(unknown.map(({ path, meant: field }) => formatPath([...path, field ?? ''])))
  const isSaid = (issue: z.core.$ZodIssue) =>
    issue.code === 'unrecognized_keys' || (issue.input === undefined && meant.has(formatPath(issue.path)))
  return [
    ...unknown.map((field) => unknownField(field, read)),
    ...issues.filter((issue) => !isSaid(issue)).map((issue) => valueFinding(issue, read)),
  ]
}

function valueFinding(issue: z.core.$ZodIssue, read: SchemaRead): Finding {
  const path = formatPath(issue.path)
  const summary = `${path === '' ? '' : `${path}: `}${reason(issue, read)}`
  // A section begins on the line below its name, and the name is what one looks for.
  const part = isCollection(nodeAt(read.file.contents, issue.path)) ? 'key' : 'value'
  return configError('config.value', summary, read.file.placeOf(issue.path, part))
}

interface UnknownField {
  readonly key: string
  readonly path: readonly PropertyKey[]
  /** The field that was probably meant. */
  readonly meant: string | undefined
}

/** None where it is known what the word was in another version of the format. */
function meantBy(key: string, path: readonly PropertyKey[], { schema, fieldAdvice }: SchemaRead): string | undefined {
  return Object.hasOwn(fieldAdvice, key) ? undefined : nearest(key, fieldsAt(schema, path))
}

function unknownField({ key, path, meant }: UnknownField, { file, schema, fieldAdvice }: SchemaRead): Finding {
  const advice = Object.hasOwn(fieldAdvice, key) ? fieldAdvice[key] : undefined
  const known = `the fields here are ${fieldsAt(schema, path).join(', ')}`
  const help = meant === undefined ? (advice ?? known) : `did you mean "${meant}"?`
  const summary = `${formatPath([...path, key])}: there is no field "${key}" here; ${help}`
  return configError('config.unknown-field', summary, file.placeOf([...path, key], 'key'))
}

function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  return Object.keys(shapeOf(schemaAt(schema, path)) ?? {})
}

function reason(issue: z.core.$ZodIssue, read: SchemaRead): string {
  if (issue.code === 'invalid_type') return wrongType(issue, read)
  if (issue.code === 'invalid_value') return wrongValue(issue, sourceText(issue, read))
  return issue.message
}

function wrongType({ path, expected, input }: z.core.$ZodIssueInvalidType, read: SchemaRead): string {
  const text = sourceText({ path, input }, read)
  if (input === undefined) {
    const isEmpty = nodeAt(read.file.contents, path) !== undefined
    return isEmpty ? 'a value must stand here, and there is none' : 'this field must be there, and it is missing'
  }
  if (expected === 'string' && !isStructure(input)) {
    return `${text} without quotes is ${input instanceof Date ? 'a date' : `a ${typeof input}`}, and text is wanted; write '${text}'`
  }
  const wanted =
    {
      array: 'a list, each entry beginning with "- "',
      object: 'a mapping of fields',
      boolean: 'true or false',
      int: 'a whole number',
    }[expected as string] ?? `a ${expected}`
  const isName = expected === 'object' && typeof input === 'string' && fieldsAt(read.schema, path).includes('name')
  const hint = isName ? `; write name: ${input}` : placeholderHint(String(input))
  return `${text} stands here, and ${wanted} is wanted${hint}`
}

function wrongValue(issue: z.core.$ZodIssueInvalidValue, text: string): string {
  const values = issue.values.map(String)
  const written = typeof issue.input === 'string' ? issue.input : ''
  const meant = synonyms[written.toLowerCase()]
  const help = meant !== undefined && values.includes(meant) ? meant : nearest(written, values)
  const choice = values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
  if (issue.input === undefined) return `this field must be there, and it is missing; it ${choice}`
  if (issue.input === null) return `nothing stands here; it ${choice}`
  const guess = help === undefined ? '' : `; did you mean "${help}"?`
  return `${text} is not known, it ${choice}${placeholderHint(written) || guess}`
}

function isStructure(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** What the file says there: the scalar as it is written, or what kind of structure it is. */
function sourceText(issue: { path: readonly PropertyKey[]; input?: unknown }, { file }: SchemaRead): string {
  if (Array.isArray(issue.input)) return 'a list'
  if (isStructure(issue.input)) return 'a mapping'
  if (issue.input === null) return 'nothing'
  const node = nodeAt(file.contents, issue.path)
  const text = isScalar(node) ? (node.source ?? String(node.value)) : String(issue.input)
  return typeof issue.input === 'string' ? `"${text}"` : text
}
