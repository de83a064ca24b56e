/**
 * Passwords in the form of Apache's htpasswd, bcrypt only, as Docker's registry reads them.
 *
 * bcrypt is slow on purpose, and every request carries the password: what was right once is remembered as an HMAC under
 * a key that never leaves this process, and compared in microseconds from then on.
 */
import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { compare, hash } from 'bcryptjs'
import { KnownError } from '../errors/known-error.ts'
import { secretBytes } from '../host/random.ts'

/** bcrypt's cost for passwords made here: about 50 ms on a server of today. */
const cost = 10
/** Compared with when there is no such user, so that the time of the answer does not tell who has an account. */
const nobody = '$2b$10$CwTycUXWue0Thq9StjUM0uJ8lM1QpS5wS5gT2Q8t3d8o9h0xwqgK2'
const maxRemembered = 1024

/** One line of an htpasswd file. */
export async function htpasswdLine(username: string, password: string): Promise<string> {
  return `${username}:${await hash(password, cost)}\n`
}

export class Htpasswd {
  readonly #path: string
  readonly #key = secretBytes(32)
  readonly #remembered = new Set<string>()
  readonly #checking = new Map<string, Promise<boolean>>()
  #hashes: ReadonlyMap<string, string>
  #readFrom: string

  /** @throws KnownError FILE_UNREADABLE, CONFIG_INVALID */
  constructor(path: string) {
    this.#path = path
    this.#readFrom = version(path)
    this.#hashes = readHashes(path)
  }

  /** True where the password is the user's. A changed file is read again. */
  async accepts(username: string, password: string): Promise<boolean> {
    this.#reload()
    const key = createHmac('sha256', this.#key).update(`${username}\0${password}`).digest('base64')
    if (this.#remembered.has(key)) return true
    const running = this.#checking.get(key) ?? this.#compare(username, password)
    this.#checking.set(key, running)
    try {
      const isRight = await running
      if (isRight) this.#remember(key)
      return isRight
    } finally {
      this.#checking.delete(key)
    }
  }

  async #compare(username: string, password: string): Promise<boolean> {
    const stored = this.#hashes.get(username)
    return (await compare(password, stored ?? nobody)) && stored !== undefined
  }

  #remember(key: string): void {
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear()
    this.#remembered.add(key)
  }

  #reload(): void {
    const current = version(this.#path)
    if (current === this.#readFrom) return
    this.#hashes = readHashes(this.#path)
    this.#readFrom = current
    this.#remembered.clear()
  }
}

/** @throws KnownError FILE_UNREADABLE, and CONFIG_INVALID where others may read the file */
function version(path: string): string {
  try {
    const { mtimeMs, size, ino, mode } = statSync(path)
    if ((mode & 0o077) === 0) return `${mtimeMs} ${size} ${ino}`
    const bits = (mode & 0o777).toString(8)
    throw new KnownError(
      'CONFIG_INVALID',
      `${path} has mode ${bits}: other users of this machine could read or change it`,
      {
        hint: `Run: chmod 600 ${path}`,
      },
    )
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError('FILE_UNREADABLE', `Cannot read the password file ${path}`, { cause: error })
  }
}

function readHashes(path: string): Map<string, string> {
  const hashes = new Map<string, string>()
  for (const [index, line] of readFileSync(path, 'utf8').split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const colon = line.indexOf(':')
    const hashed = line.slice(colon + 1).trim()
    if (colon > 0 && /^\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}$/.test(hashed)) hashes.set(line.slice(0, colon), hashed)
    else
      throw new KnownError('CONFIG_INVALID', `${path}:${index + 1}: not a line of the form USER:BCRYPT-HASH`, {
        hint: `Make it with: htpasswd -nB USER`,
      })
  }
  return hashes
}
