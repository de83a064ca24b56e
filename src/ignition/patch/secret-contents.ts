/** Whether what a patch replaces was a secret, which then stands in the undo. */
import { secretKind } from '../secret-files.ts'

/** A name and a password in a URL, as of a proxy. */
const userinfo = /[a-z]+:\/\/[^\s/@:]+:[^\s/@]+@/i

export function isSecret(path: string, contents: Uint8Array | undefined): boolean {
  if (contents === undefined || contents.byteLength === 0) return false
  const text = Buffer.from(contents).toString('latin1')
  return secretKind(path, text) !== undefined || userinfo.test(text)
}
