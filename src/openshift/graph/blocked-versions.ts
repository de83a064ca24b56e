/**
 * Regular expressions of graph data: `from: 4[.](11[.].*|12[.]([0-9]|[1-3][0-9])[+].*)`.
 *
 * The update service compiles them with Rust's `regex`; what that has and JavaScript spells in another way is translated,
 * what Rust refuses is refused.
 */

/**
 * @throws SyntaxError with the reason
 */
export function compileBlockedVersions(pattern: string): RegExp {
  const { flags, rest } = leadingFlags(pattern)
  const translated = rest.replace(tokens, (token, offset: number) => translate(token, rest, offset))
  return new RegExp(translated, flags)
}

/** An escape, the beginning of a group, or a class: nothing within them is looked at again. */
const tokens = /\\[\s\S]|\(\?(?:P<|<[=!]|[^)\w<]|[\w-]*[:)])?|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]])*\]/g

function translate(token: string, pattern: string, offset: number): string {
  if (token.startsWith('\\')) return translateEscape(token)
  if (token.startsWith('[')) return translateClass(token)
  if (token === '(?P<') return '(?<'
  if (/^\(\?(?:[ims]*:)?$/.test(token)) return token
  throw new SyntaxError(`${JSON.stringify(pattern.slice(offset, offset + 4))} is not allowed`)
}

function translateEscape(token: string): string {
  if (token === '\\A') return '(?<![\\s\\S])'
  if (token === '\\z') return '(?![\\s\\S])'
  if (/^\\[1-9]$/.test(token)) throw new SyntaxError('a reference back to a group is not allowed')
  if (/^\\[a-zA-Z_]$/.test(token) && !/^\\[dDwWsSbBnrtfv]$/.test(token))
    throw new SyntaxError(`the escape ${token} is not known`)
  return token
}

const namedClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
  space: '\\s',
  word: '\\w',
}

function translateClass(text: string): string {
  const inner = text.slice(1, -1)
  const replaced = inner.replace(/\[:(\w+):\]/g, (whole, name: string) => namedClasses[name] ?? whole)
  if (/\[|&&|--|~~/.test(replaced.replace(/\\./g, '')))
    throw new SyntaxError(`the class ${text} holds another class or an operation on classes`)
  // "]" as the first of a class is one of its members there; here it would end the class.
  return `[${replaced.replace(/^(\^?)\]/, '$1\\]')}]`
}

/** `(?i)` before everything else. */
function leadingFlags(pattern: string): { flags: string; rest: string } {
  const match = /^\(\?([ims]+)\)/.exec(pattern)
  return { flags: [...new Set(match?.[1] ?? '')].join(''), rest: pattern.slice(match?.[0].length ?? 0) }
}
