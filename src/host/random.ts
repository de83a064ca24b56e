import { randomBytes, randomUUID } from 'node:crypto'

/** An identifier that no other process makes: upload sessions, staging files, request ids. */
export function randomId(): string {
  return randomBytes(16).toString('hex')
}

/** An identifier in the form of RFC 9562, where a protocol asks for one. */
export function randomUuid(): string {
  return randomUUID()
}

/** Bytes that nobody can guess: passwords and keys. */
export function secretBytes(count: number): Buffer {
  return randomBytes(count)
}

/** A number in [0, 1), for the jitter of waits. Not for secrets. */
export function randomFraction(): number {
  return Math.random()
}
