/**
 * JSON as it is written: all white space and every spelling of a string is kept, so that an edit changes nothing but what
 * it is about, and printing an unchanged tree gives the same bytes.
 */
import { KnownError } from '../../errors/known-error.ts'

export type JsonNode = JsonScalar | JsonContainer

export interface JsonScalar {
  readonly kind: 'scalar'
  readonly raw: string
}

export interface JsonContainer {
  readonly kind: 'object' | 'array'
  readonly entries: readonly JsonEntry[]
  /** What stands between the brackets of an empty one. */
  readonly blank: string
}

export interface JsonEntry {
  readonly before: string
  /** The key as it is written; empty in an array. */
  readonly rawKey: string
  /** The colon with the white space around it; empty in an array. */
  readonly colon: string
  readonly value: JsonNode
  readonly after: string
}

export interface JsonText {
  readonly lead: string
  readonly root: JsonNode
  readonly trail: string
}

/**
 * @param name names the text in errors
 * @throws KnownError IGNITION_INVALID where it is not JSON
 */
export function parseJsonText(text: string, name: string): JsonText {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  try {
    JSON.parse(mark === 0 ? text : text.slice(mark))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('IGNITION_INVALID', `${name}: not JSON: ${why}`, { details: { file: name }, cause })
  }
  const scanner = new Scanner(text, mark)
  const space = scanner.space()
  const root = scanner.value()
  return { lead: text.slice(0, mark) + space, root, trail: scanner.space() }
}

export function printJson({ lead, root, trail }: JsonText): string {
  return lead + printNode(root) + trail
}

export function printNode(node: JsonNode): string {
  const pieces: string[] = []
  collect(node, pieces)
  return pieces.join('')
}

/** What the node says, as `JSON.parse` reads it. */
export function plainValue(node: JsonNode): unknown {
  return JSON.parse(printNode(node))
}

/** The same document without any white space between its parts. */
export function minified(node: JsonNode): JsonNode {
  if (node.kind === 'scalar') return node
  const entries = node.entries.map(({ rawKey, value }) => ({
    before: '',
    rawKey,
    colon: rawKey === '' ? '' : ':',
    value: minified(value),
    after: '',
  }))
  return { kind: node.kind, entries, blank: '' }
}

function collect(node: JsonNode, pieces: string[]): void {
  if (node.kind === 'scalar') {
    pieces.push(node.raw)
    return
  }
  pieces.push(node.kind === 'object' ? '{' : '[')
  for (const [index, { before, rawKey, colon, value, after }] of node.entries.entries()) {
    pieces.push(index === 0 ? before : `,${before}`, rawKey, colon)
    collect(value, pieces)
    pieces.push(after)
  }
  if (node.entries.length === 0) pieces.push(node.blank)
  pieces.push(node.kind === 'object' ? '}' : ']')
}

/** Over a text that is known to be JSON. */
class Scanner {
  readonly #text: string
  #at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  space(): string {
    const from = this.#at
    while (' \n\r\t'.includes(this.#text.charAt(this.#at)) && this.#at < this.#text.length) this.#at += 1
    return this.#text.slice(from, this.#at)
  }

  value(): JsonNode {
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#container('object', '}')
      case '[':
        return this.#container('array', ']')
      case '"':
        return { kind: 'scalar', raw: this.#string() }
      default:
        return { kind: 'scalar', raw: this.#word() }
    }
  }

  #container(kind: JsonContainer['kind'], end: string): JsonContainer {
    this.#at += 1
    const entries: JsonEntry[] = []
    let before = this.space()
    if (this.#text.charAt(this.#at) === end) {
      this.#at += 1
      return { kind, entries, blank: before }
    }
    for (;;) {
      const [rawKey, colon] = kind === 'object' ? [this.#string(), this.#colon()] : ['', '']
      const value = this.value()
      entries.push({ before, rawKey, colon, value, after: this.space() })
      const isLast = this.#text.charAt(this.#at) === end
      this.#at += 1
      if (isLast) return { kind, entries, blank: '' }
      before = this.space()
    }
  }

  #colon(): string {
    const before = this.space()
    this.#at += 1
    return `${before}:${this.space()}`
  }

  #string(): string {
    const from = this.#at
    let end = this.#text.indexOf('"', from + 1)
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1)
    this.#at = end + 1
    return this.#text.slice(from, this.#at)
  }

  #isEscaped(quote: number): boolean {
    let slashes = 0
    while (this.#text.charAt(quote - 1 - slashes) === '\\') slashes += 1
    return slashes % 2 === 1
  }

  #word(): string {
    const from = this.#at
    const rest = /[\s,\]}]/g
    rest.lastIndex = from
    this.#at = rest.exec(this.#text)?.index ?? this.#text.length
    return this.#text.slice(from, this.#at)
  }
}
