/**
 * YAML files as people write them: strict, with every complaint at its line and column.
 */
import { readFile } from 'node:fs/promises'
import { Document, isNode, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'
import type * as z from 'zod'
import { type Finding, finding } from '../errors/finding.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { type Respelling, readAsGo } from './go-reading.ts'
import { configError, InvalidConfiguration, type Place } from './invalid-config.ts'
import { schemaFindings } from './schema-findings.ts'
import type { ValuePath } from './yaml-nodes.ts'
import { formatPath, offsetOf } from './yaml-place.ts'
import { isEmpty, syntaxFindings } from './yaml-syntax.ts'

/** @throws KnownError FILE_UNREADABLE */
export async function readTextFile(path: string): Promise<string> {
  return (await readBytesFile(path)).toString('utf8')
}

/** @throws KnownError FILE_UNREADABLE */
export async function readBytesFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
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

/** One YAML document, parsed, that still knows where everything stands. */
export interface YamlFile {
  readonly source: YamlSource
  readonly document: Document
  readonly contents: Node | null
  /** The place of the value, or of the key, at `path`; where there is none, of what stands around it. */
  readonly placeOf: (path: ValuePath, part?: 'key' | 'value') => Place
  /** The place of a node, for one that may be moved or taken out. */
  readonly placeOfNode: (node: unknown) => Place
}

/**
 * @throws KnownError CONFIG_INVALID where the text is no YAML, or holds several documents: oc-mirror reads the first of
 * them and says nothing about the others
 */
export function openYaml(source: YamlSource): YamlFile {
  const lines = new LineCounter()
  const options = { lineCounter: lines, uniqueKeys: true, merge: true, prettyErrors: false, logLevel: 'error' } as const
  const documents: readonly Document[] = [...parseAllDocuments(source.text, options)]
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { file: source.file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const findings = syntaxFindings(documents, { text: source.text, position })
  if (findings.length > 0) throw new InvalidConfiguration(findings)
  const document = documents.find((candidate) => !isEmpty(candidate)) ?? documents[0] ?? new Document()
  const contents = (document.contents ?? null) as Node | null
  return {
    source,
    document,
    contents,
    placeOf: (path, part = 'value') => position(offsetOf(contents, path, part)),
    placeOfNode: (node) => position(isNode(node) ? (node.range?.[0] ?? 0) : 0),
  }
}

interface ValidateOptions {
  /** What to write instead of a field that the format does not have, or has no longer. */
  readonly fieldAdvice?: Readonly<Record<string, string>>
  /** True for a format that only Sallyport reads: nothing is then said of oc-mirror. */
  readonly isOwn?: boolean
}

export interface Validated<Value> {
  readonly value: Value
  /** What was understood, but should be written in another way. */
  readonly findings: readonly Finding[]
}

/** @throws KnownError CONFIG_INVALID whose message lists every finding, each with file, line and column */
export function validateYaml<Schema extends z.ZodType>(
  file: YamlFile,
  schema: Schema,
  { fieldAdvice = {}, isOwn = false }: ValidateOptions = {},
): Validated<z.output<Schema>> {
  const { value, respelt, doubled } = readAsGo(toPlain(file) ?? {}, schema)
  const twice = doubled.map(({ path, field }) =>
    configError(
      'config.duplicate-field',
      `${formatPath(path)}: "${field}" stands twice in the same mapping, in two spellings; keep one`,
      file.placeOf(path, 'key'),
    ),
  )
  const result = schema.safeParse(value, { reportInput: true })
  const issues = result.success ? [] : result.error.issues
  const findings = [...twice, ...schemaFindings(issues, { file, schema, fieldAdvice })]
  if (findings.length > 0 || !result.success) throw new InvalidConfiguration(findings)
  return { value: result.data, findings: respelt.map((field) => respellingFinding(field, file, isOwn)) }
}

/** @throws KnownError CONFIG_INVALID whose message lists every finding, each with file, line and column */
export function parseYaml<Schema extends z.ZodType>(source: YamlSource, schema: Schema): z.output<Schema> {
  return validateYaml(openYaml(source), schema).value
}

function respellingFinding({ path, field }: Respelling, file: YamlFile, isOwn: boolean): Finding {
  return finding({
    id: 'config.field-case',
    severity: 'warning',
    summary: `${formatPath(path)}: read as "${field}"${isOwn ? '' : ', as oc-mirror does'}; write it so`,
    where: file.placeOf(path, 'key'),
  })
}

/** An alias of nothing, of what holds it, or that would unfold without end comes to light only here. */
function toPlain({ document, placeOf, placeOfNode }: YamlFile): unknown {
  visit(document, {
    Alias: (_, alias, ancestors) => {
      if (!ancestors.some((node) => node === alias.resolve(document))) return
      const summary = `the alias *${alias.source} stands within what it names, so it has no end; write out what is meant`
      throw new InvalidConfiguration([configError('config.yaml', summary, placeOfNode(alias))])
    },
  })
  try {
    return document.toJS()
  } catch (error) {
    // The parser has no type of its own for what it finds wrong here.
    if (!(error instanceof Error)) throw error
    throw new InvalidConfiguration([configError('config.yaml', error.message, placeOf([]))])
  }
}
