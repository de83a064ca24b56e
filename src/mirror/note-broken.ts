import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { acquireLock } from '../host/lock.ts'
import type { Digest } from '../oci/digest.ts'
import { markSuspect } from './done.ts'
import type { Workspace } from './workspace.ts'

/**
 * Notes what is broken at a target, so that the next run looks at each blob of these images.
 *
 * @param broken as for `markSuspect`
 * @returns false where this user, or a mirror at work, does not let us
 */
export async function noteBroken(
  workspace: Workspace,
  target: string,
  broken: ReadonlyMap<string, readonly Digest[]>,
): Promise<boolean> {
  try {
    const release = await acquireLock(join(workspace.state, 'lock'))
    try {
      await markSuspect(workspace, target, broken)
      return true
    } finally {
      await release()
    }
  } catch (error) {
    const isLocked = error instanceof KnownError && error.code === 'STORE_LOCKED'
    if (isLocked || hasSystemCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}
