/** Base64 (RFC 4648 sections 4 and 5) of a secret that stands somewhere in a longer text that was encoded. */

/** Columns at which programs break base64: PEM (RFC 7468) and MIME (RFC 2045), `base64` of coreutils with the latter. */
const wraps = [64, 76]
/** Longer than this, line breaks are put only where they fall when the secret begins a line. */
const maxCutCharacters = 160

/**
 * Base64 and base64url of `text` (one character a byte) after 0, 1 and 2 other bytes: the characters that depend on
 * `text` alone, and those of its end when nothing follows.
 */
export function base64Forms(text: string): Set<string> {
  const forms = new Set<string>()
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.from('\0'.repeat(before) + text, 'latin1').toString('base64')
    // Of the first character only the bits of what stands before are unknown: all of it is left out.
    const start = Math.ceil((before * 8) / 6)
    const whole = encoded.slice(start, Math.floor(((before + text.length) * 8) / 6))
    const atEnd = encoded.slice(start)
    for (const form of [whole, atEnd.replace(/=+$/, ''), atEnd]) {
      forms.add(form)
      forms.add(form.replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  return forms
}

/** The same, broken into lines by any program that breaks at 64 or 76 columns, wherever in a line the secret begins. */
export function wrappedBase64Forms(text: string): Set<string> {
  const forms = new Set<string>()
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.from('\0'.repeat(before) + text, 'latin1').toString('base64')
    const start = Math.ceil((before * 8) / 6)
    const ends = new Set([Math.floor(((before + text.length) * 8) / 6), encoded.length])
    for (const end of ends) {
      for (const columns of wraps) {
        for (let first = 4; first <= columns; first += 4) {
          // Breaks fall between groups of four characters.
          if (encoded.length > maxCutCharacters && first !== columns) continue
          const cut = cutAt(encoded.slice(0, end), first, columns)
          if (cut.includes('\n', start)) forms.add(cut.slice(start))
        }
      }
    }
  }
  for (const form of [...forms]) forms.add(form.replaceAll('\n', '\r\n'))
  return forms
}

function cutAt(text: string, first: number, columns: number): string {
  const lines = [text.slice(0, first)]
  for (let at = first; at < text.length; at += columns) lines.push(text.slice(at, at + columns))
  return lines.join('\n')
}
