import { beginsKey, lineSigns, redactAuthority, redactLine, urlSign } from './line-rules.ts'
import { PatternAutomaton } from './pattern-automaton.ts'
import type { ByteFilter } from './secret-filter.ts'

/** What is read: text without a sign, the authority of a URL, a line after a sign, one that is too long, lines of a key. */
type Mode = 'text' | 'url' | 'line' | 'long' | 'key'

/** Of a longer line only so much is judged; the rest is not shown. */
const maxLineBytes = 1024 * 1024

const automaton = new PatternAutomaton([...lineSigns, urlSign])
const lower = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))
const lineEnds = bytesOf('\n\r')
const urlEnds = bytesOf('\n\r\t /"\'')
const stars = Buffer.from('***')
const atSign = '@'.charCodeAt(0)

function bytesOf(text: string): Uint8Array {
  const is = new Uint8Array(256)
  for (const char of text) is[char.charCodeAt(0)] = 1
  return is
}

/**
 * Takes out what looks like a secret by the name beside it (`Authorization:`, `"auth": "…"`, userinfo of a URL, private keys).
 *
 * A line is held back only from the first such name on, up to `\n` or `\r`, or to the end of a URL's host: all other output,
 * lines of progress among it, goes on at once, and no clock is needed.
 */
export function createLineFilter(): ByteFilter {
  const stream = new LineStream()
  return { push: (chunk) => stream.push(chunk), end: () => stream.end() }
}

class LineStream {
  #mode: Mode = 'text'
  #state = 0
  /** What is held, from the sign on, and room behind it. */
  #store: Uint8Array = new Uint8Array(0)
  #heldBytes = 0
  /** Of the current chunk. */
  #parts: Uint8Array[] = []

  push(chunk: Uint8Array): Uint8Array {
    const heldBytes = this.#heldBytes
    const bytes = heldBytes === 0 ? chunk : this.#append(chunk)
    const rest = this.#read(bytes, heldBytes)
    const [first, ...more] = this.#parts
    // What is held is overwritten: it does not go out itself.
    const output = first && more.length === 0 && heldBytes === 0 ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#hold(bytes, rest)
    return output
  }

  end(): Uint8Array {
    const held = this.#store.subarray(0, this.#heldBytes)
    this.#heldBytes = 0
    return this.#judged(held)
  }

  /** @returns from where on the bytes are held */
  #read(bytes: Uint8Array, from: number): number {
    let held = 0
    let at = from
    while (at < bytes.length) {
      if (this.#mode === 'text') {
        at = this.#findSign(bytes, at)
        if (this.#mode === 'text') break
        const start = at - (automaton.matched[this.#state] as number)
        this.#parts.push(bytes.subarray(held, start))
        held = start
      } else {
        at = this.#findEnd(bytes, at)
        if (at === bytes.length) break
        if (this.#mode !== 'long') this.#parts.push(this.#judged(bytes.subarray(held, at)))
        held = at
        this.#next(bytes, at)
        // The end of a line of a key belongs to no line.
        if (this.#mode === 'key') {
          this.#parts.push(bytes.subarray(held, at + 1))
          held = at + 1
        }
        at += 1
      }
    }
    return this.#rest(bytes, held)
  }

  /** What goes out and what stays at the end of a chunk. */
  #rest(bytes: Uint8Array, held: number): number {
    if (this.#mode === 'text') {
      const until = bytes.length - (automaton.depth[this.#state] as number)
      this.#parts.push(bytes.subarray(held, until))
      return until
    }
    if (this.#mode === 'long') return bytes.length
    if (bytes.length - held < maxLineBytes) return held
    this.#parts.push(this.#judged(bytes.subarray(held)), stars)
    this.#mode = 'long'
    return bytes.length
  }

  #findSign(bytes: Uint8Array, from: number): number {
    const { rows, firstMatch, matched } = automaton
    let state = this.#state
    let at = from
    while (at < bytes.length) {
      state = rows[(state << 8) | (lower[bytes[at] as number] as number)] as number
      at += 1
      if (state >= firstMatch && matched[state] !== 0) {
        this.#mode = matched[state] === urlSign.length ? 'url' : 'line'
        break
      }
    }
    this.#state = state
    return at
  }

  #findEnd(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number
      if (this.#mode === 'url') {
        if (urlEnds[byte] === 1) return at
        this.#state = automaton.step(this.#state, lower[byte] as number)
        if ((automaton.matched[this.#state] as number) > urlSign.length) this.#mode = 'line'
      } else if (lineEnds[byte] === 1) return at
    }
    return bytes.length
  }

  /** What comes after what has just been judged, which ended before `at`. */
  #next(bytes: Uint8Array, at: number): void {
    if (this.#mode === 'line' && this.#isKey) this.#mode = 'key'
    else if (this.#mode !== 'key' || !this.#isKey) this.#mode = 'text'
    this.#state = this.#mode === 'text' ? automaton.step(0, lower[bytes[at] as number] as number) : 0
  }

  /** Whether lines of a key come after what has been judged last. */
  #isKey = false

  #judged(bytes: Uint8Array): Uint8Array {
    if (this.#mode === 'text' || this.#mode === 'long') return bytes
    if (this.#mode === 'url' && !bytes.includes(atSign)) return bytes
    const text = decoded(bytes)
    if (this.#mode === 'url') return encoded(bytes, text, redactAuthority(text.text))
    if (this.#mode === 'line') {
      this.#isKey = beginsKey(text.text)
      return encoded(bytes, text, redactLine(text.text))
    }
    this.#isKey = /^[\sA-Za-z0-9+/=:,-]*$/.test(text.text) && !text.text.includes('-----')
    return this.#isKey && text.text.trim() !== '' ? stars : bytes
  }

  #append(chunk: Uint8Array): Uint8Array {
    const length = this.#heldBytes + chunk.length
    this.#grow(length)
    this.#store.set(chunk, this.#heldBytes)
    this.#heldBytes = length
    return this.#store.subarray(0, length)
  }

  #hold(bytes: Uint8Array, from: number): void {
    const isThere = this.#heldBytes > 0 && from === 0
    this.#heldBytes = bytes.length - from
    if (isThere || this.#heldBytes === 0) return
    this.#grow(this.#heldBytes)
    this.#store.set(bytes.subarray(from), 0)
  }

  #grow(length: number): void {
    if (length <= this.#store.length) return
    const store = new Uint8Array(Math.max(1024, length * 2))
    store.set(this.#store)
    this.#store = store
  }
}

interface Decoded {
  readonly text: string
  readonly encoding: 'utf8' | 'latin1'
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): Decoded {
  try {
    return { text: utf8.decode(bytes), encoding: 'utf8' }
  } catch {
    return { text: Buffer.from(bytes).toString('latin1'), encoding: 'latin1' }
  }
}

function encoded(bytes: Uint8Array, { text, encoding }: Decoded, after: string): Uint8Array {
  return text === after ? bytes : Buffer.from(after, encoding)
}
