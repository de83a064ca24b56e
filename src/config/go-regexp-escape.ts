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

export function patternReader(pattern: string, start: number): PatternReader {
  let offset = start
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
  return /^[A-Za-z0-9]$/.test(char) ? char : hexadecimal(char.codePointAt(0) ?? 0)
}

function hexadecimal(code: number): string {
  return `\\u{${code.toString(16)}}`
}

/** What an escape or a class stands for, as it is written between brackets. */
export interface ClassMember {
  readonly source: string
  /** True for a set of characters, which can be no end of a range. */
  readonly isSet: boolean
}

type Ranges = readonly (readonly [low: number, high: number])[]

const anchors: Readonly<Record<string, string>> = {
  A: '(?-m:^)',
  z: '(?-m:$)',
  b: '(?:\\b)',
  B: '(?:\\B)',
}

/** All of them ASCII, where JavaScript's own are wider. */
const perlSets: Readonly<Record<string, Ranges>> = {
  d: [[0x30, 0x39]],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  s: [
    [0x09, 0x0a],
    [0x0c, 0x0d],
    [0x20, 0x20],
  ],
}

const controls: Readonly<Record<string, string>> = { a: '\\x07', f: '\\f', n: '\\n', r: '\\r', t: '\\t', v: '\\v' }

/** The escape whose backslash has been read, outside of brackets. */
export function readEscape(reader: PatternReader): string {
  const anchor = reader.match(/[AzbB]/y)
  if (anchor !== undefined) return anchors[anchor] ?? anchor
  const { source, isSet } = readClassEscape(reader)
  return isSet ? `[${source}]` : source
}

/** The escapes that may stand within brackets too. */
export function readClassEscape(reader: PatternReader): ClassMember {
  if (reader.isDone()) throw reader.problem('it ends with a backslash')
  const property = reader.match(/[pP](?:[A-Z]|\{\^?\w+\})/y)
  if (property !== undefined) return { source: unicodeProperty(property), isSet: true }
  const hex = reader.match(/x(?:[0-9A-Fa-f]{2}|\{[0-9A-Fa-f]{1,6}\})/y)
  if (hex !== undefined) return { source: `\\u{${hex.replaceAll(/[x{}]/g, '')}}`, isSet: false }
  const octal = reader.match(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y)
  if (octal !== undefined) return { source: `\\u{${Number.parseInt(octal, 8).toString(16)}}`, isSet: false }
  const char = reader.next()
  const set = perlSets[char.toLowerCase()]
  if (set !== undefined) return { source: rangesSource(set, char !== char.toLowerCase()), isSet: true }
  return { source: controls[char] ?? escapedLiteral(char, reader), isSet: false }
}

/** The ranges as they stand between brackets, or all the others. */
export function rangesSource(ranges: Ranges, isNegated: boolean): string {
  return (isNegated ? complement(ranges) : ranges)
    .map(([low, high]) => `${hexadecimal(low)}-${hexadecimal(high)}`)
    .join('')
}

function complement(ranges: Ranges): Ranges {
  const starts = [0, ...ranges.map(([, high]) => high + 1)]
  const ends = [...ranges.map(([low]) => low - 1), 0x10ffff]
  return starts.map((low, index) => [low, ends[index] ?? low] as const).filter(([low, high]) => low <= high)
}

function escapedLiteral(char: string, reader: PatternReader): string {
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
