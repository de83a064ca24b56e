import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { maxSecretFileBytes, type SecretFile, secretValuesOf } from './secret-values.ts'

const readsAtATime = 16

/** Hides the secrets in directories; a file that is as it was is not read again. */
export class SecretFiles {
  /** By path: size and time of the last change. */
  readonly #known = new Map<string, string>()
  readonly #hide: (value: string) => void

  constructor(hide: (value: string) => void) {
    this.#hide = hide
  }

  async read(directory: string, { isOfCredentials }: { readonly isOfCredentials: boolean }): Promise<void> {
    await mapConcurrently(await filesIn(directory), readsAtATime, async (name) => {
      try {
        await this.#readFile(join(directory, name), { name, isOfCredentials })
      } catch (error) {
        // A script may take a file away just now.
        if (!hasSystemCode(error, 'ENOENT', 'EACCES', 'EISDIR', 'ELOOP')) throw error
      }
    })
  }

  async #readFile(path: string, file: Omit<SecretFile, 'bytes'>): Promise<void> {
    const entry = await stat(path)
    const { size, mtimeMs, ino } = entry
    const stamp = `${ino} ${size} ${mtimeMs}`
    // A link may lead to a pipe or a device, of which reading has no end.
    if (!entry.isFile() || size > maxSecretFileBytes || this.#known.get(path) === stamp) return
    const bytes = await readFile(path)
    this.#known.set(path, stamp)
    for (const value of secretValuesOf({ ...file, bytes })) this.#hide(value)
  }
}

/** Regular files, and links, which the volumes of Kubernetes consist of. */
async function filesIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile() || entry.isSymbolicLink()).map(({ name }) => name)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}
