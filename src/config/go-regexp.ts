/**
 * Regular expressions as Go writes them (RE2), which is what `blockedImages` holds, for JavaScript's engine.
 *
 * Only whether a text matches is asked, so groups capture nothing and laziness (`*?`, the flag U) is dropped. What Go
 * refuses is refused: look-around and back-references, which RE2 does not have, above all.
 *
 * Source: https://pkg.go.dev/regexp/syntax and Go's `regexp/syntax/parse.go`.
 */
import type * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { readClass } from './go-regexp-class.ts'
import { type PatternReader, patternReader, readEscape } from './go-regexp-escape.ts'

/**
 * @throws KnownError CONFIG_INVALID where Go would not compile it
 */
export function compileGoRegExp(pattern: string): RegExp {
  const { flags, rest } = leadingFlags(pattern)
  const source = new Translation(pattern, pattern.length - rest.length).run()
  try {
    return new RegExp(source, `${flags}u`)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const message = `"${pattern}" is not a regular expression of Go: ${cause.message.replace(/^.*: /, '')}`
    throw new KnownError('CONFIG_INVALID', message, { cause })
  }
}

/** Flags for the whole pattern, `(?i)` in front, are better left to the engine than written around everything. */
function leadingFlags(pattern: string): { flags: string; rest: string } {
  const found = /^\(\?([ims]+)\)(?![*+?{])/.exec(pattern)
  return { flags: [...new Set(found?.[1] ?? '')].join(''), rest: pattern.slice(found?.[0].length ?? 0) }
}

/** For the schema of a blocked image. */
export function checkBlockedImage(pattern: string, context: z.RefinementCtx): void {
  try {
    compileGoRegExp(pattern)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    context.addIssue({ code: 'custom', message: `${error.message}${globHint(pattern)}` })
  }
}

/** `*aws*` is what shells understand. */
function globHint(pattern: string): string {
  return /^\*/.test(pattern) ? `; did you mean "${pattern.replaceAll(/\.?\*/g, '.*')}"?` : ''
}

const maxRepeat = 1000

/** One pass over a pattern. `(?i)` in the middle of a group counts to its end, across its alternatives. */
class Translation {
  readonly #reader: PatternReader
  /** For each open group, what the flags that were set within it opened. */
  readonly #groups: string[][] = [[]]
  #source = ''
  /** What a repetition would repeat: nothing, something, or a repetition. */
  #last: 'nothing' | 'atom' | 'repeat' = 'nothing'

  constructor(pattern: string, start: number) {
    this.#reader = patternReader(pattern, start)
  }

  run(): string {
    const reader = this.#reader
    while (!reader.isDone()) this.#step(reader.next())
    if (this.#groups.length > 1) throw reader.problem('a closing ) is missing')
    return this.#source + this.#closing()
  }

  #step(char: string): void {
    const reader = this.#reader
    if (char === '(') this.#open()
    else if (char === ')') this.#close()
    else if (char === '|') this.#alternative()
    else if (char === '[') this.#atom(readClass(reader))
    else if (char === '^' || char === '$') this.#atom(`(?:${char})`)
    else if (char === '.') this.#atom(char)
    else if ('*+?'.includes(char)) this.#repeat(char)
    else if (char === '{') this.#counted()
    else if (char !== '\\') this.#atom(reader.literal(char))
    else if (reader.match(/Q/y) !== undefined) this.#quoted()
    else this.#atom(readEscape(reader))
  }

  /** A brace that opens no count stands for itself. */
  #counted(): void {
    const counts = this.#reader.match(/\d+(?:,\d*)?\}/y)
    if (counts === undefined) this.#atom(this.#reader.literal('{'))
    else this.#repeat(`{${counts}`)
  }

  #atom(source: string): void {
    this.#source += source
    this.#last = 'atom'
  }

  #quoted(): void {
    const text = this.#reader.match(/[\s\S]*?(?:\\E|$)/y) ?? ''
    for (const char of text.replace(/\\E$/, '')) this.#atom(this.#reader.literal(char))
  }

  #repeat(operator: string): void {
    if (this.#last === 'nothing') throw this.#reader.problem(`there is nothing before ${operator} that it could repeat`)
    if (this.#last === 'repeat') throw this.#reader.problem(`${operator} stands behind another repetition`)
    const [low = 0, high = low] = [...operator.matchAll(/\d+/g)].map(Number)
    if (low > maxRepeat || high > maxRepeat)
      throw this.#reader.problem(`${operator} repeats more than ${maxRepeat} times`)
    if (high < low) throw this.#reader.problem(`${operator} has its numbers in the wrong order`)
    this.#reader.match(/\?/y)
    this.#source += operator
    this.#last = 'repeat'
  }

  #open(): void {
    const reader = this.#reader
    if (reader.match(/\?(?!P?<\w+>)/y) !== undefined) this.#flags()
    else {
      reader.match(/\?P?<\w+>/y)
      this.#begin('(?:')
    }
  }

  #flags(): void {
    const reader = this.#reader
    if (reader.match(/<?[=!]/y) !== undefined)
      throw reader.problem('it looks ahead or behind with (?=, (?!, (?<= or (?<!, which Go does not have')
    const flags = reader.match(/[imsU]*(?:-[imsU]+)?[:)]/y)
    if (flags === undefined) throw reader.problem('Go does not know this kind of group after (?')
    const kept = flags.slice(0, -1).replaceAll('U', '').replace(/-$/, '')
    const opening = `(?${kept}:`
    if (flags.endsWith(':')) this.#begin(opening)
    else if (kept !== '') {
      // A repetition here is of what stands before the flags.
      const operator = reader.match(/[*+?]|\{\d+(?:,\d*)?\}/y)
      if (operator !== undefined) this.#repeat(operator)
      this.#groups.at(-1)?.push(opening)
      this.#source += opening
      this.#last = 'nothing'
    }
  }

  #begin(opening: string): void {
    this.#groups.push([])
    this.#source += opening
    this.#last = 'nothing'
  }

  #close(): void {
    if (this.#groups.length === 1) throw this.#reader.problem('a ) stands here without its (')
    this.#source += `${this.#closing()})`
    this.#groups.pop()
    this.#last = 'atom'
  }

  #alternative(): void {
    const flags = this.#groups.at(-1) ?? []
    this.#source += `${this.#closing()}|${flags.join('')}`
    this.#last = 'nothing'
  }

  #closing(): string {
    return ')'.repeat(this.#groups.at(-1)?.length ?? 0)
  }
}
