/** Keys for those who have none: Ed25519, which signs in microseconds and whose signatures fit on paper. */
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { loadSigningKey } from './signature.ts'

export interface KeyFiles {
  /** Only for its owner: mode 0600. */
  readonly secret: string
  /** Its public half. */
  readonly open: string
  /** SHA-256 of the public half, as in signatures. */
  readonly key: string
}

/**
 * Writes a new key to `path`, and its public half to the same name with `.pub.pem`. Nothing is overwritten.
 *
 * @param path ends in `.pem`
 * @throws KnownError USAGE where a file has one of these names
 */
export async function writeKeyFiles(path: string): Promise<KeyFiles> {
  const open = path.replace(/(?:\.pem)?$/, '.pub.pem')
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  await writeNew(path, { text: privateKey.export({ type: 'pkcs8', format: 'pem' }), mode: 0o600 })
  await writeNew(open, { text: publicKey.export({ type: 'spki', format: 'pem' }), mode: 0o644 })
  return { secret: path, open, key: (await loadSigningKey(path)).key }
}

async function writeNew(path: string, { text, mode }: { text: string | Buffer; mode: number }): Promise<void> {
  try {
    await writeFile(path, text, { mode, flag: 'wx', flush: true })
  } catch (cause) {
    if (!hasSystemCode(cause, 'EEXIST')) throw cause
    throw new KnownError('USAGE', `${path} is there already, and a key is not overwritten`, {
      details: { file: path },
      hint: 'Name another file, or move the old key away: what it signed can only be verified with its public half.',
      cause,
    })
  }
}
