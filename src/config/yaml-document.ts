/**
 * YAML files as people write them: strict, with every complaint at its line and column.
 */
import { readFile } from 'node:fs/promises'
import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import * as z from 'zod'
import { type Finding, finding } from '../errors/finding.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { nearest } from './nearest.ts'

/** @throws KnownError FILE_UNREADABLE */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR')) throw cause
    const why =
      { ENOENT: 'there is no such file', EACCES: 'this user may not read it' }[cause.code as string] ??
      'it is a directory'
    throw new KnownError('FILE_UNREADABLE', `Cannot read ${path}: ${why}`, { details: { file: path }, cause })
  }
}

export interface YamlSource {
  readonly file: string
  readonly text: string
}

/**
 * Parses one YAML document and validates it.
 *
 * @throws KnownError CONFIG_INVALID whose message lists every finding, each with file, line and column
 */
export function parseYaml<Schema extends z.ZodType>(source: YamlSource, schema: Schema): z.output<Schema> {
  const lines = new LineCounter()
  const document = parseDocument(source.text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { file: source.file, line, column: col }
  }
  if (document.errors.length > 0) {
    throw invalidConfig(
      document.errors.map((error) =>
        finding({ id: 'config.yaml', severity: 'error', summary: error.message, where: position(error.pos[0]) }),
      ),
    )
  }
  const result = schema.safeParse(toPlain(document, () => position(document.contents?.range?.[0] ?? 0)) ?? {})
  if (result.success) return result.data
  throw invalidConfig(
    result.error.issues.flatMap((issue) => findingsOf(issue, { schema, contents: document.contents, position })),
  )
}

/** An alias of nothing, and one that would unfold without end, come to light only here. */
function toPlain(document: Document, place: () => NonNullable<Finding['where']>): unknown {
  try {
    return document.toJS()
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw invalidConfig([finding({ id: 'config.yaml', severity: 'error', summary: error.message, where: place() })])
  }
}

/** One error for all the findings of a file. */
function invalidConfig(findings: readonly Finding[]): KnownError {
  const inOrder = findings.toSorted((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0))
  const lines = inOrder.map(
    ({ summary, where }) => `${where ? `${where.file}:${where.line}:${where.column}: ` : ''}${summary}`,
  )
  const [first] = inOrder
  return new KnownError('CONFIG_INVALID', lines.join('\n'), {
    details: {
      findings: findings.length,
      ...(first?.where && { file: first.where.file, line: first.where.line ?? 0 }),
    },
  })
}

interface Location {
  readonly schema: z.ZodType
  readonly contents: Node | null
  readonly position: (offset: number) => NonNullable<Finding['where']>
}

function findingsOf(issue: z.core.$ZodIssue, location: Location): Finding[] {
  const path = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') {
    const where = location.position(offsetOf(location.contents, path, 'value'))
    const name = path.join('.')
    return [
      finding({ id: 'config.value', severity: 'error', summary: `${name ? `${name}: ` : ''}${issue.message}`, where }),
    ]
  }
  return issue.keys.map((key) => {
    const meant = nearest(key, fieldsAt(location.schema, path))
    const summary = `${[...path, key].join('.')}: there is no field "${key}" here${meant ? `; did you mean "${meant}"?` : ''}`
    const where = location.position(offsetOf(location.contents, [...path, key], 'key'))
    return finding({ id: 'config.unknown-field', severity: 'error', summary, where })
  })
}

/** The fields that the object at `path` of the schema has. */
function fieldsAt(schema: z.ZodType, path: readonly string[]): readonly string[] {
  let current: z.core.$ZodType | undefined = schema
  for (const step of [...path, undefined]) {
    while (current instanceof z.ZodOptional || current instanceof z.ZodDefault) current = current.def.innerType
    if (step === undefined) break
    if (current instanceof z.ZodArray) current = current.def.element
    else current = current instanceof z.ZodObject ? (current.def.shape as Record<string, z.ZodType>)[step] : undefined
  }
  return current instanceof z.ZodObject ? Object.keys(current.def.shape) : []
}

/** The offset of the deepest node of `path` that exists. */
function offsetOf(contents: Node | null, path: readonly string[], part: 'key' | 'value'): number {
  let node: unknown = contents
  let offset = contents?.range?.[0] ?? 0
  for (const [depth, step] of path.entries()) {
    const isLast = depth === path.length - 1
    let next: unknown
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === step)
      const wanted = isLast && part === 'key' ? pair?.key : (pair?.value ?? pair?.key)
      next = wanted
    } else if (isSeq(node)) next = node.items[Number(step)]
    const start = (next as Node | undefined)?.range?.[0]
    if (start === undefined) return offset
    offset = start
    node = next
  }
  return offset
}
