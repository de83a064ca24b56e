import { randomBytes } from 'node:crypto'

/** An identifier that no other process makes: upload sessions, staging files, request ids. */
export function randomId(): string {
  return randomBytes(16).toString('hex')
}
