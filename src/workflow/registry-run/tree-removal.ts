import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'

/** What stands in the way: owners of a container, a mount, a process that still writes. */
const obstacles = ['EACCES', 'EPERM', 'EBUSY', 'ENOTEMPTY']

/**
 * Removes what a script has left, also directories that it may not write to itself, as caches of Go modules are.
 *
 * @returns what keeps it there, or undefined
 */
export async function removeTree(path: string): Promise<string | undefined> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!hasSystemCode(error, ...obstacles)) throw error
    return removeClosed(path)
  }
}

async function removeClosed(path: string): Promise<string | undefined> {
  try {
    await openDirectories(path)
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!hasSystemCode(error, ...obstacles)) throw error
    return `${path} cannot be removed (${error.code})`
  }
}

async function openDirectories(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(path, entry.name))
  }
}
