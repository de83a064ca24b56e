/**
 * JSON that decides about trust, read without any leniency: a key that stands twice, or that nobody knows, is an error
 * at its line, because a misspelt rule must never pass for no rule.
 *
 * Source: containers/image `signature/internal/json.go:ParanoidUnmarshalJSONObject`.
 */

/** What is wrong, and where; callers say in which file. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
  /** From 1. */
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

export type JsonNode = { readonly line: number } & (
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, JsonNode> }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'true' | 'false' | 'null' }
)
export type JsonObject = Extract<JsonNode, { kind: 'object' }>

/** Deeper nesting has no use here, and would exhaust the stack. */
const maxDepth = 64

/** @throws JsonFault */
export function parseStrictJson(text: string): JsonNode {
  const reader = new JsonReader(text)
  const node = reader.value(0)
  reader.end()
  return node
}

/**
 * The fields of an object that may have `known` keys and no others.
 *
 * @param what names the object in messages: `the policy`
 * @throws JsonFault
 */
export function exactFields(node: JsonNode, what: string, known: readonly string[]): JsonObject['fields'] {
  if (node.kind !== 'object') throw new JsonFault(`${what} must be an object, not ${describe(node)}`, node.line)
  for (const [key, { line }] of node.fields) {
    if (known.includes(key)) continue
    throw new JsonFault(`${what} has an unknown field "${key}"; known are: ${known.join(', ')}`, line)
  }
  return node.fields
}

/** @throws JsonFault unless `node` is there and a string */
export function textOfNode(node: JsonNode | undefined, what: string, line: number): string {
  if (node === undefined) throw new JsonFault(`${what} is missing`, line)
  if (node.kind !== 'string') throw new JsonFault(`${what} must be a string, not ${describe(node)}`, node.line)
  return node.text
}

function describe({ kind }: JsonNode): string {
  return { object: 'an object', array: 'a list', string: 'a string', number: 'a number' }[kind as string] ?? kind
}

class JsonReader {
  readonly #text: string
  #at = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): JsonNode {
    if (depth > maxDepth) throw this.#fault(`nested more than ${maxDepth} deep`)
    const next = this.#peek()
    const line = this.#line
    if (next === '{') return { kind: 'object', line, fields: this.#fields(depth) }
    if (next === '[') return { kind: 'array', line, items: this.#items(depth) }
    if (next === '"') return { kind: 'string', line, text: this.#string() }
    for (const kind of ['true', 'false', 'null'] as const) {
      if (this.#take(kind)) return { kind, line }
    }
    const number = this.#match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
    if (number === undefined) throw this.#fault(next === '' ? 'it ends too early' : `"${next}" is not expected here`)
    return { kind: 'number', line, text: number }
  }

  end(): void {
    if (this.#peek() !== '') throw this.#fault('something follows its end')
  }

  #fields(depth: number): Map<string, JsonNode> {
    const fields = new Map<string, JsonNode>()
    this.#take('{')
    for (let isFirst = true; !this.#closes('}', isFirst); isFirst = false) {
      if (this.#peek() !== '"') throw this.#fault('a key in double quotes is expected')
      const key = this.#string()
      if (fields.has(key)) throw this.#fault(`the key "${key}" stands twice in one object`)
      this.#peek()
      if (!this.#take(':')) throw this.#fault(`a colon is expected after "${key}"`)
      fields.set(key, this.value(depth + 1))
    }
    return fields
  }

  #items(depth: number): JsonNode[] {
    const items: JsonNode[] = []
    this.#take('[')
    for (let isFirst = true; !this.#closes(']', isFirst); isFirst = false) items.push(this.value(depth + 1))
    return items
  }

  /** True at the end of an object or list; else it is past the comma. */
  #closes(bracket: string, isFirst: boolean): boolean {
    this.#peek()
    if (this.#take(bracket)) return true
    if (isFirst) return false
    if (!this.#take(',')) throw this.#fault(`a comma or ${bracket} is expected`)
    return false
  }

  #string(): string {
    const quoted = this.#match(/"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"/y)
    // Control characters: RFC 8259, 7.
    if (quoted === undefined || [...quoted].some((character) => character < ' '))
      throw this.#fault('a string does not end, or holds what JSON forbids')
    return JSON.parse(quoted) as string
  }

  /** The next character that is no white space, empty at the end. */
  #peek(): string {
    for (;;) {
      const next = this.#text.charAt(this.#at)
      if (next === '' || !' \t\r\n'.includes(next)) return next
      if (next === '\n') this.#line += 1
      this.#at += 1
    }
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [match] = pattern.exec(this.#text) ?? []
    this.#at += match?.length ?? 0
    return match
  }

  #fault(message: string): JsonFault {
    return new JsonFault(message, this.#line)
  }
}
