/** The single characters and escapes of Go's regular expressions (`regexp/syntax/parse.go`: parseEscape). */
import { KnownError } from '../errors/known-error.ts'

/** Goes through a pattern, and names it in every complaint. */
export interface PatternReader {
  readonly isDone: () => boolean
  readonly next: () => string
  /** Takes what the sticky pattern finds here; undefined where it finds nothing. */
  readonly match: (sticky: RegExp) => string | undefined
  /** The character, written so that it can stand anywhere. */
  readonly literal: (char: string) => string
  readonly problem: (why: string) => KnownError
}

export function patternReader(pattern: string): PatternReader {
  let offset = 0
  return {
    isDone: () => offset >= pattern.length,
    next: () => {
      const char = String.fromCodePoint(pattern.codePointAt(offset) ?? 0)
      offset += char.length
      return char
    },
    match: (sticky) => {
      sticky.lastIndex = offset
      const found = sticky.exec(pattern)?.[0]
      offset += found?.length ?? 0
      return found
    },
    literal: codePoint,
    problem: (why) => new KnownError('CONFIG_INVALID', `"${pattern}" is not a regular expression of Go (RE2): ${why}`),
  }
}

function codePoint(char: string): string {
  return /^[A-Za-z0-9]$/.test(char) ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** Letters that mean the same in JavaScript, or this. */
const letters: Readonly<Record<string, string>> = {
  A: '(?-m:^)',
  z: '(?-m:$)',
  b: '(?:\\b)',
  B: '(?:\\B)',
}

/** What also stands within brackets. */
const classLetters: Readonly<Record<string, string>> = {
  d: '[0-9]',
  D: '[^0-9]',
  w: '[0-9A-Za-z_]',
  W: '[^0-9A-Za-z_]',
  s: '[\\t\\n\\f\\r\\u{20}]',
  S: '[^\\t\\n\\f\\r\\u{20}]',
}

const controls: Readonly<Record<string, string>> = { a: '\\x07', f: '\\f', n: '\\n', r: '\\r', t: '\\t', v: '\\v' }

/** The escape whose backslash has been read. */
export function readEscape(reader: PatternReader): string {
  if (reader.isDone()) throw reader.problem('it ends with a backslash')
  const letter = reader.match(/[AzbB]/y)
  return letter === undefined ? readClassEscape(reader) : (letters[letter] ?? letter)
}

/** The escapes that may stand within brackets too. */
export function readClassEscape(reader: PatternReader): string {
  const property = reader.match(/[pP](?:[A-Z]|\{\^?\w+\})/y)
  if (property !== undefined) return unicodeProperty(property)
  const hex = reader.match(/x(?:[0-9A-Fa-f]{2}|\{[0-9A-Fa-f]{1,6}\})/y)
  if (hex !== undefined) return `\\u{${hex.replaceAll(/[x{}]/g, '')}}`
  const octal = reader.match(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y)
  if (octal !== undefined) return `\\u{${Number.parseInt(octal, 8).toString(16)}}`
  const char = reader.next()
  const known = classLetters[char] ?? controls[char]
  if (known !== undefined) return known
  if (/[1-9]/.test(char)) throw reader.problem(`\\${char} refers back to a group, which Go does not have`)
  if (/[A-Za-z0-9]/.test(char)) throw reader.problem(`there is no escape \\${char}`)
  return codePoint(char)
}

/** `\pN`, `\p{Greek}`, `\p{^Greek}`: categories have one or two letters, scripts more. */
function unicodeProperty(text: string): string {
  const name = text.slice(1).replaceAll(/[{}^]/g, '')
  const isNegated = text.startsWith('P') !== text.includes('^')
  return `\\${isNegated ? 'P' : 'p'}{${name.length > 2 ? `Script=${name}` : name}}`
}
