import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { markSuspect } from './done.ts'
import type { Workspace } from './workspace.ts'
import { withWorkspaceLock } from './workspace-lock.ts'

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
    await withWorkspaceLock(workspace, () => markSuspect(workspace, target, broken))
    return true
  } catch (error) {
    const isLocked = error instanceof KnownError && error.code === 'STORE_LOCKED'
    if (isLocked || hasSystemCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}
