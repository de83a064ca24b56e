/** The bracket expressions of Go's regular expressions (`regexp/syntax/parse.go`: parseClass). */
import { type PatternReader, readClassEscape } from './go-regexp-escape.ts'

/** `[:alpha:]` and the like, all of them ASCII. */
const posix: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t\\u{20}',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '\\u{21}-\\u{7e}',
  lower: 'a-z',
  print: '\\u{20}-\\u{7e}',
  punct: '\\u{21}-\\u{2f}\\u{3a}-\\u{40}\\u{5b}-\\u{60}\\u{7b}-\\u{7e}',
  space: '\\t\\n\\v\\f\\r\\u{20}',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

/** The class whose opening bracket has been read, for the flag `v`, under which classes nest. */
export function readClass(reader: PatternReader): string {
  let source = reader.match(/\^/y) === undefined ? '[' : '[^'
  let isFirst = true
  for (;;) {
    if (reader.isDone()) throw reader.problem('a closing ] is missing')
    if (!isFirst && reader.match(/\]/y) !== undefined) return `${source}]`
    isFirst = false
    const named = reader.match(/\[:\^?\w+:\]/y)
    source += named === undefined ? readRange(reader) : posixClass(named, reader)
  }
}

function posixClass(text: string, reader: PatternReader): string {
  const ranges = posix[text.replaceAll(/[[\]:^]/g, '')]
  if (ranges === undefined) throw reader.problem(`there is no class ${text}`)
  return `[${text.includes('^') ? '^' : ''}${ranges}]`
}

/** One character or class, or a range of characters. */
function readRange(reader: PatternReader): string {
  const low = readMember(reader)
  if (reader.match(/-(?!\]|$)/y) === undefined) return low
  const high = readMember(reader)
  const isRange = [low, high].every((end) => !/^(?:\[|\\[pP])/.test(end))
  if (!isRange) throw reader.problem('a range in brackets must go from one character to another')
  return `${low}-${high}`
}

function readMember(reader: PatternReader): string {
  if (reader.isDone()) throw reader.problem('a closing ] is missing')
  const char = reader.next()
  return char === '\\' ? readClassEscape(reader) : reader.literal(char)
}
