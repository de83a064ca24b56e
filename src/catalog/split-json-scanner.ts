/**
 * Finds the end of one JSON object, byte by byte and over as many pieces as it comes in (RFC 8259), or the byte that is wrong.
 *
 * It knows the whole grammar: a brace that is missing is told where it is missing, not at the end of the file.
 */

type State = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next' | 'string' | 'escape' | 'hex' | 'scalar'

/** From the first byte of a text to the one behind its last. */
export type Span = readonly [from: number, to: number]

export class JsonFault extends Error {
  /** Of the wrong byte, from the beginning of the object. */
  readonly at: number

  constructor(why: string, at: number) {
    super(why)
    this.at = at
  }
}

const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const maxScalarLength = 1000
const maxDepth = 10_000
const escapes = new Set(Buffer.from('"\\/bfnrtu'))
const [quote, backslash, lowerU] = [0x22, 0x5c, 0x75]

export class JsonScanner {
  readonly #longStringBytes: number
  #state: State = 'value'
  /** Of what is open: true for an object, false for an array. */
  readonly #open: boolean[] = []
  #isKey = false
  #stringStart = 0
  #isCut = false
  #hexDigits = 0
  #scalar = ''
  #long: Span[] = []

  /** @param longStringBytes strings longer than this are remembered */
  constructor(longStringBytes: number) {
    this.#longStringBytes = longStringBytes
  }

  /**
   * @param bytes from the beginning of the object on; those before `from` were scanned before
   * @returns where the object ends, or undefined where it goes on behind these bytes
   * @throws JsonFault
   */
  scan(bytes: Uint8Array, from: number): number | undefined {
    for (let at = from; at < bytes.length; ) {
      switch (this.#state) {
        case 'string':
          at = this.#scanString(bytes, at)
          break
        case 'escape':
        case 'hex':
          this.#scanEscape(bytes[at] ?? 0, at)
          at += 1
          break
        case 'scalar':
          at = this.#scanScalar(bytes, at)
          break
        default:
          this.#scanStructure(bytes[at] ?? 0, at)
          at += 1
          if (this.#open.length === 0) return at
      }
    }
    return undefined
  }

  /**
   * The contents of the long strings since it was asked for last, in order. Whoever asks takes them out of the bytes; of a
   * string that is still open, what comes is long as well.
   *
   * @param end how many bytes were scanned
   */
  takeLongStrings(end: number): readonly Span[] {
    const isOpen = this.#state === 'string' || this.#state === 'escape' || this.#state === 'hex'
    if (isOpen && (this.#isCut || end - this.#stringStart > this.#longStringBytes)) {
      this.#long.push([this.#stringStart, end])
      this.#isCut = true
    }
    const taken = this.#long
    this.#long = []
    if (isOpen)
      this.#stringStart -= taken.reduce((sum, [from, to]) => sum + (from < this.#stringStart ? to - from : 0), 0)
    return taken
  }

  #scanString(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte > backslash || (byte > quote && byte !== backslash)) continue
      if (byte === quote) {
        this.#endString(at)
        return at + 1
      }
      if (byte === backslash) {
        this.#state = 'escape'
        return at + 1
      }
      if (byte < 0x20) throw new JsonFault('a string goes over the end of its line', at)
    }
    return bytes.length
  }

  #endString(at: number): void {
    if (this.#isCut || at - this.#stringStart > this.#longStringBytes) this.#long.push([this.#stringStart, at])
    this.#isCut = false
    this.#state = this.#isKey ? 'colon' : 'next'
  }

  #scanEscape(byte: number, at: number): void {
    if (this.#state === 'escape') {
      if (!escapes.has(byte)) throw new JsonFault(`"\\${String.fromCharCode(byte)}" in a string means nothing`, at)
      this.#hexDigits = 4
      this.#state = byte === lowerU ? 'hex' : 'string'
      return
    }
    if (!/[0-9a-fA-F]/.test(String.fromCharCode(byte))) throw new JsonFault('"\\u" without four hex digits', at)
    this.#hexDigits -= 1
    if (this.#hexDigits === 0) this.#state = 'string'
  }

  #scanScalar(bytes: Uint8Array, from: number): number {
    let at = from
    for (; at < bytes.length; at += 1) {
      const letter = String.fromCharCode(bytes[at] ?? 0)
      if (!/[\w+.-]/.test(letter)) break
      this.#scalar += letter
      if (this.#scalar.length > maxScalarLength) throw new JsonFault('a number without an end', at)
    }
    if (at === bytes.length) return at
    if (!scalar.test(this.#scalar)) throw new JsonFault(`"${this.#scalar.slice(0, 40)}" is no value`, at)
    this.#state = 'next'
    return at
  }

  #scanStructure(byte: number, at: number): void {
    const letter = String.fromCharCode(byte)
    switch (letter) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        return
      case '"':
        this.#isKey = this.#expect(['key', 'first key', 'value', 'first value'], letter, at).endsWith('key')
        this.#stringStart = at + 1
        this.#state = 'string'
        return
      case '{':
      case '[':
        this.#expect(['value', 'first value'], letter, at)
        if (this.#open.length === maxDepth) throw new JsonFault(`more than ${maxDepth} levels`, at)
        this.#open.push(letter === '{')
        this.#state = letter === '{' ? 'first key' : 'first value'
        return
      case '}':
      case ']':
        this.#close(letter, at)
        return
      case ':':
        this.#expect(['colon'], letter, at)
        this.#state = 'value'
        return
      case ',':
        this.#expect(['next'], letter, at)
        this.#state = this.#open.at(-1) ? 'key' : 'value'
        return
      default:
        this.#expect(['value', 'first value'], letter, at)
        if (!/[-\w]/.test(letter)) throw wrongByte(letter, 'value', at)
        this.#scalar = letter
        this.#state = 'scalar'
    }
  }

  #close(letter: string, at: number): void {
    const isObject = letter === '}'
    if (this.#open.at(-1) !== isObject) throw wrongByte(letter, this.#state, at)
    this.#expect(['next', isObject ? 'first key' : 'first value'], letter, at)
    this.#open.pop()
    this.#state = 'next'
  }

  #expect(states: readonly State[], letter: string, at: number): State {
    if (states.includes(this.#state)) return this.#state
    throw wrongByte(letter, this.#state, at)
  }
}

const expected: Readonly<Partial<Record<State, string>>> = {
  'first key': 'a key or }',
  'first value': 'a value or ]',
  key: 'a key',
  value: 'a value',
  colon: 'a colon',
  next: 'a comma or the end of what is open',
}

function wrongByte(letter: string, state: State, at: number): JsonFault {
  return new JsonFault(`${expected[state] ?? state} was expected, not ${JSON.stringify(letter)}`, at)
}
