/** What is wrong with a text before any schema is asked: no YAML, a template, several documents. */
import { type Document, isScalar, type YAMLParseError } from 'yaml'
import type { Finding } from '../errors/finding.ts'
import { configError, type Place } from './invalid-config.ts'

interface ReadText {
  readonly text: string
  readonly position: (offset: number) => Place
}

/** Findings about the form of the text; none where it holds one document, or nothing. */
export function syntaxFindings(documents: readonly Document[], read: ReadText): Finding[] {
  if (/[\0\uFFFD]/.test(read.text)) return [configError('config.yaml', 'this is no text file', read.position(0))]
  const errors = telling(documents.flatMap((document) => document.errors))
  if (errors.length > 0) return templateFindings(read) ?? errors.map((error) => syntaxFinding(error, read))
  const filled = documents.filter((document) => !isEmpty(document))
  const [, second] = filled
  if (second === undefined) return []
  const where = read.position(second.contents?.range?.[0] ?? 0)
  const summary = `here a second YAML document begins: the file holds ${filled.length}. Only one is read, and oc-mirror leaves out the others in silence; give each a file of its own`
  return [configError('config.several-documents', summary, where)]
}

/** Fields that stand twice, and the first other error: what follows it is mostly its consequence. */
function telling(errors: readonly YAMLParseError[]): YAMLParseError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  return errors.filter((error) => error === first || error.code === 'DUPLICATE_KEY')
}

/** True for what stands between two `---` with nothing in it. */
export function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null)
}

/** Jinja and Go templates; a quoted `{{` is valid YAML and comes to the schema as text. */
const templateMark = /\{%.*|\{\{.*/

function templateFindings({ text, position }: ReadText): Finding[] | undefined {
  const found = templateMark.exec(withoutComments(text))
  if (!found) return undefined
  const summary = `${quoted(found[0])} is the mark of a template, not YAML; render the template first, then name the file that comes out`
  return [configError('config.template', summary, position(found.index))]
}

/** Comments replaced by blanks of the same length, so that offsets stay true. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*#.*$/gm, (line) => ' '.repeat(line.length))
}

function syntaxFinding({ code, message, pos: [start, end] }: YAMLParseError, { text, position }: ReadText): Finding {
  const where = position(Math.min(start, Math.max(0, text.length - 1)))
  const shown = quoted(lineAt(text, start))
  if (code === 'DUPLICATE_KEY') {
    const key = /^[^\s:]+/.exec(text.slice(start, Math.max(end, start + 80)))?.[0] ?? ''
    const summary = `${quoted(key)} stands twice in the same mapping, but its fields must be unique; keep one of the two`
    return configError('config.duplicate-field', summary, where)
  }
  const reason = reasons[code] ?? message
  return configError('config.yaml', `not YAML at ${shown}: ${reason}`, where)
}

/** What the parser's own words leave open. */
const reasons: Partial<Record<YAMLParseError['code'], string>> = {
  BLOCK_AS_IMPLICIT_KEY:
    'it does not fit with its neighbours: the line above has a value already, or the indentation of this line or the next is off',
  TAB_AS_INDENT: 'it is indented with a tab; YAML wants spaces',
  BAD_SCALAR_START: 'a value cannot begin with this character; put the value in quotes, or write what is missing',
  BAD_INDENT: 'its indentation fits none of the lines above, or a bracket above is not closed',
  MISSING_CHAR: 'a closing quote or bracket, a colon or a comma is missing here or in the lines above',
}

/** The line at the offset; at the end of the text, the last one that is not empty. */
function lineAt(text: string, offset: number): string {
  const before = text.slice(0, text.indexOf('\n', offset) < 0 ? text.length : text.indexOf('\n', offset)).trimEnd()
  return before.slice(before.lastIndexOf('\n') + 1).trim()
}

function quoted(text: string): string {
  return `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`
}
