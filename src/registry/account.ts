import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretBytes } from '../host/random.ts'
import { privateDirectory, privateFile } from '../store/file-modes.ts'
import { htpasswdLine } from './htpasswd.ts'

/** Where the registry at `root` looks for passwords unless it is told otherwise. */
export function defaultHtpasswd(root: string): string {
  return join(root, 'htpasswd')
}

export interface Account {
  readonly htpasswd: string
  /** The password and a line break, mode 0600: `podman login --password-stdin < FILE`. */
  readonly passwordFile: string
}

/**
 * Makes ROOT/htpasswd with one user and a random password of 160 bits. Where the file exists already, nothing is
 * changed and the answer is undefined.
 */
export async function createAccount(root: string, username: string): Promise<Account | undefined> {
  const htpasswd = defaultHtpasswd(root)
  if (existsSync(htpasswd)) return undefined
  mkdirSync(root, { recursive: true, mode: privateDirectory })
  const password = secretBytes(20).toString('base64url')
  const passwordFile = join(root, `${username}.password`)
  // First the password, then the lock that it opens: a crash in between leaves nobody locked out.
  writeFileSync(passwordFile, `${password}\n`, { mode: privateFile, flush: true })
  writeFileSync(htpasswd, await htpasswdLine(username, password), { mode: privateFile, flag: 'wx', flush: true })
  return { htpasswd, passwordFile }
}
