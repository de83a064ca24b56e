/**
 * JSON with the place of everything in it, and with the complaints of Go's encoding/json, in its words and at its places.
 *
 * Works on bytes, because Go counts bytes; without recursion, because 10000 levels are allowed. A key that comes twice is
 * in the tree twice: what that means is for the reader of the tree.
 *
 * Source: Go `src/encoding/json/scanner.go`.
 */
import { goCharacter } from './go-text.ts'

export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonBoolean | JsonNull

interface Placed {
  /** Offset of the first byte. */
  readonly start: number
  /** Offset behind the last byte. */
  readonly end: number
}

export interface JsonObject extends Placed {
  readonly kind: 'object'
  readonly members: readonly JsonMember[]
}

export interface JsonMember {
  readonly key: string
  readonly keyStart: number
  readonly value: JsonNode
}

export interface JsonArray extends Placed {
  readonly kind: 'array'
  readonly items: readonly JsonNode[]
}

interface JsonString extends Placed {
  readonly kind: 'string'
  readonly text: string
}

interface JsonNumber extends Placed {
  readonly kind: 'number'
  /** As it is written. */
  readonly text: string
}

interface JsonBoolean extends Placed {
  readonly kind: 'bool'
  readonly isTrue: boolean
}

interface JsonNull extends Placed {
  readonly kind: 'null'
}

export interface JsonFault {
  readonly message: string
  /** How many bytes had been read. */
  readonly offset: number
}

export type JsonDocument = { readonly root: JsonNode } | { readonly fault: JsonFault }

export function readJson(bytes: Uint8Array): JsonDocument {
  return new JsonReader(bytes).read()
}

const maxDepth = 10_000

/** What Go takes the end of the text for. */
const blank = 0x20
const quote = 0x22
const backslash = 0x5c

type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface OpenObject extends Writable<JsonObject> {
  members: JsonMember[]
  key: { readonly text: string; readonly start: number }
}

interface OpenArray extends Writable<JsonArray> {
  items: JsonNode[]
}

type State = 'value' | 'first item' | 'first key' | 'key' | 'colon' | 'after value'

class JsonReader {
  readonly #bytes: Uint8Array
  readonly #buffer: Buffer
  readonly #open: (OpenObject | OpenArray)[] = []
  #at = 0
  #root: JsonNode | undefined
  #fault: JsonFault | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  read(): JsonDocument {
    let state: State = 'value'
    while (this.#fault === undefined) {
      this.#skipSpace()
      if (this.#at >= this.#bytes.length) {
        if (this.#root && this.#open.length === 0) return { root: this.#root }
        this.#fault = { message: 'unexpected end of JSON input', offset: this.#bytes.length }
        break
      }
      state = this.#step(state)
    }
    return { fault: this.#fault }
  }

  #step(state: State): State {
    const byte = this.#byte()
    switch (state) {
      case 'first item':
        if (byte === 0x5d) return this.#close()
        return this.#value(byte)
      case 'value':
        return this.#value(byte)
      case 'first key':
        if (byte === 0x7d) return this.#close()
        return this.#key(byte)
      case 'key':
        return this.#key(byte)
      case 'colon':
        if (byte !== 0x3a) return this.#refuse('after object key')
        this.#at += 1
        return 'value'
      case 'after value':
        return this.#afterValue(byte)
    }
  }

