import type { PatternAutomaton } from './pattern-automaton.ts'
import { SecretSet } from './secret-set.ts'

/** Bytes in, bytes out, some of them later. */
export interface ByteFilter {
  /** What can be shown now. It may share memory with `chunk`. */
  push(chunk: Uint8Array): Uint8Array
  /** What was held back. Nothing is pushed after it. */
  end(): Uint8Array
}

export interface SecretFilter extends ByteFilter {
  /** A secret that becomes known while it runs; false when it is shorter than 4 bytes and so not looked for. */
  add(secret: string | Uint8Array): boolean
}

interface Span {
  start: number
  end: number
}

const stars = Buffer.from('***')

/**
 * Takes secrets out of a stream of bytes: each longest run of bytes that belongs to any form of any secret is `***`, however the
 * stream is cut. Held back is only what may be the beginning of a secret, so a prompt appears at once.
 */
export function createSecretFilter(secrets: SecretSet | Iterable<string | Uint8Array>): SecretFilter {
  const set = secrets instanceof SecretSet ? secrets : new SecretSet(secrets)
  const stream = new SecretStream(set)
  return {
    push: (chunk) => stream.push(chunk),
    end: () => stream.end(),
    add: (secret) => set.add(secret),
  }
}

class SecretStream {
  readonly #set: SecretSet
  #automaton: PatternAutomaton
  #state = 0
  #held: Uint8Array = new Uint8Array(0)
  /** What is secret, from the beginning of what is held. The first may have begun before. */
  #spans: Span[] = []

  constructor(set: SecretSet) {
    this.#set = set
    this.#automaton = set.automaton
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#automaton !== this.#set.automaton) this.#restart()
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#scan(bytes, this.#held.length)
    return this.#release(bytes, bytes.length - (this.#automaton.depth[this.#state] as number))
  }

  end(): Uint8Array {
    if (this.#automaton !== this.#set.automaton) this.#restart()
    this.#state = 0
    return this.#release(this.#held, this.#held.length)
  }

  /** What is held is read again when there are more secrets to look for. */
  #restart(): void {
    this.#automaton = this.#set.automaton
    this.#state = 0
    const before = this.#spans
    this.#spans = []
    this.#scan(this.#held, 0)
    const all = [...before, ...this.#spans].toSorted((one, other) => one.end - other.end)
    this.#spans = []
    for (const { start, end } of all) this.#cover(start, end)
  }

  #scan(bytes: Uint8Array, from: number): void {
    const { rows, rowCount, matched, firstMatch } = this.#automaton
    let state = this.#state
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number
      state = state < rowCount ? (rows[(state << 8) | byte] as number) : this.#automaton.step(state, byte)
      if (state >= firstMatch && matched[state] !== 0) this.#cover(at + 1 - (matched[state] as number), at + 1)
    }
    this.#state = state
  }

  /** Called with ascending ends. */
  #cover(start: number, end: number): void {
    let from = start
    for (let last = this.#spans.at(-1); last !== undefined && last.end >= from; last = this.#spans.at(-1)) {
      from = Math.min(from, last.start)
      this.#spans.pop()
    }
    this.#spans.push({ start: from, end })
  }

  /** Everything before `until` is certain. */
  #release(bytes: Uint8Array, until: number): Uint8Array {
    this.#held = until < bytes.length ? Buffer.from(bytes.subarray(until)) : new Uint8Array(0)
    if (this.#spans.length === 0) return bytes.subarray(0, until)
    const parts: Uint8Array[] = []
    const open: Span[] = []
    let at = 0
    for (const { start, end } of this.#spans) {
      if (start > at) parts.push(bytes.subarray(at, Math.min(start, until)))
      // One that begins before what is held has had its stars.
      if (start >= 0 && start < until) parts.push(stars)
      at = Math.max(at, Math.min(end, until))
      // Where it touches what is held, more of it may come.
      if (end >= until) open.push({ start: start < until ? -1 : start - until, end: end - until })
    }
    if (at < until) parts.push(bytes.subarray(at, until))
    this.#spans = open
    return Buffer.concat(parts)
  }
}
