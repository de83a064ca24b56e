/**
 * What stands before the data of a data URL: `data:[TYPE/SUBTYPE][;NAME=VALUE]…[;base64],`.
 *
 * The states and the words are those of the lexer that Ignition uses, with its gaps: a type has to begin with one that
 * RFC 2045 knows, and behind an `x` any character passes.
 *
 * Source: github.com/vincent-petithory/dataurl `lex.go`, `dataurl.go`.
 */
export type DataUrlHead = { readonly fault: string } | { readonly dataStart: number; readonly isBase64: boolean }

export function readDataUrlHead(source: string): DataUrlHead {
  if (!source.startsWith('data:')) return { fault: 'missing data prefix' }
  return new HeadReader(source).read()
}

/** Why text is not percent-encoded well; undefined where it is. */
export function percentFault(text: string): string | undefined {
  const broken = /%(?![0-9A-Fa-f]{2})/.exec(text)
  if (!broken) return undefined
  const isCut = /^%[0-9A-Fa-f]?$/.test(text.slice(broken.index, broken.index + 3))
  return isCut ? 'rfc2396: unexpected end of unescape sequence' : 'rfc2396: invalid char 0x25 in unescape sequence'
}

const token = /[!#$%&'*+.0-9A-Z^_`a-z{|}~-]/
const knownTypes = /^(?:text|image|audio|video|application|message|multipart)/

class HeadReader {
  readonly #source: string
  #at = 'data:'.length
  /** The lexer's parser forgets about a quote only at the next value that is not empty. */
  #isQuoted = false

  constructor(source: string) {
    this.#source = source
  }

  read(): DataUrlHead {
    const first = this.#next()
    if (first === undefined) return missingComma
    if (first !== ';' && first !== ',') {
      const fault = isToken(first) ? this.#mediaType(first) : 'invalid character after data prefix'
      if (fault !== undefined) return { fault }
    }
    for (;;) {
      const separator = this.#next()
      if (separator === undefined) return missingComma
      this.#at += 1
      if (separator === ',') return { dataStart: this.#at, isBase64: false }
      if (separator !== ';') return { fault: 'expected semicolon or comma' }
      const end = this.#parameter()
      if (end !== undefined) return end
    }
  }

  #next(): string | undefined {
    return this.#source[this.#at]
  }

  #mediaType(first: string): string | undefined {
    const start = this.#at
    this.#at += 1
    const isExtension = first === 'x' || first === 'X'
    // Not `#next() === '-'` alone: whatever stands behind an x is taken.
    const isOwn = isExtension && this.#next() === '-'
    if (isExtension) this.#at += this.#characterLength()
    this.#skipTokens()
    if (this.#next() === undefined) return 'missing media type slash'
    if (this.#next() !== '/') return 'invalid character for media type'
    if (!isOwn && !knownTypes.test(this.#source.slice(start, this.#at))) return 'invalid media type'
    this.#at += 1
    this.#skipTokens()
    const next = this.#next()
    if (next === undefined) return 'incomplete media type'
    return next === ';' || next === ',' ? undefined : 'invalid character for media subtype'
  }

  /** undefined where another parameter or the data may follow. */
  #parameter(): DataUrlHead | undefined {
    const start = this.#at
    this.#skipTokens()
    const next = this.#next()
    const isEmpty = this.#at === start
    if (next === undefined || (isEmpty && (next === '=' || next === ',')))
      return { fault: 'unterminated parameter sequence' }
    if (next !== '=' && next !== ',') return { fault: 'invalid character for parameter attribute' }
    const name = this.#source.slice(start, this.#at)
    this.#at += 1
    if (next === '=') return this.#parameterValue()
    if (name !== 'base64') return { fault: `expected base64, got ${name}` }
    return { dataStart: this.#at, isBase64: true }
  }

  #parameterValue(): DataUrlHead | undefined {
    const first = this.#next()
    if (first === undefined) return missingComma
    if (first === '"') return this.#quotedValue()
    if (!isToken(first)) return { fault: 'invalid character for parameter value' }
    const start = this.#at
    this.#skipTokens()
    const next = this.#next()
    if (next === undefined) return missingComma
    if (next !== ';' && next !== ',') return { fault: 'invalid character for parameter value' }
    return this.#valueFault(this.#source.slice(start, this.#at))
  }

  #quotedValue(): DataUrlHead | undefined {
    this.#isQuoted = true
    this.#at += 1
    const start = this.#at
    for (let next = this.#next(); next !== '"'; next = this.#next()) {
      if (next === undefined) return { fault: 'unclosed quoted string' }
      if (next > '\x7f') return { fault: 'invalid character for parameter value' }
      this.#at += 1
      if (next !== '\\') continue
      const escaped = this.#next()
      if (escaped === undefined) return { fault: 'unclosed quoted string' }
      if (escaped > '\x7f') return { fault: 'invalid escaped character' }
      this.#at += 1
    }
    const value = this.#source.slice(start, this.#at)
    this.#at += 1
    return value === '' ? undefined : this.#valueFault(value)
  }

  #valueFault(value: string): DataUrlHead | undefined {
    const fault = this.#isQuoted ? quotedFault(value) : percentFault(value)
    this.#isQuoted = false
    return fault === undefined ? undefined : { fault }
  }

  #skipTokens(): void {
    while (isToken(this.#next() ?? '')) this.#at += 1
  }

  #characterLength(): number {
    const code = this.#source.codePointAt(this.#at)
    if (code === undefined) return 0
    return code > 0xffff ? 2 : 1
  }
}

const missingComma = { fault: 'missing comma before data' } as const

function isToken(character: string): boolean {
  return character !== '' && token.test(character)
}

const escapeSequence =
  /\\(?:[abfnrtv\\"]|x[0-9A-Fa-f]{2}|[0-3][0-7]{2}|u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}|U(?!0000[Dd][89A-Fa-f])00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})/g

/** What Go would not take between quotes (`src/strconv/quote.go:Unquote`). */
function quotedFault(value: string): string | undefined {
  return /["\\\n]/.test(value.replace(escapeSequence, '')) ? 'invalid syntax' : undefined
}