  #value(byte: number): State {
    const start = this.#at
    switch (byte) {
      case 0x7b:
        return this.#begin({ kind: 'object', start, end: start, members: [], key: { text: '', start } }, 'first key')
      case 0x5b:
        return this.#begin({ kind: 'array', start, end: start, items: [] }, 'first item')
      case quote: {
        const text = this.#string()
        return text === undefined ? 'value' : this.#add({ kind: 'string', start, end: this.#at, text })
      }
      case 0x74:
        return this.#word('true') ? this.#add({ kind: 'bool', start, end: this.#at, isTrue: true }) : 'value'
      case 0x66:
        return this.#word('false') ? this.#add({ kind: 'bool', start, end: this.#at, isTrue: false }) : 'value'
      case 0x6e:
        return this.#word('null') ? this.#add({ kind: 'null', start, end: this.#at }) : 'value'
    }
    if (byte !== 0x2d && !isDigit(byte)) return this.#refuse('looking for beginning of value')
    const text = this.#number()
    return text === undefined ? 'value' : this.#add({ kind: 'number', start, end: this.#at, text })
  }

  #key(byte: number): State {
    if (byte !== quote) return this.#refuse('looking for beginning of object key string')
    const start = this.#at
    const text = this.#string()
    const within = this.#open.at(-1)
    if (text !== undefined && within?.kind === 'object') within.key = { text, start }
    return 'colon'
  }

  #afterValue(byte: number): State {
    const within = this.#open.at(-1)
    if (!within) return this.#refuse('after top-level value')
    const isObject = within.kind === 'object'
    if (byte === (isObject ? 0x7d : 0x5d)) return this.#close()
    if (byte !== 0x2c) return this.#refuse(isObject ? 'after object key:value pair' : 'after array element')
    this.#at += 1
    return isObject ? 'key' : 'value'
  }

  #begin(node: OpenObject | OpenArray, next: State): State {
    if (this.#open.length >= maxDepth) return this.#refuse('exceeded max depth')
    this.#at += 1
    this.#open.push(node)
    return next
  }

  #close(): State {
    this.#at += 1
    const node = this.#open.pop()
    if (!node) return 'after value'
    node.end = this.#at
    return this.#add(node)
  }

  #add(node: JsonNode): State {
    const within = this.#open.at(-1)
    if (within?.kind === 'array') within.items.push(node)
    else if (within) within.members.push({ key: within.key.text, keyStart: within.key.start, value: node })
    else this.#root = node
    return 'after value'
  }

  /** The text of the string that begins here; undefined after a fault. */
  #string(): string | undefined {
    const start = this.#at
    const bytes = this.#bytes
    let isAscii = true
    let isEscaped = false
    let at = start + 1
    for (let byte = bytes[at]; byte !== quote; byte = bytes[at]) {
      if (byte === undefined) {
        this.#fault = { message: 'unexpected end of JSON input', offset: bytes.length }
        return undefined
      }
      if (byte >= 0x20 && byte !== backslash) {
        if (byte >= 0x80) isAscii = false
        at += 1
        continue
      }
      this.#at = at
      if (byte !== backslash) return this.#refused('in string literal')
      if (!this.#escape()) return undefined
      isEscaped = true
      at = this.#at
    }
    this.#at = at + 1
    if (!isEscaped) return this.#buffer.toString(isAscii ? 'latin1' : 'utf8', start + 1, at)
    return (JSON.parse(this.#buffer.toString('utf8', start, at + 1)) as string).toWellFormed()
  }

  /** Steps over an escape sequence. */
  #escape(): boolean {
    this.#at += 1
    const byte = this.#byte()
    if (byte !== 0x75) {
      if (!escapes.has(byte)) return this.#refused('in string escape code') !== undefined
      this.#at += 1
      return true
    }
    for (let digits = 0; digits < 4; digits += 1) {
      this.#at += 1
      if (!isHexDigit(this.#byte())) return this.#refused('in \\u hexadecimal character escape') !== undefined
    }
    this.#at += 1
    return true
  }

  #number(): string | undefined {
    const start = this.#at
    if (this.#byte() === 0x2d) this.#at += 1
    if (!isDigit(this.#byte())) return this.#refused('in numeric literal')
    if (this.#byte() === 0x30) this.#at += 1
    else this.#digits()
    if (this.#byte() === 0x2e) {
      this.#at += 1
      if (!isDigit(this.#byte())) return this.#refused('after decimal point in numeric literal')
      this.#digits()
    }
    if (this.#byte() === 0x65 || this.#byte() === 0x45) {
      this.#at += 1
      if (this.#byte() === 0x2b || this.#byte() === 0x2d) this.#at += 1
      if (!isDigit(this.#byte())) return this.#refused('in exponent of numeric literal')
      this.#digits()
    }
    return this.#buffer.toString('latin1', start, this.#at)
  }

  #digits(): void {
    while (isDigit(this.#byte())) this.#at += 1
  }

  #word(word: string): boolean {
    for (const letter of word) {
      if (this.#byte() !== letter.charCodeAt(0))
        return this.#refused(`in literal ${word} (expecting '${letter}')`) !== undefined
      this.#at += 1
    }
    return true
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte !== blank && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
      this.#at += 1
    }
  }

  #byte(): number {
    return this.#bytes[this.#at] ?? blank
  }

  #refuse(where: string): State {
    this.#refused(where)
    return 'value'
  }

  #refused(where: string): undefined {
    this.#fault ??= {
      message: `invalid character ${goCharacter(this.#byte())} ${where}`,
      offset: Math.min(this.#at + 1, this.#bytes.length),
    }
    return undefined
  }
}

/** `"\/bfnrt` */
const escapes: ReadonlySet<number> = new Set([quote, backslash, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46)
}
