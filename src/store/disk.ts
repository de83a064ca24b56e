/**
 * The few file operations of the store, each safe against a crash at any moment.
 *
 * Calls that touch only names and inodes are synchronous: they take a few microseconds, where the thread pool takes
 * fifty and more. Everything that moves bytes or waits for the disk is asynchronous.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { privateFile } from './file-modes.ts'
import { removeFile } from './files.ts'
import type { NameLog } from './name-log.ts'

export const flushData: (descriptor: number) => Promise<void> = promisify(fdatasync)

/** Names a full disk; anything else is passed on as it is. */
export function diskError(error: unknown, path: string): unknown {
  if (!hasSystemCode(error, 'ENOSPC', 'EDQUOT')) return error
  return new KnownError('DISK_FULL', `No space left to write ${path}`, { details: { path }, cause: error })
}

/** Runs `action`, and once more after making the directory of `path` where that was what was missing. */
export function withDirectory<Result>(path: string, names: NameLog, action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) throw diskError(error, path)
  }
  try {
    names.makeDirectory(dirname(path))
    return action()
  } catch (error) {
    throw diskError(error, path)
  }
}

/** Writes a new file and waits until its bytes are on the disk. The caller gives it its name by rename or link. */
export async function writeFlushed(path: string, bytes: Uint8Array, names: NameLog): Promise<void> {
  const file = withDirectory(path, names, () => openSync(path, 'wx', privateFile))
  try {
    for (let written = 0; written < bytes.byteLength; ) written += writeSync(file, bytes, written)
    await flushData(file)
  } catch (error) {
    removeFile(path)
    throw diskError(error, path)
  } finally {
    closeSync(file)
  }
}
