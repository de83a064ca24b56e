/**
 * The plain block style that Kubernetes and oc-mirror write their resources in, read fast: mappings, sequences and short
 * scalars, nothing else.
 *
 * A mirror set of an operator catalog has thousands of lines; the whole of YAML takes a hundred times as long for them.
 * What is not plain is refused, for the whole of YAML to be asked.
 */

interface Line {
  readonly indent: number
  readonly text: string
}

/** Undefined where the text is anything but plain. */
export function parseBlockYaml(text: string): unknown {
  const lines = linesOf(text)
  if (lines === undefined || lines.length === 0) return undefined
  const reader = new BlockReader(lines)
  try {
    return reader.read()
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

class NotPlain extends Error {}

function linesOf(text: string): readonly Line[] | undefined {
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const end = raw.trimEnd()
    if (end === '') continue
    const indent = end.search(/[^ ]/)
    const content = end.slice(indent)
    if (content.startsWith('#')) continue
    if (/[\t\r]|\s#/.test(end) || /^(?:---|\.\.\.|%)/.test(content)) return undefined
    lines.push({ indent, text: content })
  }
  return lines
}

const keyPattern = /^([A-Za-z_][A-Za-z0-9_./-]*):(?: +(.*))?$/
const wordPattern = /^[A-Za-z0-9_/](?:[A-Za-z0-9_./@:^+-]*[A-Za-z0-9_./@^+-])?$/
/** Words that YAML takes for something else than text; what looks like a number or a date is left to YAML too. */
const special =
  /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|n|N|yes|no|on|off|Yes|No|On|Off)$|^[0-9.+-][0-9._:+-]*(?:[eE][0-9+-]*)?$|^0[xob]/

class BlockReader {
  readonly #lines: readonly Line[]
  #at = 0

  constructor(lines: readonly Line[]) {
    this.#lines = lines
  }

  read(): unknown {
    const value = this.#block(this.#lines[0]?.indent ?? 0)
    if (this.#at < this.#lines.length) throw new NotPlain()
    return value
  }

  #block(indent: number): unknown {
    const first = this.#lines[this.#at]
    if (first === undefined || first.indent !== indent) throw new NotPlain()
    return first.text === '-' || first.text.startsWith('- ') ? this.#sequence(indent) : this.#mapping(indent)
  }

  #sequence(indent: number): readonly unknown[] {
    const items: unknown[] = []
    for (let line = this.#lines[this.#at]; line?.indent === indent; line = this.#lines[this.#at]) {
      const [, space = '', rest = ''] = /^-( +)(.*)$/.exec(line.text) ?? []
      // A lone dash, and a dash within: rare, and easily read wrong.
      if (rest === '' || rest.startsWith('-')) {
        if (line.text.startsWith('-')) throw new NotPlain()
        break
      }
      if (!keyPattern.test(rest)) {
        this.#at += 1
        items.push(scalar(rest))
      } else items.push(this.#mapping(indent + 1 + space.length, rest))
    }
    return items
  }

  /** @param head what stands on the line of the dash */
  #mapping(indent: number, head?: string): Readonly<Record<string, unknown>> {
    const entries = new Map<string, unknown>()
    let text = head
    for (;;) {
      const line = this.#lines[this.#at]
      if (text === undefined) {
        if (line === undefined || line.indent !== indent) break
        text = line.text
      }
      const [, key, value] = keyPattern.exec(text) ?? []
      if (key === undefined || entries.has(key) || special.test(key) || key === '__proto__') throw new NotPlain()
      this.#at += 1
      entries.set(key, value === undefined || value === '' ? this.#nested(indent) : scalar(value))
      text = undefined
    }
    const next = this.#lines[this.#at]
    if (next !== undefined && next.indent > indent) throw new NotPlain()
    return Object.fromEntries(entries)
  }

  /** What belongs to a key: deeper lines, or a sequence that begins where the key does; else nothing. */
  #nested(indent: number): unknown {
    const next = this.#lines[this.#at]
    if (next !== undefined && next.indent > indent) return this.#block(next.indent)
    if (next?.indent === indent && /^-(?: |$)/.test(next.text)) return this.#sequence(indent)
    return null
  }
}

function scalar(text: string): unknown {
  if (text === '{}') return {}
  if (text === '[]') return []
  if (text === 'null') return null
  if (text === 'true') return true
  if (text === 'false') return false
  const quoted = /^"([^"\\]*)"$/.exec(text) ?? /^'([^']*)'$/.exec(text)
  if (quoted !== null) return quoted[1]
  if (!wordPattern.test(text) || special.test(text)) throw new NotPlain()
  return text
}
