/**
 * Segments of shared memory that squid makes also where it is one process, and leaves behind when it ends (`-n NAME`: they are called by it).
 *
 * By a name of its own a lab gets along with another squid of this machine, and what is left of it is found.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'

const sharedMemory = '/dev/shm'

/** Letters and digits only: squid takes no other. */
export function squidServiceName(lab: string): string {
  return `sallyport${Buffer.from(lab).toString('hex')}`
}

/** Paths of what is there of a lab. */
export async function squidMemory(lab: string): Promise<readonly string[]> {
  try {
    const names = await readdir(sharedMemory)
    return names.filter((name) => name.startsWith(`${squidServiceName(lab)}-`)).map((name) => join(sharedMemory, name))
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'EACCES')) return []
    throw error
  }
}

/** True where there was something. */
export async function removeSquidMemory(lab: string): Promise<boolean> {
  const paths = await squidMemory(lab)
  await Promise.all(paths.map((path) => rm(path, { force: true })))
  return paths.length > 0
}
