/** Secrets of a run on their way: AES-256-GCM with a key that scrypt makes of a passphrase. */
import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto'
import { KnownError } from '../../errors/known-error.ts'
import { secretBytes } from '../../host/random.ts'

type Secrets = Readonly<Record<string, string>>

interface Sealed {
  readonly format: 1
  readonly salt: string
  readonly nonce: string
  readonly tag: string
  readonly content: string
}

/** 32 MiB and some tenths of a second for each guess (RFC 7914, section 2). */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const cipher = 'aes-256-gcm'

export function sealSecrets(secrets: Secrets, passphrase: string): string {
  const salt = secretBytes(16)
  const nonce = secretBytes(12)
  const seal = createCipheriv(cipher, scryptSync(passphrase, salt, 32, cost), nonce)
  const content = Buffer.concat([seal.update(JSON.stringify(secrets), 'utf8'), seal.final()])
  const [salt64, nonce64, tag, content64] = [salt, nonce, seal.getAuthTag(), content].map((each) =>
    each.toString('base64'),
  )
  return `${JSON.stringify({ format: 1, salt: salt64, nonce: nonce64, tag, content: content64 })}\n`
}

/** @throws KnownError RUN_FILE_INVALID where the passphrase is another, or a byte is */
export function openSecrets(sealed: string, passphrase: string): Secrets {
  try {
    const { salt, nonce, tag, content } = JSON.parse(sealed) as Sealed
    const bytes = (text: string) => Buffer.from(text, 'base64')
    const key = scryptSync(passphrase, bytes(salt), 32, cost)
    const open = createDecipheriv(cipher, key, bytes(nonce), { authTagLength: 16 })
    open.setAuthTag(bytes(tag))
    return JSON.parse(Buffer.concat([open.update(bytes(content)), open.final()]).toString('utf8')) as Secrets
  } catch {
    // What the library says would help only somebody who guesses.
    throw new KnownError(
      'RUN_FILE_INVALID',
      'The secrets cannot be opened: this is not the passphrase that they were sealed with',
      {
        hint: 'Ask who exported the run for the passphrase file; without it, import without --passphrase-file, and give the secrets with --secret NAME=FILE.',
      },
    )
  }
}
