/**
 * What of a secret is secret by itself. Scripts print a line of a key, or one password of a pull secret, and never all of it.
 */

/** Shorter ones are ordinary words. */
const minPieceBytes = 8
/** Longer secrets are looked for in pieces of this size. */
const maxPieceBytes = 4096

/** `secret` (one character a byte), and its parts: lines, strings of a JSON document, credentials in them. */
export function secretPieces(secret: string): Set<string> {
  const trimmed = secret.trim()
  const pieces = new Set([secret, trimmed].flatMap(bounded))
  const parts = trimmed.includes('\n') ? trimmed.split(/\r?\n/).flatMap(lineParts) : []
  for (const part of [...parts, ...jsonParts(trimmed)]) {
    if (part.length >= minPieceBytes && !isPublic(part)) for (const piece of bounded(part)) pieces.add(piece)
  }
  return pieces
}

function bounded(text: string): string[] {
  if (text.length <= maxPieceBytes) return [text]
  const pieces: string[] = []
  // They overlap, so that base64 of their borders is found, too.
  for (let at = 0; at < text.length - minPieceBytes; at += maxPieceBytes - minPieceBytes) {
    pieces.push(text.slice(at, at + maxPieceBytes))
  }
  return pieces
}

/** The value of `key: value`, or all of a line. */
function lineParts(line: string): string[] {
  const text = line.trim()
  const [, quoted, plain = ''] = /^(?:- )?"?[\w.-]+"?\s*:\s+(?:"(.*)"|(.*?)),?$/.exec(text) ?? []
  const value = quoted ?? plain
  return value.length >= minPieceBytes ? [value] : [text]
}

function isPublic(text: string): boolean {
  return (
    /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/.test(text) ||
    /^"?(?:apiVersion|kind)"?\s*:/.test(text) ||
    /^(?:- )?[\w.-]+:$/.test(text) ||
    /^https?:\/\/[\w.-]+(?::\d+)?(?:\/[\w./-]*)?$/.test(text)
  )
}

/** Strings in a JSON document. Those named "auth" are base64 of user:password (config.json of containers). */
function jsonParts(text: string): string[] {
  if (!/^[[{]/.test(text)) return []
  const parts: string[] = []
  try {
    JSON.parse(Buffer.from(text, 'latin1').toString('utf8'), (key, value: unknown) => {
      if (typeof value !== 'string') return value
      parts.push(Buffer.from(value, 'utf8').toString('latin1'))
      if (key === 'auth')
        parts.push(
          Buffer.from(value, 'base64')
            .toString('latin1')
            .replace(/^[^:]*:/, ''),
        )
      return value
    })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return parts
}
