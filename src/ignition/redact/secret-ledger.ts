/**
 * The secrets that were found, and what stands for each: the same marker for the same secret, so that a reader of the copy still
 * sees what is the same.
 */
import { type Encoded, encodingsOf } from './encodings.ts'

const markerPattern = /REDACTED-\d+/g

/** True where nothing but a marker is in it. */
export function isMarked(text: string): boolean {
  return text !== '' && text.replace(markerPattern, '').trim() === ''
}

export class SecretLedger {
  readonly #markers = new Map<string, string>()
  /** What is looked for everywhere else too. */
  readonly #sought = new Map<string, readonly Encoded[]>()

  /** How many different secrets there are. */
  get size(): number {
    return this.#markers.size
  }

  /**
   * What stands for a secret.
   *
   * @param isSought false for what may stand elsewhere and be none there, as values of Secrets that are names
   */
  markerOf(secret: string, { isSought = true }: { readonly isSought?: boolean } = {}): string {
    const known = this.#markers.get(secret)
    const marker = known ?? `REDACTED-${this.#markers.size + 1}`
    this.#markers.set(secret, marker)
    if (isSought) this.#seek(secret)
    return marker
  }

  #seek(secret: string): void {
    for (const part of partsOf(secret))
      if (canBeSought(part) && !this.#sought.has(part)) this.#sought.set(part, encodingsOf(part))
  }

  /** `text` without the secrets that were found elsewhere, in whatever encoding. */
  withoutKnown(text: string): string {
    let clean = text
    for (const [secret, encodings] of this.#sought)
      for (const { text: encoded, isEmbedded } of encodings)
        if (clean.includes(encoded))
          clean = clean.replaceAll(encoded, isEmbedded ? 'x'.repeat(encoded.length) : this.markerOf(secret))
    return clean
  }

  /** True where one of the secrets stands in the text, in whatever encoding. */
  isIn(text: string): boolean {
    return [...this.#sought.values()].some((encodings) => encodings.some((encoded) => text.includes(encoded.text)))
  }
}

/** A key of many lines may be copied without its line ends. */
function partsOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n|\\n/).map((line) => line.trim())
  return lines.length > 1 ? lines.filter((line) => line.length >= 16) : [secret]
}

const kindsOfCharacters = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^a-zA-Z0-9]/]

/** Of a short word it cannot be said whether it is the secret, or a word. */
function canBeSought(secret: string): boolean {
  if (secret.length >= 16) return true
  return secret.length >= 8 && kindsOfCharacters.filter((pattern) => pattern.test(secret)).length > 1
}
