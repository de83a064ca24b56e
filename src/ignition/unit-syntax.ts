/**
 * Unit files, as far as Ignition reads them: sections and options, and what it refuses.
 *
 * Its reader is stricter than systemd in one thing: no line may have 2048 bytes or more. It looks only as far as its
 * buffer of 4096 bytes is filled, so that some long lines pass; this reader looks with the same eyes.
 *
 * Source: github.com/coreos/go-systemd `unit/deserialize.go`; Go `src/bufio/bufio.go`.
 */
import { goQuoted } from './go-text.ts'

export type UnitSyntax = { readonly options: readonly UnitOption[] } | { readonly fault: string }

export interface UnitOption {
  readonly section: string
  readonly name: string
  readonly value: string
}

export function readUnit(text: string): UnitSyntax {
  return new UnitReader(text).read()
}

const bufferBytes = 4096
const maxLineBytes = 2048

type Step = () => Step | undefined

class UnitReader {
  readonly #bytes: Buffer
  readonly #options: UnitOption[] = []
  #at = 0
  /** Up to where Go's buffer is filled. */
  #filled = 0
  #section = ''
  #fault: string | undefined

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'utf8')
  }

  read(): UnitSyntax {
    let step: Step | undefined = this.#nextSection
    while (step) {
      if (this.#isLineTooLong()) return { fault: `line too long (max ${maxLineBytes} bytes)` }
      step = step()
      if (this.#fault !== undefined) return { fault: this.#fault }
    }
    return { options: this.#options }
  }

  /** Before the first section, anything but a comment is passed over. */
  readonly #nextSection: Step = () => {
    const character = this.#character()
    if (character === undefined) return undefined
    if (character === '[') return this.#sectionName
    return isComment(character) ? this.#comment(this.#nextSection) : this.#nextSection
  }

  readonly #sectionName: Step = () => {
    const end = this.#bytes.indexOf(0x5d, this.#at)
    if (end < 0) return this.#refuse('unable to find end of section')
    const name = this.#bytes.toString('utf8', this.#at, end)
    this.#moveTo(end + 1)
    return () => {
      const rest = trimSpace(this.#line().text)
      if (rest !== '') return this.#refuse(`found garbage after section name : ${goQuoted(rest)}`)
      this.#section = name
      return this.#sectionOrOption
    }
  }

  readonly #sectionOrOption: Step = () => {
    const start = this.#at
    const character = this.#character()
    if (character === undefined) return undefined
    if (isSpace(character)) return this.#sectionOrOption
    if (character === '[') return this.#sectionName
    if (isComment(character)) return this.#comment(this.#sectionOrOption)
    this.#at = start
    return this.#option
  }

  /** A comment that ends in a backslash goes on. */
  #comment(next: Step): Step {
    return () => {
      for (;;) {
        const { text } = this.#line()
        if (!(text.endsWith(' ') ? text.slice(0, -1) : text).endsWith('\\')) return next
      }
    }
  }

  readonly #option: Step = () => {
    const start = this.#at
    for (let at = start; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at]
      if (byte === 0x0a || byte === 0x0d)
        return this.#refuse('unexpected newline encountered while parsing option name')
      if (byte !== 0x3d) continue
      const name = trimSpace(this.#bytes.toString('utf8', start, at))
      this.#readTo(at + 1)
      return this.#value(name, '')
    }
    return this.#refuse('EOF')
  }

  #value(name: string, before: string): Step {
    return () => {
      const { text, isLast } = this.#line()
      const isEmpty = trimSpace(text) === ''
      const value = isEmpty ? before : before + text
      if (!isEmpty && text.endsWith('\\')) return this.#value(name, isLast ? value : `${value}\n`)
      const trimmed = trimSpace(value)
      this.#options.push({ section: this.#section, name, value: value.endsWith('\n') ? `${trimmed}\n` : trimmed })
      return this.#sectionOrOption
    }
  }

  #refuse(fault: string): undefined {
    this.#fault = fault
    return undefined
  }

  #character(): string | undefined {
    if (this.#at >= this.#bytes.length) return undefined
    const length = characterLength(this.#bytes[this.#at] ?? 0)
    if (this.#filled < Math.min(this.#at + length, this.#bytes.length)) this.#fill()
    const end = Math.min(this.#at + length, this.#bytes.length)
    const character = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return character
  }

  #line(): { readonly text: string; readonly isLast: boolean } {
    const newline = this.#bytes.indexOf(0x0a, this.#at)
    const isLast = newline < 0
    const end = isLast ? this.#bytes.length : newline
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#moveTo(isLast ? end : end + 1)
    // Only a line without its newline loses its carriage return.
    return { text: isLast && text.endsWith('\r') ? text.slice(0, -1) : text, isLast }
  }

  /** As bufio reads up to a delimiter: what does not fit is taken out of the full buffer, which is then filled anew. */
  #moveTo(end: number): void {
    while (this.#filled < end) {
      if (this.#filled - this.#at >= bufferBytes) this.#at = this.#filled
      this.#fill()
      if (this.#filled === this.#bytes.length) break
    }
    this.#at = end
  }

  /** As bufio reads character by character. */
  #readTo(end: number): void {
    while (this.#filled < end) {
      this.#at = this.#filled
      this.#fill()
    }
    this.#at = end
  }

  #fill(): void {
    this.#filled = Math.min(this.#bytes.length, this.#at + bufferBytes)
  }

  #isLineTooLong(): boolean {
    if (this.#filled - this.#at < maxLineBytes) return false
    const ahead = this.#bytes.subarray(this.#at, this.#at + maxLineBytes)
    return !ahead.includes(0x0a) && !ahead.includes(0x0d)
  }
}

function isComment(character: string): boolean {
  return character === '#' || character === ';'
}

/** Go's `unicode.IsSpace`; that of JavaScript lacks U+0085 and has U+FEFF. */
const space = '[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const spacePattern = new RegExp(`^${space}$`)
const edgePattern = new RegExp(`^${space}+|${space}+$`, 'g')

function isSpace(character: string): boolean {
  return spacePattern.test(character)
}

function trimSpace(text: string): string {
  return text.replace(edgePattern, '')
}

/** Of the character that begins with this byte of UTF-8. */
function characterLength(byte: number): number {
  if (byte < 0xc0) return 1
  if (byte < 0xe0) return 2
  return byte < 0xf0 ? 3 : 4
}
