import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { processStat } from './process-stat.ts'
import { isAlive } from './processes.ts'
import { randomId } from './random.ts'

/**
 * Holds `path` for this process until the function that is returned is called.
 *
 * The file names its owner by process id and start time, so that the lock of a process that was killed is taken over,
 * also when its id has been given to another program since.
 *
 * @throws KnownError STORE_LOCKED
 */
export async function acquireLock(path: string): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true })
  const mine = `${path}.${randomId()}`
  try {
    await writeFile(mine, identityOf(process.pid) ?? String(process.pid))
    while (!(await claim(mine, path))) await removeStale(path)
  } finally {
    await rm(mine, { force: true })
  }
  return () => rm(path, { force: true })
}

/** True while the process that holds `path` is there. */
export async function isLocked(path: string): Promise<boolean> {
  const owner = await readOwner(path)
  return owner !== undefined && identityOf(Number.parseInt(owner, 10)) === owner
}

/** A link, because it appears with its content or not at all; FAT, which USB disks have, knows none. */
async function claim(mine: string, path: string): Promise<boolean> {
  try {
    await link(mine, path)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false
    if (hasSystemCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS')) return claimWithoutLink(mine, path)
    throw error
  }
}

/** For a moment the file has no content, in which another process may take it for nobody's. */
async function claimWithoutLink(mine: string, path: string): Promise<boolean> {
  try {
    await writeFile(path, await readFile(mine), { flag: 'wx' })
    return true
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false
    throw error
  }
}

async function removeStale(path: string): Promise<void> {
  const owner = await readOwner(path)
  if (owner === undefined) return
  const pid = Number.parseInt(owner, 10)
  if (identityOf(pid) === owner) {
    throw new KnownError('STORE_LOCKED', `Process ${pid} is at work in ${dirname(path)}`, { details: { pid, path } })
  }
  const aside = `${path}.${randomId()}`
  try {
    await rename(path, aside)
  } catch (error) {
    // Another process was faster: what it left is looked at next.
    if (hasSystemCode(error, 'ENOENT')) return
    throw error
  }
  // Another process may have taken the place of the dead owner between the look and the rename: it gets its lock back.
  if ((await readOwner(aside)) !== owner) await claim(aside, path)
  await rm(aside, { force: true })
}

async function readOwner(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** `PID START`, where START is the process's start time in clock ticks since boot (proc(5), stat field 22). */
function identityOf(pid: number): string | undefined {
  const stat = processStat(pid)
  if (stat === undefined) return isAlive(pid) ? String(pid) : undefined
  // One that has ended, and whose parent does not look: in a container often for ever.
  return stat.isZombie ? undefined : `${pid} ${stat.started}`
}
