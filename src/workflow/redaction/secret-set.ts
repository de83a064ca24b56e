import { PatternAutomaton } from './pattern-automaton.ts'
import { secretForms } from './secret-forms.ts'
import { secretPieces } from './secret-pieces.ts'

/** Shorter ones would take ordinary words out of a log. */
const minSecretBytes = 4

/** Secrets of a run. One set serves many filters, and what is added reaches all of them with their next bytes. */
export class SecretSet {
  readonly #secrets = new Set<string>()
  readonly #forms = new Set<string>()
  #automaton: PatternAutomaton | undefined

  constructor(secrets: Iterable<string | Uint8Array> = []) {
    for (const secret of secrets) this.add(secret)
  }

  /** @returns false for one that is too short to be looked for: shorter than 4 bytes without the white space around it */
  add(secret: string | Uint8Array): boolean {
    const bytes = typeof secret === 'string' ? Buffer.from(secret, 'utf8') : Buffer.from(secret)
    const text = bytes.toString('latin1')
    if (text.trim().length < minSecretBytes) return false
    if (this.#secrets.has(text)) return true
    this.#secrets.add(text)
    for (const piece of secretPieces(text)) for (const form of secretForms(piece)) this.#forms.add(form)
    this.#automaton = undefined
    return true
  }

  /** Finds every form of every secret of now. */
  get automaton(): PatternAutomaton {
    this.#automaton ??= new PatternAutomaton(this.#forms)
    return this.#automaton
  }
}
