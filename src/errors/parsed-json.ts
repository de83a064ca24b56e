/**
 * What a text, or its bytes in UTF-8, is as JSON; undefined where it is none, which JSON cannot say.
 *
 * Why it is none is not told: the words of the parser quote what it read, which may be secret.
 */
export function parsedJson(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : utf8.decode(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The same where it is an object, or a list, as one: what has fields. */
export function parsedFields(text: string | Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const value = parsedJson(text)
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

/** A mark of the byte order stays: it is no JSON (RFC 8259, 8.1). */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
