/**
 * The YAML that registry files are written in: block mappings and lists, scalars on one line, blocks of text.
 *
 * A registry has thousands of files, and a parser for all of YAML takes most of the time that loading them takes. This one
 * gives up at the first thing that it is not certain about: what it reads, the other reads the same (a property test).
 */
import { resolvePlain } from './go-scalar.ts'

/** undefined: not simple, or not YAML; ask the whole parser. */
export function readSimpleYaml(text: string): { readonly value: unknown } | undefined {
  if (uncertainText.test(text)) return undefined
  const lines = new Lines(text)
  try {
    if (text.startsWith('---\n')) lines.next()
    const first = lines.significant()
    if (first === undefined || first.indent !== 0) return undefined
    const value = readBlock(lines, 0)
    return lines.significant() === undefined ? { value } : undefined
  } catch (error) {
    if (error === notSimple) return undefined
    throw error
  }
}

/** Tabs, other line breaks and spaces, control characters; the end of a document, or the begin of another. */
const uncertainText =
  /[^\n\x20-\x7e\xa1-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff\u3001-\ud7ff\ue000-\ufefe\uff00-\ufffc]|\n---|(?:^|\n)\.\.\./

const notSimple = Symbol('not simple')

interface Line {
  /** Spaces before the content; of the item of a list, where its content begins. */
  readonly indent: number
  readonly content: string
}

class Lines {
  readonly #raw: readonly string[]
  readonly #hasLastBreak: boolean
  #at = 0
  /** What is left of a line after `- `. */
  #rest: Line | undefined

  constructor(text: string) {
    this.#hasLastBreak = text.endsWith('\n')
    const raw = text.split('\n')
    this.#raw = this.#hasLastBreak ? raw.slice(0, -1) : raw
  }

  /** The line to read next, behind blank lines and comments. */
  significant(): Line | undefined {
    if (this.#rest) return this.#rest
    for (; this.#at < this.#raw.length; this.#at += 1) {
      const raw = this.#raw[this.#at] ?? ''
      const content = raw.trim()
      if (content !== '' && !content.startsWith('#')) return { indent: raw.length - raw.trimStart().length, content }
    }
    return undefined
  }

  next(): void {
    this.#rest = undefined
    this.#at += 1
  }

  /** The next line is what stands behind the mark of an item. */
  enterItem(rest: Line): void {
    this.#rest = rest
  }

  /** A block below a line of this indent. `-` in its mark takes the last line break away. */
  block(parentIndent: number, mark: string): string {
    const start = this.#at
    const first = this.#raw.slice(start).find((raw) => raw.trim() !== '') ?? ''
    const indent = first.length - first.trimStart().length
    if (indent <= parentIndent) throw notSimple
    const kept: string[] = []
    for (; this.#at < this.#raw.length; this.#at += 1) {
      const raw = this.#raw[this.#at] ?? ''
      const isBlank = raw.trim() === ''
      if (isBlank && raw.length > indent) throw notSimple
      if (!isBlank && raw.length - raw.trimStart().length < indent) break
      kept.push(raw.slice(indent))
    }
    while (kept.at(-1) === '') kept.pop()
    const hasBreak = !mark.endsWith('-') && (this.#hasLastBreak || start + kept.length < this.#raw.length)
    return `${mark.startsWith('|') ? kept.join('\n') : fold(kept)}${hasBreak ? '\n' : ''}`
  }
}

/** Neighbours become one line; between them as many breaks as there are blank lines. */
function fold(lines: readonly string[]): string {
  // Lines that are set in are kept as they are, with the breaks around them.
  if (lines[0] === '' || lines.some((line) => line.startsWith(' '))) throw notSimple
  const joined = lines.map((line, index) => (line === '' ? '\n' : lines[index + 1] ? `${line} ` : line))
  return joined.join('')
}

const blockMarks = new Set(['|', '|-', '>', '>-'])

function readBlock(lines: Lines, indent: number): unknown {
  const line = lines.significant()
  return line && isItem(line.content) ? readList(lines, indent) : readMapping(lines, indent)
}

function isItem(content: string): boolean {
  return content === '-' || content.startsWith('- ')
}

function readList(lines: Lines, indent: number): unknown[] {
  const items: unknown[] = []
  for (
    let line = lines.significant();
    line && line.indent === indent && isItem(line.content);
    line = lines.significant()
  ) {
    const rest = line.content.slice(1).trimStart()
    const inner = indent + line.content.length - rest.length
    if (isItem(rest)) throw notSimple
    if (keyPattern.test(rest)) {
      lines.enterItem({ indent: inner, content: rest })
      items.push(readMapping(lines, inner))
    } else {
      items.push(readValue(lines, rest, { indent, canBeList: false }))
    }
  }
  if ((lines.significant()?.indent ?? 0) > indent) throw notSimple
  return items
}

/** Words that are no text for YAML are no keys for us either. */
const keyPattern = /^([A-Za-z_][A-Za-z0-9_./-]*):(?: +|$)/
const uncertainKey = /^(?:[yYnN]|yes|no|true|false|on|off|null|__proto__)$/i

function readMapping(lines: Lines, indent: number): Record<string, unknown> {
  const mapping: Record<string, unknown> = {}
  for (let line = lines.significant(); line && line.indent === indent; line = lines.significant()) {
    const [head = '', key = ''] = keyPattern.exec(line.content) ?? []
    // In a list that stands at the indent of its key, the next item ends the mapping.
    if (key === '' || uncertainKey.test(key) || Object.hasOwn(mapping, key)) throw notSimple
    mapping[key] = readValue(lines, line.content.slice(head.length), { indent, canBeList: true })
    const after = lines.significant()
    if (after && after.indent === indent && isItem(after.content)) break
  }
  if ((lines.significant()?.indent ?? 0) > indent) throw notSimple
  return mapping
}

interface Owner {
  readonly indent: number
  /** True behind a key: a list may stand at the same indent. */
  readonly canBeList: boolean
}

/** What stands behind a key or the mark of an item, and the lines that belong to it. */
function readValue(lines: Lines, text: string, { indent, canBeList }: Owner): unknown {
  lines.next()
  if (blockMarks.has(text)) return lines.block(indent, text)
  const below = lines.significant()
  if (text === '' || text.startsWith('#')) {
    if (below === undefined) return null
    if (below.indent > indent) return readBlock(lines, below.indent)
    return canBeList && below.indent === indent && isItem(below.content) ? readList(lines, indent) : null
  }
  // A scalar that goes on in the next line.
  if (below && below.indent > indent) throw notSimple
  return readScalar(text)
}

const plainPattern = /^[A-Za-z0-9_./$(~+<=;^\\-]/
const quotedPattern = /^(?:"([^"\\]*)"|'([^']*)')(?: +#.*)?$/

function readScalar(text: string): unknown {
  const quoted = quotedPattern.exec(text)
  if (quoted) return quoted[1] ?? quoted[2] ?? ''
  if (text === '[]') return []
  if (text === '{}') return {}
  const comment = text.indexOf(' #')
  const plain = comment < 0 ? text : text.slice(0, comment).trimEnd()
  const isCertain = plainPattern.test(plain) && !plain.includes(': ') && !plain.endsWith(':') && !isItem(plain)
  if (!isCertain) throw notSimple
  return resolvePlain(plain)
}
