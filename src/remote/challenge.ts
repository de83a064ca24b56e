/** `WWW-Authenticate` (RFC 9110 11.6.1): several challenges in one header, quoted strings, token68. */

export interface Challenge {
  /** Lower case: `basic`, `bearer`. */
  readonly scheme: string
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>
}

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y
const separator = /[\s,]*/y
const assignment = /\s*=\s*/y
const quoted = /"((?:[^"\\]|\\.)*)"?/y

/** Every challenge that can be read. What is malformed ends the list: a server's mistake must not become ours. */
export function parseChallenges(header: string): readonly Challenge[] {
  const found: { scheme: string; parameters: Record<string, string> }[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const match = pattern.exec(header) ?? undefined
    if (match !== undefined) at = pattern.lastIndex
    return match
  }
  for (;;) {
    take(separator)
    const name = take(token)?.[0]
    if (name === undefined) return found
    const current = found.at(-1)
    if (current !== undefined && take(assignment) !== undefined) {
      const value = header[at] === '"' ? take(quoted)?.[1]?.replace(/\\(.)/g, '$1') : take(token)?.[0]
      if (value === undefined) return found
      current.parameters[name.toLowerCase()] = value
      continue
    }
    found.push({ scheme: name.toLowerCase(), parameters: {} })
    if (/\s/.test(header[at] ?? '')) {
      take(/\s+/y)
      take(token68)
    }
  }
}
