import type { ChannelEntry } from './meta.ts'

/**
 * What a file of a catalog says again and again, once in memory: a channel may name every bundle in the `skips` of every other, and the
 * channels of a package mostly have the same entries.
 */
export class TextPool {
  readonly #texts = new Map<string, string>()
  readonly #entries = new Map<string, ChannelEntry>()

  share(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** The entry itself, or the last one of its name where it says the same. */
  shareEntry(entry: ChannelEntry): ChannelEntry {
    const known = this.#entries.get(entry.name)
    if (known && isSame(known, entry)) return known
    this.#entries.set(entry.name, entry)
    return entry
  }
}

function isSame(one: ChannelEntry, other: ChannelEntry): boolean {
  if (one.replaces !== other.replaces || one.skipRange !== other.skipRange) return false
  return one.skips.length === other.skips.length && one.skips.every((name, index) => name === other.skips[index])
}
