/** The bracket expressions of Go's regular expressions (`regexp/syntax/parse.go`: parseClass). */
import { type ClassMember, type PatternReader, rangesSource, readClassEscape } from './go-regexp-escape.ts'

/** `[:alpha:]` and the like: the ends of their ranges, all of them ASCII. */
const posix: Readonly<Record<string, string>> = {
  alnum: '09AZaz',
  alpha: 'AZaz',
  ascii: '\x00\x7f',
  blank: '\t\t  ',
  cntrl: '\x00\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '\t\r  ',
  upper: 'AZ',
  word: '09AZ__az',
  xdigit: '09AFaf',
}

/** The class whose opening bracket has been read. */
export function readClass(reader: PatternReader): string {
  let source = reader.match(/\^/y) === undefined ? '[' : '[^'
  let isFirst = true
  for (;;) {
    if (reader.isDone()) throw reader.problem('a closing ] is missing')
    if (!isFirst && reader.match(/\]/y) !== undefined) return `${source}]`
    isFirst = false
    const named = reader.match(/\[:[^\]]*?:\]/y)
    source += named === undefined ? readRange(reader) : posixClass(named, reader)
  }
}

function posixClass(text: string, reader: PatternReader): string {
  const name = text.slice(2, -2)
  const ends = [...(posix[name.replace(/^\^/, '')] ?? '')].map((char) => char.codePointAt(0) ?? 0)
  if (ends.length === 0) throw reader.problem(`there is no class ${text}`)
  const ranges = ends.flatMap((low, index) => (index % 2 === 0 ? [[low, ends[index + 1] ?? low] as const] : []))
  return rangesSource(ranges, name.startsWith('^'))
}

/** One character or set, or a range of characters. After a set, `-` is a character like others. */
function readRange(reader: PatternReader): string {
  const low = readMember(reader)
  if (low.isSet || reader.match(/-(?!\]|$)/y) === undefined) return low.source
  const high = readMember(reader)
  if (high.isSet) throw reader.problem('a range in brackets must go from one character to another')
  return `${low.source}-${high.source}`
}

function readMember(reader: PatternReader): ClassMember {
  if (reader.isDone()) throw reader.problem('a closing ] is missing')
  const char = reader.next()
  return char === '\\' ? readClassEscape(reader) : { source: reader.literal(char), isSet: false }
}
