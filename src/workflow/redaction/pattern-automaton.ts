/**
 * Finds many byte strings at once in a stream (Aho and Corasick, "Efficient string matching", CACM 18(6), 1975).
 *
 * States are numbered level by level, so the children of a state are neighbours, and the first states, where nearly all of
 * a log is read, have a full row of transitions each. Deeper ones are chains: a few bytes a state, however long a pattern.
 */

/** Full rows: 4 MiB at most. */
const maxRows = 4096

interface Trie {
  readonly bytes: number[]
  readonly children: number[]
  readonly siblings: number[]
  readonly isEnd: boolean[]
}

export class PatternAutomaton {
  /** `rows[state << 8 | byte]` is the next state, for states below `rowCount`. */
  readonly rows: Int32Array
  readonly rowCount: number
  /** How many bytes before now a match may have begun that is not complete. */
  readonly depth: Int32Array
  /** Bytes of the longest pattern that ends in a state, 0 where none does. */
  readonly matched: Int32Array
  /** No state below this one ends a pattern. */
  readonly firstMatch: number
  readonly #byteOf: Uint8Array
  readonly #firstChild: Int32Array
  readonly #fail: Int32Array

  /** @param patterns as one character a byte; those of a trie that is never empty are fine */
  constructor(patterns: Iterable<string>) {
    const trie = trieOf(patterns)
    const size = trie.bytes.length
    this.#byteOf = new Uint8Array(size)
    this.#firstChild = new Int32Array(size + 1)
    this.#fail = new Int32Array(size)
    this.depth = new Int32Array(size)
    this.matched = new Int32Array(size)
    this.rowCount = Math.min(size, maxRows)
    this.rows = new Int32Array(this.rowCount * 256)
    this.#number(trie)
    const first = this.matched.findIndex((length) => length > 0)
    this.firstMatch = first === -1 ? size : first
  }

  /** The state after `byte`. 0 is where everything begins. */
  step(state: number, byte: number): number {
    let from = state
    while (from >= this.rowCount) {
      const end = this.#firstChild[from + 1] as number
      for (let child = this.#firstChild[from] as number; child < end; child += 1) {
        if (this.#byteOf[child] === byte) return child
      }
      from = this.#fail[from] as number
    }
    return this.rows[(from << 8) | byte] as number
  }

  /** Gives the states of the trie their numbers level by level, with where each goes when no child fits. */
  #number({ bytes, children, siblings, isEnd }: Trie): void {
    const oldOf = new Int32Array(bytes.length)
    let count = 1
    for (let state = 0; state < count; state += 1) {
      const old = oldOf[state] as number
      if (isEnd[old]) this.matched[state] = this.depth[state] as number
      this.#firstChild[state] = count
      // Of the failure state everything is known: it is less deep.
      const fail = this.#fail[state] as number
      if (this.matched[state] === 0) this.matched[state] = this.matched[fail] as number
      const row = state << 8
      if (state > 0 && state < this.rowCount) this.rows.copyWithin(row, fail << 8, (fail << 8) + 256)
      for (let child = children[old] as number; child !== 0; child = siblings[child] as number) {
        const byte = bytes[child] as number
        oldOf[count] = child
        this.#byteOf[count] = byte
        this.depth[count] = (this.depth[state] as number) + 1
        this.#fail[count] = state === 0 ? 0 : this.step(fail, byte)
        if (state < this.rowCount) this.rows[row | byte] = count
        count += 1
      }
    }
    this.#firstChild[bytes.length] = count
  }
}

function trieOf(patterns: Iterable<string>): Trie {
  const trie: Trie = { bytes: [0], children: [0], siblings: [0], isEnd: [false] }
  const { bytes, children, siblings, isEnd } = trie
  for (const pattern of patterns) {
    let state = 0
    for (let at = 0; at < pattern.length; at += 1) {
      const byte = pattern.charCodeAt(at)
      let child = children[state] as number
      while (child !== 0 && bytes[child] !== byte) child = siblings[child] as number
      if (child === 0) {
        child = bytes.push(byte) - 1
        children.push(0)
        siblings.push(children[state] as number)
        isEnd.push(false)
        children[state] = child
      }
      state = child
    }
    isEnd[state] = state !== 0
  }
  return trie
}
