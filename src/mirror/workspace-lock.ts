import { join } from 'node:path'
import { acquireLock } from '../host/lock.ts'
import type { Workspace } from './workspace.ts'

/**
 * Keeps other processes out of a workspace while `work` changes it.
 *
 * @throws KnownError STORE_LOCKED, and what `work` throws
 */
export async function withWorkspaceLock<T>({ state }: Workspace, work: () => Promise<T>): Promise<T> {
  const release = await acquireLock(join(state, 'lock'))
  try {
    return await work()
  } finally {
    await release()
  }
}
