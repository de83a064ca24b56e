import { createHmac } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { secretBytes } from '../host/random.ts'
import type { Json } from '../journal/events.ts'
import { ifThere } from '../store/presence.ts'
import { writeFlushed } from '../store/staged-write.ts'

/** Finds the value of a secret that the run was given by its user; undefined where it has none of this name. */
export type SecretLookup = (name: string) => Promise<string | undefined>

/** The secrets of a run: those that its user gave, and those that its steps made. Files of mode 0600, never the journal. */
export interface SecretStore {
  /** @throws KnownError SECRET_ABSENT */
  read(name: string): Promise<string>
  keep(name: string, value: string): Promise<void>
  /** All that steps of this run have made so far. */
  made(): Promise<readonly string[]>
  /** The same for the same value within this run, and no help to somebody who guesses it. */
  fingerprint(name: string): Promise<string>
}

export async function openSecretStore(directory: string, lookup: SecretLookup): Promise<SecretStore> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const pathOf = (name: string) => join(directory, encodeURIComponent(name))
  // The journal names them, so they have to outlast what it outlasts.
  const write = (path: string, text: string) => writeFlushed(path, text, 0o600)
  const find = async (name: string) => (await ifThere(readFile(pathOf(name), 'utf8'))) ?? (await lookup(name))
  const keyFile = join(directory, '.key')
  const readKey = async () => {
    const known = await ifThere(readFile(keyFile, 'utf8'))
    if (known !== undefined) return known
    const key = secretBytes(32).toString('hex')
    await write(keyFile, key)
    return key
  }
  return {
    async read(name) {
      const value = await find(name)
      if (value === undefined) {
        throw new KnownError('SECRET_ABSENT', `The secret ${name} is not given`, { details: { secret: name } })
      }
      return value
    },
    keep: (name, value) => write(pathOf(name), value),
    async made() {
      const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !name.endsWith('.new'))
      return Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))
    },
    async fingerprint(name) {
      const value = await find(name).catch(() => undefined)
      if (value === undefined) return 'absent'
      return createHmac('sha256', await readKey())
        .update(value)
        .digest('hex')
    },
  }
}

/** The names of all secrets in `value`, in the order in which they stand there. */
export function secretNamesIn(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(secretNamesIn)
  const record = value as Readonly<Record<string, Json>>
  const { secret } = record
  if (typeof secret === 'string' && Object.keys(record).length === 1) return [secret]
  return Object.values(record).flatMap(secretNamesIn)
}
