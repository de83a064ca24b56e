/** What bytes are: text, something compressed, a key. */
import { createPrivateKey } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

/** Of something that is decompressed. */
const maxBytes = 256 * 1024 * 1024

/** What gzip holds; undefined for what is no gzip. */
export function unzipped(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return undefined
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes })
  } catch {
    return undefined
  }
}

/** The text of bytes that are UTF-8 without control characters; undefined for others. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return /(?![\t\n\v\f\r])\p{Cc}/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** True for a private key in DER. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  // A SEQUENCE of ASN.1 that begins with the number of its version; one of a certificate begins with another SEQUENCE.
  const start = (bytes[1] ?? 0) < 0x80 ? 2 : 2 + ((bytes[1] ?? 0) & 0x7f)
  if (bytes[0] !== 0x30 || bytes[start] !== 0x02 || bytes.byteLength < 32) return false
  return (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) => {
    try {
      return createPrivateKey({ key: Buffer.from(bytes), format: 'der', type }) !== undefined
    } catch {
      return false
    }
  })
}

/** The object or list that a text is the JSON of. */
export function parsedJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const document: unknown = JSON.parse(text)
    return typeof document === 'object' && document !== null ? document : undefined
  } catch {
    return undefined
  }
}

/** With the indentation that another text of it had, and its last line end. */
export function jsonLike(document: unknown, text: string): string {
  const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(text)?.[1] ?? ''
  return `${JSON.stringify(document, null, indent)}${/\n$/.test(text) ? '\n' : ''}`
}
