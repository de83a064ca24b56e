/** Texts and paths as Go writes them: the messages of Ignition hold them. */

const shortEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u000B': '\\v',
  '\\': '\\\\',
}

/** As `%q` writes text (Go `src/strconv/quote.go`). */
export function goQuoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\"')}"`
}

/** As encoding/json names the byte that it did not expect: a byte above 0x7f is taken for a character of Latin-1. */
export function goCharacter(byte: number): string {
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  return `'${escaped(character)}'`
}

const unprintable = /[\p{C}\p{Zl}\p{Zp}\\]|(?! )\p{Zs}/gu

function escaped(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0
    const short = shortEscapes[character]
    if (short !== undefined) return short
    if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`
    if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The shortest path that means the same (Go `src/path/path.go:Clean`). */
export function cleanPath(path: string): string {
  const isAbsolute = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!isAbsolute) parts.push(part)
  }
  const joined = parts.join('/')
  if (isAbsolute) return `/${joined}`
  return joined === '' ? '.' : joined
}

/** The last dot of the last element and what follows; empty where there is none (Go `src/path/path.go:Ext`). */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot)
}
