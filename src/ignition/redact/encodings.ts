/** The forms in which a secret can stand in a text. */

export interface Encoded {
  readonly text: string
  /** True where it is a piece of something longer, whose length must stay: base64 of a text around it. */
  readonly isEmbedded: boolean
}

/** As it is, in base64 at each of three alignments, in hex digits, percent-encoded, and escaped for JSON. */
export function encodingsOf(secret: string): readonly Encoded[] {
  const bytes = Buffer.from(secret, 'utf8')
  const hex = bytes.toString('hex')
  const whole = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), allPercent(hex)]
  const pieces = [...base64Pieces(bytes), hex, hex.toUpperCase()]
  return [
    ...[...new Set(whole)].map((text) => ({ text, isEmbedded: false })),
    ...[...new Set(pieces)].map((text) => ({ text, isEmbedded: true })),
  ]
}

function allPercent(hex: string): string {
  return hex.replace(/../g, '%$&')
}

/** What of the secret's base64 does not depend on what stands before and behind it. */
function base64Pieces(bytes: Uint8Array): readonly string[] {
  const pieces: string[] = []
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = [0, 2, 3][before] ?? 0
    const end = (before + bytes.byteLength) % 3 === 0 ? 0 : 1
    const piece = encoded.slice(start, encoded.length - end)
    pieces.push(piece, piece.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return pieces
}
