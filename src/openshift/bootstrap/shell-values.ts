/** What the variables of a script may hold, as far as the script says it in plain words; and which conditions that decides. */
import type { ShellCondition } from './shell-lines.ts'

interface Value {
  readonly texts: readonly string[]
  /** True where only one of `texts` comes true, and the script alone does not say which. */
  readonly isChoice: boolean
}

export class ShellValues {
  readonly #values = new Map<string, Value>()

  /**
   * Takes in `NAME=VALUE`, `NAME=(A B)` and `for NAME in A B`.
   *
   * @param isCertain false where a condition that nobody can decide here stands around it
   */
  learn(command: string, isCertain: boolean): void {
    const [, name, raw] =
      /^(?:(?:export|local|readonly|declare)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=(.*)$/s.exec(command) ??
      /^for\s+([A-Za-z_]\w*)\s+in\s+(.*)$/s.exec(command) ??
      []
    if (name === undefined || raw === undefined) return
    const isList = command.startsWith('for ') || raw.startsWith('(')
    const words = isList
      ? raw
          .replace(/^\(|\)$/g, '')
          .trim()
          .split(/\s+/)
      : [raw.trim()]
    const values = words.map((word) => this.resolve(word))
    if (values.includes(undefined)) {
      this.#values.delete(name)
      return
    }
    const texts = values.flatMap((value) => value?.texts ?? [])
    const before = isCertain ? [] : (this.#values.get(name)?.texts ?? [])
    const isChoice = !isCertain || values.some((value) => value?.isChoice)
    this.#values.set(name, { texts: [...new Set([...before, ...texts])], isChoice })
  }

  /** Undefined where a part of the word is not known: a command's output, an argument, an unset variable. */
  resolve(word: string): Value | undefined {
    const plain = unquoted(word)
    if (/[`*?]|\$\(/.test(plain)) return undefined
    const braced = plain.replace(/\$([A-Za-z_]\w*)/g, `\${$1}`)
    const [, before = '', name, fallback, after = ''] =
      /^([^$]*)\$\{([A-Za-z_]\w*)(?:\[@\])?(?::?-([^}]*))?\}(.*)$/s.exec(braced) ?? []
    if (name === undefined) return plain.includes('$') ? undefined : { texts: [plain], isChoice: false }
    const value =
      this.#values.get(name) ?? (fallback === undefined ? undefined : { texts: [fallback], isChoice: false })
    const rest = this.resolve(after)
    if (value === undefined || rest === undefined) return undefined
    const texts = value.texts.flatMap((text) => rest.texts.map((end) => `${before}${text}${end}`))
    return { texts, isChoice: value.isChoice || rest.isChoice }
  }

  /** Whether a condition holds on the first boot; undefined where the script alone does not say. */
  decide(condition: ShellCondition): boolean | undefined {
    const holds = this.#holds(condition.text.trim())
    return holds === undefined ? undefined : holds !== condition.isNegated
  }

  #holds(text: string): boolean | undefined {
    const [, inverted, test] = /^(!\s+)?(?:\[\[?|test)\s+(.*?)\s*(?:\]\]?)?$/s.exec(text) ?? []
    if (test === undefined || /&&|\|\||\s-[ao]\s/.test(test)) return undefined
    const result = this.#tested(test)
    return result === undefined || inverted === undefined ? result : !result
  }

  #tested(test: string): boolean | undefined {
    // What an earlier run leaves behind is not there on the first boot.
    const [, no, marker] = /^(!\s+)?-[ef]\s+(\S+)$/.exec(test) ?? []
    if (marker !== undefined) return /done["']?$/.test(marker) ? no !== undefined : undefined
    const [, left = '', operator, right = ''] = /^(\S+)\s+(==?|!=)\s+(\S+)$/.exec(test) ?? []
    if (operator === undefined) return undefined
    const [one, other] = [this.resolve(left), this.resolve(right)]
    if (one === undefined || other === undefined || one.isChoice || other.isChoice) return undefined
    return (one.texts[0] === other.texts[0]) === (operator !== '!=')
  }
}

function unquoted(word: string): string {
  return /^"(.*)"$/s.exec(word)?.[1] ?? /^'(.*)'$/s.exec(word)?.[1] ?? word
}
