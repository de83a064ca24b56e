/** The first line of a private key: PEM (RFC 7468), or the armor of OpenPGP (RFC 9580, 6.2). */
export const privateKeyHead = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/

/** The private keys in a text, each from its first line to its last. */
export function privateKeysIn(text: string): readonly string[] {
  return text.match(whole) ?? []
}

const whole = new RegExp(`${privateKeyHead.source}[\\s\\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`, 'g')
