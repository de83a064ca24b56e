/** The field `auth` of a pull secret: base64 of a name and a password. */
import { base64Bytes } from './embedded.ts'
import { textOf } from './opened-bytes.ts'
import { isMarked, type SecretLedger } from './secret-ledger.ts'

/**
 * Still base64 of a name and a password, so that whoever checks that is content.
 *
 * @returns undefined where it is no such field
 */
export function redactedAuth(value: string, ledger: SecretLedger): string | undefined {
  const bytes = base64Bytes(value)
  const credentials = bytes && textOf(bytes)
  if (credentials === undefined || !/^[^\s:]*:/.test(credentials)) return undefined
  const password = credentials.slice(credentials.indexOf(':') + 1)
  if (credentials.startsWith('redacted:') && isMarked(password)) return value
  // Each of the three is as good as the others.
  ledger.markerOf(value)
  ledger.markerOf(credentials)
  return Buffer.from(`redacted:${ledger.markerOf(password)}`).toString('base64')
}
